//! Canceling tasks at the service. The request is never lost, a task that finishes first keeps its outputs, and a service
//! that can't cancel is not asked.

use crate::studio::{Studio, TIMEOUT, run_until_settled};
use crate::tabs::calls_of_tab;
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::wait_for_value;
use std::time::Duration;

const CANCEL: &str = "/v2/cancel";

/// Tasks that run for minutes.
const SLOW: [&str; 2] = ["--speed", "100"];

/// Submits a task that need not complete, and waits until the service has accepted it.
async fn start(studio: &mut Studio<'_>, prompt: &str) -> Result<()> {
    let form = studio.open_model().await?;
    let accepted = |studio: &Studio<'_>| -> usize {
        let calls = studio.proxy.calls();
        calls.iter().map(|call| call.accepted.len()).sum()
    };
    let before = accepted(studio);
    studio.generate(&form, prompt).await?;
    studio.ledger.exempt_prompts.insert(prompt.to_owned());
    studio.wait_for_accepted(before + 1).await
}

/// Opens the page of a task without a reload.
async fn show_task(studio: &Studio<'_>, prompt: &str) -> Result<()> {
    studio.show_tasks().await?;
    studio.browser.press(&by("link", prompt)).await?;
    studio.browser.find(&by("heading", "Task")).await?;
    Ok(())
}

async fn press_cancel(studio: &Studio<'_>) -> Result<()> {
    studio.browser.press(&by("button", "Cancel")).await
}

/// Guards against a Cancel that becomes Remove and keeps the focus: a second Enter removed the task.
#[tokio::test(flavor = "multi_thread")]
async fn the_focus_is_on_the_task_after_cancel() {
    let name = "the_focus_is_on_the_task_after_cancel";
    run_until_settled(name, &SLOW, async |studio| {
        let browser = studio.browser;
        start(studio, "focus").await?;
        show_task(studio, "focus").await?;
        let cancel = browser.find(&by("button", "Cancel")).await?;
        cancel.send_keys("\u{e007}").await?;
        browser.find(&by("button", "Remove")).await?;
        let focused = "return document.activeElement.tagName";
        wait_for_value(browser, "the focus", focused, "ARTICLE").await?;
        studio.show_tasks().await?;
        studio.wait_for_states(&[("focus", "Canceled")]).await
    })
    .await;
}

/// Guards against a canceled task that continues at the service, or that looks like a failure.
#[tokio::test(flavor = "multi_thread")]
async fn running_and_waiting_tasks_are_canceled() {
    let name = "running_and_waiting_tasks_are_canceled";
    let service = [&SLOW[..], &["--workers", "1"]].concat();
    run_until_settled(name, &service, async |studio| {
        let browser = studio.browser;
        start(studio, "running").await?;
        start(studio, "waiting").await?;
        for prompt in ["waiting", "running"] {
            show_task(studio, prompt).await?;
            press_cancel(studio).await?;
            browser
                .wait_for_text("The task was canceled before it was completed.", TIMEOUT)
                .await?;
            browser.find(&by("button", "Retry")).await?;
        }
        studio.show_tasks().await?;
        let canceled = [("running", "Canceled"), ("waiting", "Canceled")];
        studio.wait_for_states(&canceled).await?;
        assert_eq!(studio.proxy.calls_to(CANCEL).len(), 2);
        // Neither is among the failed ones.
        studio.open("/tasks?state=failed").await?;
        browser.find(&by("heading", "Tasks")).await?;
        browser.wait_until_gone(&by("link", "running")).await?;
        studio.open("/tasks?state=canceled").await?;
        studio.wait_for_states(&canceled).await
    })
    .await;
}

/// Guards against a request to cancel that is lost while the browser is offline, or by a reload.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_made_offline_survives_a_reload() {
    let name = "a_request_made_offline_survives_a_reload";
    run_until_settled(name, &SLOW, async |studio| {
        let browser = studio.browser;
        start(studio, "offline").await?;
        show_task(studio, "offline").await?;
        browser.set_offline(true).await?;
        browser.wait_for_text("You are offline", TIMEOUT).await?;
        press_cancel(studio).await?;
        browser.wait_for_text("Canceling…", TIMEOUT).await?;
        assert_eq!(studio.proxy.calls_to(CANCEL).len(), 0);
        // The files of the page load, but the service can't be reached.
        studio.proxy.take_down("/v2/*");
        browser.set_offline(false).await?;
        studio.open_tasks().await?;
        studio.wait_for_states(&[("offline", "Canceling…")]).await?;
        studio.proxy.bring_up("/v2/*");
        studio.wait_for_states(&[("offline", "Canceled")]).await
    })
    .await;
}

/// Guards against a following tab whose request does not reach the tab that makes the calls.
#[tokio::test(flavor = "multi_thread")]
async fn a_following_tab_cancels_a_task_and_both_tabs_show_it() {
    let name = "a_following_tab_cancels_a_task_and_both_tabs_show_it";
    run_until_settled(name, &SLOW, async |studio| {
        let browser = studio.browser;
        let leader = browser.client.window().await?;
        start(studio, "shared").await?;
        studio.show_tasks().await?;
        studio.open_model_tab().await?;
        browser.set_size(1280, 4000).await?;
        show_task(studio, "shared").await?;
        press_cancel(studio).await?;
        browser
            .wait_for_text("The task was canceled before it was completed.", TIMEOUT)
            .await?;
        assert_eq!(calls_of_tab(studio).await?, 0, "the follower made calls");
        browser.switch_to(&leader).await?;
        studio.wait_for_states(&[("shared", "Canceled")]).await?;
        assert_eq!(studio.proxy.calls_to(CANCEL).len(), 1);
        Ok(())
    })
    .await;
}

/// Guards against a call that a service without this extension does not know.
#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_does_not_announce_cancel_is_not_asked() {
    let name = "a_service_that_does_not_announce_cancel_is_not_asked";
    run_until_settled(name, &SLOW, async |studio| {
        let browser = studio.browser;
        let field = "cancel".to_owned();
        let hide = Fault::HideField { field };
        studio.proxy.add(Rule::every("/api/models", hide));
        start(studio, "hidden").await?;
        show_task(studio, "hidden").await?;
        let hide = by("button", "Hide (keeps running)");
        browser.find(&hide).await?;
        browser.wait_until_gone(&by("button", "Cancel")).await?;
        browser.press(&hide).await?;
        browser.find(&by("button", "Follow again")).await?;
        assert_eq!(studio.proxy.calls_to(CANCEL).len(), 0);
        Ok(())
    })
    .await;
}

/// Guards against a refusal that is not shown or that ends the task, and against a request that can't be repeated.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_request_is_shown_and_can_be_repeated() {
    let name = "a_refused_request_is_shown_and_can_be_repeated";
    run_until_settled(name, &SLOW, async |studio| {
        let browser = studio.browser;
        start(studio, "refused").await?;
        for status in [404, 405, 501] {
            // Another press on the same page would count as the second click of a double click.
            show_task(studio, "refused").await?;
            let error = Fault::Status {
                status,
                retry_after: None,
            };
            studio.proxy.add(Rule::next(1, CANCEL, error));
            let before = studio.proxy.calls_to(CANCEL).len();
            press_cancel(studio).await?;
            studio
                .sees("the request", |calls| {
                    let requests = calls.iter().filter(|call| call.path == CANCEL);
                    requests.count() > before
                })
                .await?;
            browser.wait_for_text("Not canceled. ", TIMEOUT).await?;
            browser
                .wait_for_text("The task continues.", TIMEOUT)
                .await?;
        }
        show_task(studio, "refused").await?;
        press_cancel(studio).await?;
        studio.show_tasks().await?;
        studio.wait_for_states(&[("refused", "Canceled")]).await
    })
    .await;
}

/// Guards against a paid output that is discarded, because the task finishes before the service receives the request.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_finishes_first_is_completed() {
    let name = "a_task_that_finishes_first_is_completed";
    run_until_settled(name, &["--speed", "2"], async |studio| {
        studio.proxy.add(Rule::every(
            CANCEL,
            Fault::Status {
                status: 503,
                retry_after: None,
            },
        ));
        start(studio, "finished").await?;
        studio.ledger.exempt_prompts.remove("finished");
        press_cancel(studio).await?;
        studio.show_tasks().await?;
        studio.wait_for_states(&[("finished", "Completed")]).await
    })
    .await;
}

/// Guards against a canceled task that can't be run again: its idempotency key belongs to the canceled one.
#[tokio::test(flavor = "multi_thread")]
async fn a_canceled_task_can_be_retried() {
    let name = "a_canceled_task_can_be_retried";
    run_until_settled(name, &["--speed", "10"], async |studio| {
        let browser = studio.browser;
        start(studio, "again").await?;
        press_cancel(studio).await?;
        browser.press(&by("button", "Retry")).await?;
        studio.ledger.ask("again");
        studio.wait_for_accepted(2).await?;
        studio.show_tasks().await?;
        studio.wait_for_states(&[("again", "Processing")]).await?;
        browser.press(&by("link", "again")).await?;
        press_cancel(studio).await?;
        browser
            .find_with_limit(&by("button", "Retry"), Duration::from_secs(60))
            .await?;
        Ok(())
    })
    .await;
}
