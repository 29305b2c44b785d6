//! Tests of queued tasks when a gateway answers, when only a part of the service answers, or when only another tab
//! knows about the outage.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::received_refusals;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::studio::{MODEL, Studio, TIMEOUT};
use atelier_end_to_end::wait::{Seen, until};
use std::time::Duration;

use crate::{generate, sign_in, wait_until_cached, wait_until_sent_once, wait_until_text_gone};

/// Signs in, takes the service down, and opens a model's page from the cache.
async fn open_during_outage(browser: &Browser) -> Result<Studio<'_>> {
    let studio = sign_in(browser, true).await?;
    wait_until_cached(browser).await?;
    studio.proxy.take_down("/api/*");
    studio.proxy.take_down("/v2/*");
    studio.open(MODEL).await?;
    browser.wait_for_text("This form is from", TIMEOUT).await?;
    Ok(studio)
}

/// Advances the clock, and waits until the page has requested the model list again.
pub async fn advance_past_probe(studio: &Studio<'_>, by: Duration) -> Result<()> {
    let probes = || studio.proxy.calls_to("/api/models").len();
    let before = probes();
    studio.proxy.advance_clock(studio.browser, by).await?;
    until("the page to request the list again", TIMEOUT, async || {
        Ok(match probes() > before {
            true => Seen::Yes(()),
            false => Seen::NotYet("no request".into()),
        })
    })
    .await
}

/// Guards against a task that waits forever when only the model list is unavailable, and no running task polls the
/// service.
#[tokio::test(flavor = "multi_thread")]
async fn queued_task_is_sent_if_only_model_list_is_unavailable() {
    let name = "queued_task_is_sent_if_only_model_list_is_unavailable";
    drive(name, async |browser| {
        let mut studio = sign_in(browser, true).await?;
        studio.proxy.add(Rule::every("/api/models", Fault::Down));
        studio.open(MODEL).await?;
        generate(browser, "no list").await?;
        browser
            .find_with_limit(&by("button", "Run again"), TIMEOUT)
            .await?;
        wait_until_sent_once(&studio, &["no list"]).await?;
        studio.service.stop().await?;
        assert_eq!(
            studio.service.accepted_tasks()?,
            [("no list".to_owned(), 1)].into()
        );
        Ok(())
    })
    .await;
}

/// Guards against a task that waits for a slow model list although the service would accept the task.
#[tokio::test(flavor = "multi_thread")]
async fn queued_task_is_sent_if_only_model_list_is_slow() {
    let name = "queued_task_is_sent_if_only_model_list_is_slow";
    drive(name, async |browser| {
        let studio = sign_in(browser, true).await?;
        let gateway = Fault::Status {
            status: 504,
            retry_after: None,
        };
        studio.proxy.add(Rule::next(1, "/api/models", gateway));
        studio.proxy.add(Rule::every("/api/models", Fault::Hold));
        studio.open(MODEL).await?;
        browser.find(&starting("textbox", "prompt")).await?;
        browser.stop_clock().await?;
        generate(browser, "slow list").await?;
        // Half of the time limit for the list.
        let time = Duration::from_secs(15);
        studio.proxy.advance_clock(browser, time).await?;
        wait_until_sent_once(&studio, &["slow list"]).await?;
        studio.proxy.clear();
        Ok(())
    })
    .await;
}

/// Guards against a double-click notice that says "Sent" while the task is still queued in the browser.
#[tokio::test(flavor = "multi_thread")]
async fn double_click_notice_says_waiting_during_outage() {
    let name = "double_click_notice_says_waiting_during_outage";
    drive(name, async |browser| {
        let studio = open_during_outage(browser).await?;
        generate(browser, "pressed twice").await?;
        let again = "document.querySelector('form .primary').click()";
        browser.run(again, vec![]).await?;
        let notice = "Waiting to be sent once. Press again for another one.";
        browser.wait_for_text(notice, TIMEOUT).await?;
        studio.proxy.bring_up("/api/*");
        studio.proxy.bring_up("/v2/*");
        wait_until_sent_once(&studio, &["pressed twice"]).await
    })
    .await;
}

/// Guards against a task that waits in the leader tab, which probes less and less often, although another tab has
/// reached the service.
#[tokio::test(flavor = "multi_thread")]
async fn new_tab_reports_end_of_outage_to_leader_tab() {
    let name = "new_tab_reports_end_of_outage_to_leader_tab";
    drive(name, async |browser| {
        let studio = open_during_outage(browser).await?;
        generate(browser, "from the first tab").await?;
        browser
            .wait_for_text("Waiting tasks are sent as soon as it answers", TIMEOUT)
            .await?;
        // The first tab probes after 5 s, 15 s, 35 s and 75 s. The clock stops before the last probe.
        advance_past_probe(&studio, Duration::from_secs(37)).await?;
        browser.stop_clock().await?;
        browser.open_tab("about:blank").await?;
        received_refusals::report(browser, &studio.proxy).await?;
        studio.proxy.bring_up("/api/*");
        studio.proxy.bring_up("/v2/*");
        studio.open(MODEL).await?;
        wait_until_sent_once(&studio, &["from the first tab"]).await?;
        wait_until_text_gone(browser, "The service can't be reached").await
    })
    .await;
}

/// Guards against a queued guest task that shows the limit of pending requests instead of the outage after a reload.
#[tokio::test(flavor = "multi_thread")]
async fn queued_guest_task_shows_outage_after_reload() {
    let name = "queued_guest_task_shows_outage_after_reload";
    drive(name, async |browser| {
        let mut studio = Studio::new(browser, &["--speed", "0"], false).await?;
        studio.open(MODEL).await?;
        browser.find(&starting("textbox", "prompt")).await?;
        wait_until_cached(browser).await?;
        studio.proxy.take_down("/api/*");
        studio.proxy.take_down("/v2/*");
        generate(browser, "the first").await?;
        browser.wait_for_text("Unconfirmed", TIMEOUT).await?;
        generate(browser, "the second").await?;
        studio.open(MODEL).await?;
        for line in [
            "The service can't be reached. Waiting tasks are sent as soon as it answers.",
            "Nothing has left this browser.",
        ] {
            browser.wait_for_text(line, TIMEOUT).await?;
        }
        studio.proxy.bring_up("/api/*");
        studio.proxy.bring_up("/v2/*");
        browser
            .find_with_limit(&by("button", "Run again"), TIMEOUT)
            .await?;
        wait_until_text_gone(browser, "The service can't be reached").await?;
        studio.service.stop().await?;
        let accepted = studio.service.accepted_tasks()?;
        assert_eq!(accepted, [("the second".to_owned(), 1)].into());
        Ok(())
    })
    .await;
}

/// Guards against a task that is sent to a captive portal and becomes Unconfirmed, and against a cached form that is
/// not shown meanwhile or afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn html_page_instead_of_service_counts_as_outage() {
    let name = "html_page_instead_of_service_counts_as_outage";
    drive(name, async |browser| {
        let mut studio = sign_in(browser, true).await?;
        wait_until_cached(browser).await?;
        for path in ["/api/*", "/v2/*"] {
            studio.proxy.add(Rule::every(path, Fault::NotJson));
        }
        studio.open(MODEL).await?;
        browser.wait_for_text("This form is from", TIMEOUT).await?;
        generate(browser, "in a café").await?;
        browser
            .wait_for_text("Waiting tasks are sent as soon as it answers", TIMEOUT)
            .await?;
        // Longer than the page waits to learn whether the service supports keys.
        advance_past_probe(&studio, Duration::from_secs(7)).await?;
        assert_eq!(studio.sent_prompts(), [""; 0]);
        studio.proxy.clear();
        browser
            .find_with_limit(&by("button", "Run again"), TIMEOUT)
            .await?;
        wait_until_text_gone(browser, "This form is from").await?;
        studio.service.stop().await?;
        let accepted = studio.service.accepted_tasks()?;
        assert_eq!(accepted, [("in a café".to_owned(), 1)].into());
        Ok(())
    })
    .await;
}
