//! Replies that are larger than the page's limit for one reply.

use atelier_end_to_end::Result;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::{Seen, until};
use serde_json::json;

use crate::service::model;
use crate::studio::{Studio, TIMEOUT, run_until_settled};

/// Returns an image of one pixel, padded to `bytes`, as a data URI. Decoders ignore the padding.
fn picture(bytes: usize) -> String {
    let rest = "AAAA".repeat(bytes / 3);
    format!("data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAAA{rest}")
}

/// Guards against a batch that never completes because its outputs together exceed the limit for one reply.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_whose_outputs_are_too_large_for_one_reply_completes() {
    let name = "a_batch_whose_outputs_are_too_large_for_one_reply_completes";
    run_until_settled(name, async |studio| {
        studio.service.set_outputs(&[picture(5_000_000)]);
        complete_batch(studio).await
    })
    .await;
}

/// Guards against a batch that never completes because the reply with its outputs is always truncated and the same call was
/// repeated forever.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_whose_reply_is_truncated_completes() {
    let name = "a_batch_whose_reply_is_truncated_completes";
    run_until_settled(name, async |studio| {
        studio.service.set_outputs(&[picture(100_000)]);
        studio.service.truncate_replies(200_000);
        complete_batch(studio).await
    })
    .await;
}

/// Submits a batch of three, waits until it is completed, and checks that it was sent once.
async fn complete_batch(studio: &Studio<'_>) -> Result<()> {
    let browser = studio.browser;
    studio.open("/models/image/plain").await?;
    browser.press(&by("radio", "Batch")).await?;
    let prompts = by("textbox", "Prompts");
    browser.paste(&prompts, "dusk\ndawn\nnoon").await?;
    browser.press(&by("button", "Generate 3")).await?;
    until("three outputs", TIMEOUT, async || {
        let batch = browser.find(&starting("article", "Batch: ")).await?;
        let text = batch.text().await?;
        Ok(if text.contains("3 completed") {
            Seen::Yes(())
        } else {
            Seen::NotYet(text)
        })
    })
    .await?;
    let sent = studio.service.bodies("/v2/generate-batch").len();
    assert_eq!(sent, 1, "the batch was sent again");
    Ok(())
}

/// Guards against a page that is blocked for minutes because it renders ten megabytes of a category, a status or a text
/// output.
#[tokio::test(flavor = "multi_thread")]
async fn texts_of_ten_megabytes_are_shown_in_part_and_stored_whole() {
    let name = "texts_of_ten_megabytes_are_shown_in_part_and_stored_whole";
    run_until_settled(name, async |studio| {
        let browser = studio.browser;
        let long = "lorem ipsum ".repeat(10 * 1024 * 1024 / 12);
        let entry = model("Long", &long, "long");
        let models = [entry, model("Plain", "image", "plain")];
        studio.service.set_models(&models);
        studio.open("/").await?;
        browser
            .find_with_limit(&starting("link", "Plain"), TIMEOUT)
            .await?;

        let word = json!({"success": true, "data": {"id": "task-1", "status": long}});
        studio.service.answer("/v2/status", &word);
        studio.generate("a prompt").await?;
        studio.wait_for_status("lorem ipsum").await?;
        studio.service.set_outputs(&[long]);
        let done = json!({"success": true, "data": {"id": "task-1", "status": "completed"}});
        studio.service.answer("/v2/status", &done);
        studio.wait_for_status("Completed").await?;
        browser
            .wait_for_text("Only the first 10000 of 10485756 characters", TIMEOUT)
            .await?;
        let text = studio
            .script("return document.body.textContent.length")
            .await?;
        assert!(
            text.as_u64() < Some(100_000),
            "{text} characters in the page"
        );
        let stored = "
            const opened = await new Promise((done, failed) => {
                const request = indexedDB.open('atelier');
                [request.onsuccess, request.onerror] = [() => done(request.result), failed];
            });
            const read = opened.transaction('tasks').objectStore('tasks').getAll();
            return new Promise((done, failed) => {
                [read.onsuccess, read.onerror] = [() => done(read.result.join().length), failed];
            });";
        let stored = studio
            .script(&format!("return (async () => {{ {stored} }})()"))
            .await?;
        assert!(
            stored.as_u64() > Some(10_000_000),
            "the stored output is truncated"
        );
        Ok(())
    })
    .await;
}
