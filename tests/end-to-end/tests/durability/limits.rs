//! The service says when to come back.

use crate::studio::{Studio, TIMEOUT, play};
use crate::tabs::run_first;
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

/// No call leaves before the time that the refusal named, `wait` after it, and no button offers to try.
async fn none_is_early(studio: &Studio<'_>, wait: Duration) -> Result<()> {
    studio
        .browser
        .see_text("Rate-limited, next try in ", TIMEOUT)
        .await?;
    assert!(
        studio
            .browser
            .find_all(&by("button", "Try now"))
            .await?
            .is_empty()
    );
    studio.proxy.let_pass(studio.browser, wait).await?;
    studio.show_tasks().await?;
    studio.settled().await?;
    let calls = studio.proxy.calls();
    assert!(calls.iter().any(|call| call.not_before.is_some()));
    let is_marked = calls
        .iter()
        .filter(|call| call.is_v2())
        .all(|call| call.mark.is_some());
    assert!(is_marked, "a page does not list what it has received");
    let early = early(&calls, |_| true);
    assert!(early.is_empty(), "before Retry-After: {early:#?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_generate_is_sent_again_and_not_before_its_time() {
    let name = "a_refused_generate";
    play(name, &["--speed", "0.2"], async |studio| {
        studio.proxy.control_clock(studio.browser).await?;
        for (prompt, status) in [("too many", 429), ("unavailable", 503)] {
            let form = studio.open_model().await?;
            let refusal = refusal(status, RetryAfter::Seconds(10));
            studio.proxy.add(Rule::next(1, "/v2/generate", refusal));
            studio.generate(&form, prompt).await?;
            none_is_early(studio, Duration::from_secs(10)).await?;
            studio.see(&[(prompt, "Completed")]).await?;
            assert_eq!(studio.sent(prompt), 2);
        }
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_status_stops_all_calls_until_its_time() {
    let name = "a_refused_status";
    play(name, &["--speed", "1"], async |studio| {
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
            none_is_early(studio, Duration::from_secs(10)).await?;
            studio.see(&[(prompt, "Completed")]).await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against a wait that is forgotten with the page to which it was told.
#[tokio::test(flavor = "multi_thread")]
async fn a_reload_does_not_shorten_the_wait() {
    let name = "a_reload_does_not_shorten_the_wait";
    play(name, &["--speed", "0.2"], async |studio| {
        studio.proxy.control_clock(studio.browser).await?;
        let form = studio.open_model().await?;
        let refusal = refusal(429, RetryAfter::Seconds(20));
        studio.proxy.add(Rule::next(1, "/v2/generate", refusal));
        studio.generate(&form, "patient").await?;
        studio
            .browser
            .see_text("Rate-limited, next try in ", TIMEOUT)
            .await?;
        studio.open_model().await?;
        none_is_early(studio, Duration::from_secs(20)).await?;
        let calls = studio.proxy.calls();
        assert_eq!(calls.iter().filter(|call| is_generate(call)).count(), 2);
        Ok(())
    })
    .await;
}

/// Guards against a wait that is forgotten because the page was left before a record of it was
/// written: storage that is slow writes nothing any more.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_left_at_once_does_not_shorten_the_wait() {
    let name = "a_page_left_at_once";
    play(name, &["--speed", "2"], async |studio| {
        // Asked whether to leave, the person says yes.
        let script = "
            window.addEventListener('beforeunload', event => event.stopImmediatePropagation());
            const ask = window.fetch;
            window.fetch = async (...call) => {
                const reply = await ask.apply(window, call);
                if (reply.status === 429) {
                    window.isTold = true;
                    // As soon as the page has read it.
                    reply.clone().arrayBuffer().then(() => setTimeout(() => location.reload()));
                }
                return reply;
            };
            const put = IDBObjectStore.prototype.put;
            IDBObjectStore.prototype.put = function (...record) {
                const request = put.apply(this, record);
                if (window.isTold) this.transaction.abort();
                return request;
            };";
        run_first(studio, script).await?;
        let form = studio.open_model().await?;
        let refusal = refusal(429, RetryAfter::Seconds(20));
        studio.generate(&form, "left at once").await?;
        studio.accepted(1).await?;
        studio.proxy.add(Rule::next(1, "/v2/status*", refusal));
        studio
            .sees("the page to be told", |calls| {
                calls.iter().any(|call| call.not_before.is_some())
            })
            .await?;
        studio
            .sees("the next poll", |calls| {
                calls
                    .iter()
                    .rfind(|call| call.is_v2())
                    .is_some_and(|call| call.not_before.is_none())
            })
            .await?;
        // Not by the ledger, which can't know that this page was told before it was left.
        let calls = studio.proxy.calls();
        let told = calls.iter().find(|call| call.not_before.is_some());
        let told = told.ok_or("it was not told")?;
        let mut later = calls
            .iter()
            .filter(|call| call.is_v2() && call.number > told.number);
        let next = later.next().ok_or("no call came")?;
        assert!(
            Some(next.at) >= told.not_before,
            "before Retry-After: {next:?} after {told:?}"
        );
        Ok(())
    })
    .await;
}

/// The service's own limit, met by more tasks than it allows: slower, and nothing lost.
#[tokio::test(flavor = "multi_thread")]
async fn the_services_own_limit_only_slows_down() {
    let name = "the_services_own_limit";
    let service = ["--speed", "0.2", "--rate", "1/s"];
    play(name, &service, async |studio| {
        let form = studio.open_model().await?;
        for n in 1..=4 {
            studio.generate(&form, &format!("hurried {n}")).await?;
        }
        Ok(())
    })
    .await;
}
