//! The page is closed, the service ends, the network goes: and comes back.

use crate::studio::{Studio, TIMEOUT, play, play_without_keys};
use atelier_end_to_end::fault::{Call, Fault, Rule};
use atelier_end_to_end::find::by;
use std::time::Duration;

/// Longer than any step of a test here.
const LONG: Duration = Duration::from_secs(60);

fn last_status(calls: &[Call]) -> Option<&Call> {
    calls
        .iter()
        .rfind(|call| call.path.starts_with("/v2/status"))
}

/// Guards against a request that left without a record of it (lost), and against one that is sent
/// again by itself because its answer never came (paid twice).
#[tokio::test(flavor = "multi_thread")]
async fn a_page_closed_between_request_and_answer_leaves_exactly_that_task_unconfirmed() {
    let name = "a_page_closed_between_request_and_answer";
    play_without_keys(name, &["--speed", "2"], async |studio| {
        let form = studio.open_model().await?;
        studio.generate(&form, "known before").await?;
        // What is asked about has an id in this page: it is not left too early.
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
            studio.see(&[(prompt, "Unconfirmed")]).await?;
        }
        let states = studio.states().await?;
        let unconfirmed = states.values().filter(|state| *state == "Unconfirmed");
        assert_eq!(unconfirmed.count(), 2, "{states:?}");
        // Another visit is no reason to send anything either.
        studio.open_tasks().await?;
        studio.see(&[("known before", "Completed")]).await?;
        assert_eq!(studio.sent("to resubmit"), 1);
        assert_eq!(studio.sent("to dismiss"), 1);

        studio.resubmit("to resubmit").await?;
        studio.browser.stop_clock().await?;
        studio.dismiss("to dismiss").await?;
        // Guards against a task that may be paid for and is gone at one press.
        studio.browser.press(&by("button", "Undo")).await?;
        studio.browser.start_clock().await?;
        studio.see(&[("to dismiss", "Unconfirmed")]).await?;
        studio.dismiss("to dismiss").await?;
        studio.see(&[("to resubmit", "Completed")]).await?;
        assert_eq!(studio.sent("to resubmit"), 2);
        assert_eq!(studio.sent("to dismiss"), 1);
        Ok(())
    })
    .await;
}

/// Guards against a network that is blamed where none was down: the calls of a page that is left are refused while it
/// still runs.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_loaded_anew_says_that_it_was_closed() {
    let name = "a_page_loaded_anew_says_that_it_was_closed";
    play_without_keys(name, &["--speed", "2"], async |studio| {
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
        let said = "The page was closed before the answer came";
        studio.browser.see_text(said, TIMEOUT).await?;
        studio.open_tasks().await?;
        studio.dismiss("in the air").await
    })
    .await;
}

/// Guards against a task that is given up, or asked for anew, because its service was gone for a
/// moment.
#[tokio::test(flavor = "multi_thread")]
async fn a_service_restarted_in_the_midst_of_tasks_finishes_them() {
    let name = "a_service_restarted_in_the_midst_of_tasks";
    play(name, &["--speed", "3"], async |studio| {
        let form = studio.open_model().await?;
        studio.generate(&form, "first").await?;
        studio.generate(&form, "second").await?;
        studio.accepted(2).await?;
        studio.show_tasks().await?;
        studio.service.restart().await?;
        studio
            .see(&[("first", "Completed"), ("second", "Completed")])
            .await
    })
    .await;
}

/// Guards against polls that stop after so many failures, and against a task that ends as Failed
/// because no service could be asked.
#[tokio::test(flavor = "multi_thread")]
async fn a_service_down_for_ten_seconds_is_waited_for() {
    let name = "a_service_down_for_ten_seconds";
    play_without_keys(name, &["--speed", "2"], async |studio| {
        studio.proxy.control_clock(studio.browser).await?;
        let form = studio.open_model().await?;
        studio.generate(&form, "before").await?;
        studio.accepted(1).await?;
        studio.service.stop().await?;
        studio
            .browser
            .see_text("Status unknown for", TIMEOUT)
            .await?;
        // It is unknown whether this one arrived: a person decides, the page does not.
        studio.generate(&form, "meanwhile").await?;
        studio.browser.see_text("Unconfirmed", TIMEOUT).await?;
        let down = Duration::from_secs(10);
        studio.proxy.advance_clock(studio.browser, down).await?;
        studio.service.start_again().await?;
        studio.show_tasks().await?;
        studio
            .see(&[("before", "Completed"), ("meanwhile", "Unconfirmed")])
            .await?;
        assert_eq!(studio.sent("meanwhile"), 1);
        studio.resubmit("meanwhile").await?;
        studio.see(&[("meanwhile", "Completed")]).await
    })
    .await;
}

/// The files of the page apart: the browser itself may still fetch these.
fn calls_for_tasks(studio: &Studio<'_>) -> usize {
    let calls = studio.proxy.calls();
    calls
        .iter()
        .filter(|call| call.path.starts_with("/v2/"))
        .count()
}

/// Guards against calls into a network that is not there, which would make what is submitted
/// meanwhile Unconfirmed, and against waiting on when it is back.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_submitted_offline_is_sent_once_when_the_network_is_back() {
    let name = "what_is_submitted_offline";
    play(name, &["--speed", "2"], async |studio| {
        studio.proxy.control_clock(studio.browser).await?;
        let form = studio.open_model().await?;
        studio.generate(&form, "online").await?;
        studio.accepted(1).await?;
        studio.browser.set_offline(true).await?;
        studio.browser.see_text("You are offline", TIMEOUT).await?;
        let before = calls_for_tasks(studio);
        studio.generate(&form, "offline").await?;
        studio
            .browser
            .see_text("Nothing has left this browser", TIMEOUT)
            .await?;
        // A poll would be due by now.
        let poll = Duration::from_secs(3);
        studio.proxy.advance_clock(studio.browser, poll).await?;
        assert_eq!(calls_for_tasks(studio), before, "called while offline");
        assert_eq!(studio.sent("offline"), 0);

        // It waits for no timer.
        studio.browser.stop_clock().await?;
        let back = studio.proxy.now();
        studio.browser.set_offline(false).await?;
        studio.accepted(2).await?;
        studio
            .sees("a poll at once", |calls| {
                last_status(calls).is_some_and(|call| call.at > back)
            })
            .await?;
        studio.browser.start_clock().await?;
        studio.show_tasks().await?;
        studio
            .see(&[("online", "Completed"), ("offline", "Completed")])
            .await
    })
    .await;
}

/// Guards against a studio that can't be used on a train: the browser has no network, and the service is on this very
/// machine. It is asked when a person presses Try now.
#[tokio::test(flavor = "multi_thread")]
async fn a_service_on_this_machine_needs_no_network() {
    let name = "a_service_on_this_machine";
    play(name, &[], async |studio| {
        let form = studio.open_model().await?;
        let script =
            "Object.defineProperty(navigator, 'onLine', { get: () => false, configurable: true });
                      window.dispatchEvent(new Event('offline'))";
        studio.browser.run(script, vec![]).await?;
        studio.browser.see_text("You are offline", TIMEOUT).await?;
        studio.generate(&form, "on a train").await?;
        studio.browser.press(&by("button", "Try now")).await?;
        studio.show_tasks().await?;
        studio.see(&[("on a train", "Completed")]).await?;
        assert_eq!(studio.sent("on a train"), 1);
        Ok(())
    })
    .await;
}
