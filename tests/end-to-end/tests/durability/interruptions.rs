//! Interruptions: a closed page, a stopped service, a lost network connection.

use crate::studio::{Studio, TIMEOUT, run_until_settled, run_without_keys_until_settled};
use atelier_end_to_end::fault::{Call, Fault, Rule};
use atelier_end_to_end::find::by;
use std::time::Duration;

/// Longer than any step of these tests.
const LONG: Duration = Duration::from_secs(60);

fn last_status(calls: &[Call]) -> Option<&Call> {
    calls
        .iter()
        .rfind(|call| call.path.starts_with("/v2/status"))
}

/// Guards against losing a task because its request is sent without a record. Also guards against paying for a task
/// twice because its response is missing and the request is repeated without asking the user.
#[tokio::test(flavor = "multi_thread")]
async fn closing_the_page_before_the_response_leaves_only_that_task_unconfirmed() {
    let name = "closing_the_page_before_the_response_leaves_only_that_task_unconfirmed";
    run_without_keys_until_settled(name, &["--speed", "2"], async |studio| {
        studio.proxy.hide_events();
        let form = studio.open_model().await?;
        studio.generate(&form, "known before").await?;
        // A poll shows that the page has received the id of the task, so that the page is not closed too early.
        studio
            .sees("a status", |calls| {
                calls.iter().any(|call| call.path.starts_with("/v2/status"))
            })
            .await?;
        for prompt in ["to resubmit", "to dismiss"] {
            let form = studio.open_model().await?;
            let wait = Fault::Delay { time: LONG };
            studio
                .proxy
                .add(Rule::next(1, "/v2/generate", wait.clone()));
            studio.press_generate(&form, prompt).await?;
            studio
                .sees("the request", |calls| {
                    calls.iter().any(|call| call.prompts == [prompt])
                })
                .await?;
            let browser = studio.browser;
            let closed = browser.client.window().await?;
            let other = browser.open_tab("about:blank").await?;
            browser.switch_to(&closed).await?;
            browser.close_tab().await?;
            browser.switch_to(&other).await?;
            browser.set_size(1280, 4000).await?;
            studio.open_tasks().await?;
            studio.wait_for_states(&[(prompt, "Unconfirmed")]).await?;
        }
        let states = studio.states().await?;
        let unconfirmed = states.values().filter(|state| *state == "Unconfirmed");
        assert_eq!(unconfirmed.count(), 2, "{states:?}");
        // Opening the page again also sends nothing.
        studio.open_tasks().await?;
        studio
            .wait_for_states(&[("known before", "Completed")])
            .await?;
        assert_eq!(studio.times_sent("to resubmit"), 1);
        assert_eq!(studio.times_sent("to dismiss"), 1);

        studio.resubmit("to resubmit").await?;
        studio.browser.stop_clock().await?;
        studio.dismiss("to dismiss").await?;
        // Guards against permanently removing, with one press, a task that may have been paid for.
        studio.browser.press(&by("button", "Undo")).await?;
        studio.browser.start_clock().await?;
        studio
            .wait_for_states(&[("to dismiss", "Unconfirmed")])
            .await?;
        studio.dismiss("to dismiss").await?;
        studio
            .wait_for_states(&[("to resubmit", "Completed")])
            .await?;
        assert_eq!(studio.times_sent("to resubmit"), 2);
        assert_eq!(studio.times_sent("to dismiss"), 1);
        Ok(())
    })
    .await;
}

/// Guards against reporting a network failure that did not happen: when the user leaves a page, the browser aborts its
/// requests while its scripts still run.
#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_task_says_after_a_reload_that_the_page_was_closed() {
    let name = "an_interrupted_task_says_after_a_reload_that_the_page_was_closed";
    run_without_keys_until_settled(name, &["--speed", "2"], async |studio| {
        let form = studio.open_model().await?;
        let wait = Fault::Delay { time: LONG };
        studio.proxy.add(Rule::next(1, "/v2/generate", wait));
        studio.press_generate(&form, "in the air").await?;
        studio
            .sees("the request", |calls| {
                calls.iter().any(|call| call.prompts == ["in the air"])
            })
            .await?;
        studio.browser.reload().await?;
        let reason = "The page was closed before the answer came";
        studio.browser.wait_for_text(reason, TIMEOUT).await?;
        studio.open_tasks().await?;
        studio.dismiss("in the air").await
    })
    .await;
}

/// Guards against a task that is abandoned or resubmitted because the service was unavailable for a moment.
#[tokio::test(flavor = "multi_thread")]
async fn tasks_complete_after_the_service_restarts() {
    let name = "tasks_complete_after_the_service_restarts";
    run_until_settled(name, &["--speed", "3"], async |studio| {
        let form = studio.open_model().await?;
        studio.generate(&form, "first").await?;
        studio.generate(&form, "second").await?;
        studio.wait_for_accepted(2).await?;
        studio.show_tasks().await?;
        studio.service.restart().await?;
        studio
            .wait_for_states(&[("first", "Completed"), ("second", "Completed")])
            .await
    })
    .await;
}

/// Guards against polls that stop after a number of failures, and against a task that becomes Failed because the service
/// was unreachable.
#[tokio::test(flavor = "multi_thread")]
async fn polls_continue_after_the_service_was_down_for_ten_seconds() {
    let name = "polls_continue_after_the_service_was_down_for_ten_seconds";
    run_without_keys_until_settled(name, &["--speed", "2"], async |studio| {
        studio.proxy.control_clock(studio.browser).await?;
        let form = studio.open_model().await?;
        studio.generate(&form, "before").await?;
        studio.wait_for_accepted(1).await?;
        studio.service.stop().await?;
        studio
            .browser
            .wait_for_text("Status unknown for", TIMEOUT)
            .await?;
        // It is unknown whether this task arrived, so the page must let the user decide.
        studio.generate(&form, "meanwhile").await?;
        studio.browser.wait_for_text("Unconfirmed", TIMEOUT).await?;
        let down = Duration::from_secs(10);
        studio.proxy.advance_clock(studio.browser, down).await?;
        studio.service.start_again().await?;
        studio.show_tasks().await?;
        studio
            .wait_for_states(&[("before", "Completed"), ("meanwhile", "Unconfirmed")])
            .await?;
        assert_eq!(studio.times_sent("meanwhile"), 1);
        studio.resubmit("meanwhile").await?;
        studio.wait_for_states(&[("meanwhile", "Completed")]).await
    })
    .await;
}

/// Returns the number of API calls. The browser itself may still fetch files of the page.
fn count_api_calls(studio: &Studio<'_>) -> usize {
    let calls = studio.proxy.calls();
    calls
        .iter()
        .filter(|call| call.path.starts_with("/v2/"))
        .count()
}

/// Guards against calls while the browser is offline, after which new tasks would be Unconfirmed, and against a delay once
/// the browser is online again.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_submitted_offline_is_sent_once_when_the_network_is_back() {
    let name = "a_task_submitted_offline_is_sent_once_when_the_network_is_back";
    run_until_settled(name, &["--speed", "2"], async |studio| {
        studio.proxy.control_clock(studio.browser).await?;
        let form = studio.open_model().await?;
        studio.generate(&form, "online").await?;
        studio.wait_for_accepted(1).await?;
        studio.browser.set_offline(true).await?;
        studio
            .browser
            .wait_for_text("You are offline", TIMEOUT)
            .await?;
        let before = count_api_calls(studio);
        studio.generate(&form, "offline").await?;
        studio
            .browser
            .wait_for_text("Nothing has left this browser", TIMEOUT)
            .await?;
        // A poll would be due by now.
        let poll = Duration::from_secs(3);
        studio.proxy.advance_clock(studio.browser, poll).await?;
        assert_eq!(count_api_calls(studio), before, "called while offline");
        assert_eq!(studio.times_sent("offline"), 0);

        // The page calls at once, without waiting for a timer.
        studio.browser.stop_clock().await?;
        let online_since = studio.proxy.now();
        studio.browser.set_offline(false).await?;
        studio.wait_for_accepted(2).await?;
        studio
            .sees("an immediate poll", |calls| {
                last_status(calls).is_some_and(|call| call.at > online_since)
            })
            .await?;
        studio.browser.start_clock().await?;
        studio.show_tasks().await?;
        studio
            .wait_for_states(&[("online", "Completed"), ("offline", "Completed")])
            .await
    })
    .await;
}

/// Guards against a page that can't be used offline although the service runs on the same machine. `Try now` makes the
/// page call the service.
#[tokio::test(flavor = "multi_thread")]
async fn try_now_calls_a_service_on_this_machine_while_offline() {
    let name = "try_now_calls_a_service_on_this_machine_while_offline";
    run_until_settled(name, &[], async |studio| {
        let form = studio.open_model().await?;
        let script =
            "Object.defineProperty(navigator, 'onLine', { get: () => false, configurable: true });
                      window.dispatchEvent(new Event('offline'))";
        studio.browser.run(script, vec![]).await?;
        studio
            .browser
            .wait_for_text("You are offline", TIMEOUT)
            .await?;
        studio.generate(&form, "on a train").await?;
        studio.browser.press(&by("button", "Try now")).await?;
        studio.show_tasks().await?;
        studio
            .wait_for_states(&[("on a train", "Completed")])
            .await?;
        assert_eq!(studio.times_sent("on a train"), 1);
        Ok(())
    })
    .await;
}
