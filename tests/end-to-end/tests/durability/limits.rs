//! Rate limits: the page waits as long as `Retry-After` says.

use crate::studio::{Studio, TIMEOUT, run_until_settled};
use crate::tabs::run_before_each_page;
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::{Fault, RetryAfter, Rule};
use atelier_end_to_end::find::by;
use atelier_end_to_end::ledger::{early, is_generate};
use std::time::Duration;

fn refusal(status: u16, retry_after: RetryAfter) -> Fault {
    Fault::Status {
        status,
        retry_after: Some(retry_after),
    }
}

/// Lets `wait` pass, and checks that no call was made before the time in `Retry-After` and that there is no "Try now" button.
async fn check_no_early_call(studio: &Studio<'_>, wait: Duration) -> Result<()> {
    studio
        .browser
        .wait_for_text("Rate-limited, next try in ", TIMEOUT)
        .await?;
    assert!(
        studio
            .browser
            .find_all(&by("button", "Try now"))
            .await?
            .is_empty()
    );
    studio
        .proxy
        .advance_clock_by_seconds(studio.browser, wait)
        .await?;
    studio.show_tasks().await?;
    studio.wait_until_settled().await?;
    let calls = studio.proxy.calls();
    assert!(calls.iter().any(|call| call.not_before.is_some()));
    let is_marked = calls
        .iter()
        .filter(|call| call.is_api_call())
        .all(|call| call.mark.is_some());
    assert!(
        is_marked,
        "a call does not list the refusals that its page received"
    );
    let early = early(&calls, |_| true);
    assert!(early.is_empty(), "before Retry-After: {early:#?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_generate_is_retried_after_retry_after() {
    let name = "a_refused_generate_is_retried_after_retry_after";
    run_until_settled(name, &["--speed", "0.2"], async |studio| {
        studio.proxy.control_clock(studio.browser).await?;
        for (prompt, status) in [("too many", 429), ("unavailable", 503)] {
            let form = studio.open_model().await?;
            let refusal = refusal(status, RetryAfter::Seconds(10));
            studio.proxy.add(Rule::next(1, "/v2/generate", refusal));
            studio.generate(&form, prompt).await?;
            check_no_early_call(studio, Duration::from_secs(10)).await?;
            studio.wait_for_states(&[(prompt, "Completed")]).await?;
            assert_eq!(studio.times_sent(prompt), 2);
        }
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_status_stops_all_calls_until_retry_after() {
    let name = "a_refused_status_stops_all_calls_until_retry_after";
    run_until_settled(name, &["--speed", "1"], async |studio| {
        studio.proxy.control_clock(studio.browser).await?;
        for (prompt, after) in [
            ("in seconds", RetryAfter::Seconds(10)),
            ("by date", RetryAfter::Date(10)),
        ] {
            let form = studio.open_model().await?;
            studio
                .proxy
                .add(Rule::next(1, "/v2/status*", refusal(429, after)));
            studio.generate(&form, prompt).await?;
            check_no_early_call(studio, Duration::from_secs(10)).await?;
            studio.wait_for_states(&[(prompt, "Completed")]).await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against a `Retry-After` that is forgotten when the page is reloaded.
#[tokio::test(flavor = "multi_thread")]
async fn a_reload_does_not_shorten_the_wait() {
    let name = "a_reload_does_not_shorten_the_wait";
    run_until_settled(name, &["--speed", "0.2"], async |studio| {
        studio.proxy.control_clock(studio.browser).await?;
        let form = studio.open_model().await?;
        let refusal = refusal(429, RetryAfter::Seconds(20));
        studio.proxy.add(Rule::next(1, "/v2/generate", refusal));
        studio.generate(&form, "patient").await?;
        studio
            .browser
            .wait_for_text("Rate-limited, next try in ", TIMEOUT)
            .await?;
        studio.open_model().await?;
        check_no_early_call(studio, Duration::from_secs(20)).await?;
        let calls = studio.proxy.calls();
        assert_eq!(calls.iter().filter(|call| is_generate(call)).count(), 2);
        Ok(())
    })
    .await;
}

/// Guards against a `Retry-After` that is forgotten because the page was left before it was stored: slow storage writes
/// nothing after that.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_left_at_once_does_not_shorten_the_wait() {
    let name = "a_page_left_at_once_does_not_shorten_the_wait";
    run_until_settled(name, &["--speed", "2"], async |studio| {
        studio.proxy.hide_events();
        // The first line prevents the browser's question before leaving.
        let script = "
            window.addEventListener('beforeunload', event => event.stopImmediatePropagation());
            const originalFetch = window.fetch;
            window.fetch = async (...call) => {
                const reply = await originalFetch.apply(window, call);
                if (reply.status === 429) {
                    window.isRefused = true;
                    // Reload as soon as the page has read the reply.
                    reply.clone().arrayBuffer().then(() => setTimeout(() => location.reload()));
                }
                return reply;
            };
            const put = IDBObjectStore.prototype.put;
            IDBObjectStore.prototype.put = function (...record) {
                const request = put.apply(this, record);
                if (window.isRefused) this.transaction.abort();
                return request;
            };";
        run_before_each_page(studio, script).await?;
        let form = studio.open_model().await?;
        let refusal = refusal(429, RetryAfter::Seconds(20));
        studio.generate(&form, "left at once").await?;
        studio.wait_for_accepted(1).await?;
        studio.proxy.add(Rule::next(1, "/v2/status*", refusal));
        studio
            .sees("a refusal", |calls| {
                calls.iter().any(|call| call.not_before.is_some())
            })
            .await?;
        studio
            .sees("the next poll", |calls| {
                calls
                    .iter()
                    .rfind(|call| call.is_api_call())
                    .is_some_and(|call| call.not_before.is_none())
            })
            .await?;
        // The ledger can't check this, since the page was left before it could report the refusal.
        let calls = studio.proxy.calls();
        let refusal = calls.iter().find(|call| call.not_before.is_some());
        let refusal = refusal.ok_or("no call was refused")?;
        let mut later = calls
            .iter()
            .filter(|call| call.is_api_call() && call.number > refusal.number);
        let next = later.next().ok_or("no call followed")?;
        assert!(
            Some(next.at) >= refusal.not_before,
            "before Retry-After: {next:?} after {refusal:?}"
        );
        Ok(())
    })
    .await;
}

/// Submits more tasks than the rate limit of the service allows. They are slower, but none is lost.
#[tokio::test(flavor = "multi_thread")]
async fn the_rate_limit_of_the_service_delays_tasks_without_losing_any() {
    let name = "the_rate_limit_of_the_service_delays_tasks_without_losing_any";
    let service = ["--speed", "0.2", "--rate", "1/s"];
    run_until_settled(name, &service, async |studio| {
        let form = studio.open_model().await?;
        for n in 1..=4 {
            studio.generate(&form, &format!("hurried {n}")).await?;
        }
        Ok(())
    })
    .await;
}
