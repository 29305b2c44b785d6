//! Canceling the rest of a batch at the service.

use crate::studio::{BATCH, Studio, TIMEOUT, numbered_prompts, rate_limited, run_steps};
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::wait_for_value;

const CANCEL_THE_REST: &str = "Cancel the rest";

const IS_PAUSED: &str = "
    const buttons = [...document.querySelectorAll('.run-controls button')];
    return buttons.some(it => it.textContent.trim() === 'Resume')";

/// Returns the number of tasks that the page has asked the service to cancel.
fn cancel_requests(studio: &Studio<'_>) -> usize {
    let calls = studio.proxy.calls();
    let requests = calls
        .iter()
        .filter(|call| call.path.starts_with("/v2/cancel"));
    requests.map(|call| call.items).sum()
}

/// Guards against items that continue at the service, against unsent items that are sent after all, or while the question is
/// open, and against canceled items that count as failed.
#[tokio::test(flavor = "multi_thread")]
async fn the_rest_of_a_batch_is_canceled_after_a_question() {
    let name = "the_rest_of_a_batch_is_canceled_after_a_question";
    run_steps(
        name,
        &["--speed", "100", "--workers", "3"],
        async |studio| {
            let browser = studio.browser;
            // The service accepts ten items, and the others wait to be sent.
            studio.allow_calls(1, BATCH);
            studio.proxy.add(Rule::every(BATCH, rate_limited(600)));
            studio.send(&numbered_prompts("rest", 14)).await?;
            browser
                .wait_for_text("Rate-limited, next try in ", TIMEOUT)
                .await?;
            studio.proxy.clear();
            studio.press(CANCEL_THE_REST).await?;
            let dialog = browser.find(&by("dialog", CANCEL_THE_REST)).await?;
            let question = dialog.text().await?;
            assert!(
                question.contains("Cancel 14 items? 4 items not sent yet will be removed."),
                "{question}"
            );
            // Otherwise more items would be sent than the question says.
            wait_for_value(browser, "the paused batch", IS_PAUSED, true).await?;
            studio.press("Keep").await?;
            wait_for_value(browser, "the resumed batch", IS_PAUSED, false).await?;
            studio.wait_for_counts("10 in progress, 4 queued").await?;
            assert_eq!(cancel_requests(studio), 0);

            // The question is open when the page is left.
            studio.press(CANCEL_THE_REST).await?;
            wait_for_value(browser, "the paused batch", IS_PAUSED, true).await?;
            let page = "return document.querySelector('h1').textContent";
            let heading = browser.run(page, vec![]).await?;
            let leave = "
                [...document.querySelectorAll('a')].find(it => it.textContent.trim() === 'Models').click()";
            browser.run(leave, vec![]).await?;
            browser.find(&by("heading", "Models")).await?;
            browser.run("history.back()", vec![]).await?;
            wait_for_value(browser, "the page", page, heading).await?;
            studio.wait_for_counts("10 in progress, 4 queued").await?;
            browser.find(&by("button", "Pause")).await?;

            studio.press_both(CANCEL_THE_REST, "Cancel them").await?;
            studio.wait_for_counts("10 in progress, 4 removed").await?;
            browser
                .wait_until_gone(&by("button", CANCEL_THE_REST))
                .await
        },
    )
    .await;
}

/// Guards against a question about the items as they were before they were sent: it reported removals instead of costs.
#[tokio::test(flavor = "multi_thread")]
async fn the_question_is_about_the_items_at_the_press() {
    let name = "the_question_is_about_the_items_at_the_press";
    run_steps(name, &["--speed", "100"], async |studio| {
        let browser = studio.browser;
        studio.send(&numbered_prompts("sent", 14)).await?;
        studio.wait_for_counts("14 in progress").await?;
        studio.press(CANCEL_THE_REST).await?;
        let dialog = browser.find(&by("dialog", CANCEL_THE_REST)).await?;
        let question = dialog.text().await?;
        let expected = "Cancel 14 items? The service may bill those that it has started.";
        assert!(question.contains(expected), "{question}");
        studio.press("Cancel them").await?;
        studio.wait_for_counts("14 canceled").await
    })
    .await;
}

/// Guards against a question about a few items, and against *Retry failed* for canceled items.
#[tokio::test(flavor = "multi_thread")]
async fn a_few_items_are_canceled_at_once_and_are_not_failed() {
    let name = "a_few_items_are_canceled_at_once_and_are_not_failed";
    run_steps(
        name,
        &["--speed", "100", "--workers", "1"],
        async |studio| {
            let browser = studio.browser;
            studio.send(&numbered_prompts("few", 3)).await?;
            studio.wait_for_counts("3 in progress").await?;
            studio.press(CANCEL_THE_REST).await?;
            studio.wait_for_counts("3 canceled").await?;
            assert_eq!(studio.items_in_state("Canceled").await?, [1, 2, 3]);
            assert_eq!(cancel_requests(studio), 3);
            browser
                .wait_until_gone(&starting("button", "Retry "))
                .await?;
            studio.reload().await?;
            studio.wait_for_counts("3 canceled").await
        },
    )
    .await;
}

/// Guards against a command that cancels items without the question. It is selected when the palette opens.
#[tokio::test(flavor = "multi_thread")]
async fn the_command_on_the_page_of_a_batch_asks_first() {
    let name = "the_command_on_the_page_of_a_batch_asks_first";
    run_steps(name, &["--speed", "100"], async |studio| {
        let browser = studio.browser;
        studio.send(&numbered_prompts("command", 2)).await?;
        studio.wait_for_counts("2 in progress").await?;
        // A press right after Generate would count as its double click.
        let link = browser.find(&by("link", "2 items")).await?;
        let path = link.attr("href").await?.ok_or("no address")?;
        studio.open(&path).await?;
        browser.find(&by("heading", "Batch")).await?;
        browser.press(&starting("button", "Go to…")).await?;
        let commands = browser.find(&by("dialog", "Commands")).await?;
        let option = starting("option", CANCEL_THE_REST).within(&commands);
        browser.press(&option).await?;
        let dialog = browser.find(&by("dialog", CANCEL_THE_REST)).await?;
        browser
            .press(&by("button", "Cancel them").within(&dialog))
            .await?;
        studio.wait_for_counts("2 canceled").await?;
        assert_eq!(studio.proxy.calls_to("/v2/cancel-batch").len(), 1);
        Ok(())
    })
    .await;
}

/// Guards against a service with only the single endpoint.
#[tokio::test(flavor = "multi_thread")]
async fn items_are_canceled_singly_if_the_batch_endpoint_is_missing() {
    let name = "items_are_canceled_singly_if_the_batch_endpoint_is_missing";
    run_steps(name, &["--speed", "100"], async |studio| {
        let missing = Fault::Status {
            status: 405,
            retry_after: None,
        };
        studio.proxy.add(Rule::every("/v2/cancel-batch", missing));
        studio.send(&numbered_prompts("single", 3)).await?;
        studio.wait_for_counts("3 in progress").await?;
        studio.press(CANCEL_THE_REST).await?;
        studio.wait_for_counts("3 canceled").await?;
        assert_eq!(studio.proxy.calls_to("/v2/cancel").len(), 3);
        Ok(())
    })
    .await;
}
