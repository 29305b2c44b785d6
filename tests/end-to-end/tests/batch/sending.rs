//! Sending: each item once, ten items per call, in order.

use crate::studio::{
    BATCH, SINGLE, Studio, TIMEOUT, numbered_prompts, run_steps, run_until_settled,
};
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::{Seen, until};
use serde_json::json;

/// Returns the number of loaded images in the grid.
async fn loaded_images(studio: &Studio<'_>) -> Result<u64> {
    let list = studio
        .browser
        .find(&by("list", "Items of the batch"))
        .await?;
    let script = "
        return [...arguments[0].querySelectorAll('img')]
            .filter(picture => picture.complete && picture.naturalWidth > 0).length";
    let argument = vec![studio.browser.argument(&list)];
    let count = studio.browser.run(script, argument).await?;
    count.as_u64().ok_or_else(|| "not a number".into())
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_five_items_are_sent_in_three_calls() {
    let name = "twenty_five_items_are_sent_in_three_calls";
    run_until_settled(name, &["--speed", "0"], async |studio| {
        let prompts = numbered_prompts("glass", 25);
        studio.type_prompts(&prompts).await?;
        studio
            .browser
            .wait_for_text("25 items in 3 calls", TIMEOUT)
            .await?;
        assert_eq!(studio.rows().await?.first(), prompts.first());
        studio.generate(&prompts).await?;
        studio.wait_for_counts("25 completed").await?;
        let calls = studio.generate_calls();
        assert!(calls.iter().all(|call| call.path == BATCH), "{calls:#?}");
        assert_eq!(studio.call_sizes(), [10, 10, 5]);
        assert_eq!(studio.sent_prompts(), prompts);
        until("25 images", TIMEOUT, async || {
            Ok(match loaded_images(studio).await? {
                25 => Seen::Yes(()),
                other => Seen::NotYet(format!("there are {other}")),
            })
        })
        .await?;
        let items = studio.items().await?;
        let shown: Vec<&String> = items.iter().map(|item| &item.prompt).collect();
        assert_eq!(shown, prompts.iter().collect::<Vec<_>>());
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_item_is_a_single_call() {
    let name = "one_item_is_a_single_call";
    run_until_settled(name, &["--speed", "0"], async |studio| {
        let prompts = numbered_prompts("alone", 1);
        studio.type_prompts(&prompts).await?;
        studio
            .browser
            .wait_for_text("1 item in 1 call", TIMEOUT)
            .await?;
        studio.generate(&prompts).await?;
        studio.wait_for_counts("1 completed").await?;
        let calls = studio.generate_calls();
        assert_eq!(calls.len(), 1);
        assert_eq!(calls[0].path, SINGLE);
        assert_eq!(calls[0].prompts, prompts);
        Ok(())
    })
    .await;
}

/// Guards against polls of a batch with more than ten ids or with only one. While the stream of events reports all changes,
/// few polls are made.
#[tokio::test(flavor = "multi_thread")]
async fn running_items_are_polled_ten_at_a_time() {
    let name = "running_items_are_polled_ten_at_a_time";
    run_until_settled(name, &["--speed", "2", "--workers", "20"], async |studio| {
        studio.proxy.hide_events();
        studio.send(&numbered_prompts("asked", 20)).await?;
        studio.wait_for_counts("20 completed").await?;
        let calls = studio.proxy.calls();
        let status = || {
            calls
                .iter()
                .filter(|call| call.path.starts_with("/v2/status"))
        };
        assert!(status().all(|call| call.items <= 10));
        assert!(status().any(|call| call.items == 10));
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_batch_endpoints_each_item_is_sent_singly() {
    let name = "without_batch_endpoints_each_item_is_sent_singly";
    run_until_settled(name, &["--speed", "0"], async |studio| {
        for path in [
            "/v2/generate-batch",
            "/v2/status-batch",
            "/v2/response-batch",
        ] {
            let fault = crate::studio::error(404);
            studio.proxy.add(Rule::every(path, fault));
        }
        let prompts = numbered_prompts("single", 12);
        studio.send(&prompts).await?;
        studio.wait_for_counts("12 completed").await?;
        let sent_alone: Vec<String> = studio
            .proxy
            .calls_to(SINGLE)
            .into_iter()
            .flat_map(|call| call.prompts)
            .collect();
        assert_eq!(sent_alone, prompts);
        assert_eq!(
            studio.proxy.calls_to(BATCH).len(),
            1,
            "the batch endpoint was called again"
        );
        Ok(())
    })
    .await;
}

/// Guards against an expensive mistake, such as a thousand rows instead of ten.
#[tokio::test(flavor = "multi_thread")]
async fn more_than_a_hundred_items_need_confirmation() {
    let name = "more_than_a_hundred_items_need_confirmation";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let prompts = numbered_prompts("many", 101);
        // Responses are not needed, since only the calls are checked.
        studio.proxy.add(Rule::every("/v2/generate*", Fault::Hold));
        let field = by("textbox", "Prompts");
        browser.paste(&field, &prompts.join("\n")).await?;
        browser
            .wait_for_text("101 items in 11 calls", TIMEOUT)
            .await?;
        studio.press("Generate 101").await?;
        let dialog = browser.find(&by("dialog", "Generate many")).await?;
        let question = dialog.text().await?;
        assert!(question.contains("101 items in 11 calls"), "{question}");
        browser
            .press(&by("button", "Not yet").within(&dialog))
            .await?;
        browser
            .wait_until_gone(&by("dialog", "Generate many"))
            .await?;
        assert_eq!(studio.row_count().await?, 101);
        assert_eq!(studio.call_sizes(), [] as [usize; 0]);

        // Once the user confirms, the same button sends the items, starting with the first.
        studio.press("Generate 101").await?;
        let dialog = browser.find(&by("dialog", "Generate many")).await?;
        browser
            .press(&by("button", "Send them").within(&dialog))
            .await?;
        studio.wait_for_generate_calls(1).await?;
        assert_eq!(studio.sent_prompts(), prompts[..10]);
        studio.wait_for_counts("10 in progress, 91 queued").await?;
        assert_eq!(studio.call_sizes(), [10]);

        // Up to a hundred items need no confirmation.
        studio
            .press_both("Stop sending", "Move back to table")
            .await?;
        studio.press("Generate 91").await?;
        studio.wait_for_counts("10 in progress, 81 queued").await?;
        let open = browser.run("return !!document.querySelector('dialog[open]')", vec![]);
        assert_eq!(open.await?, json!(false));
        Ok(())
    })
    .await;
}
