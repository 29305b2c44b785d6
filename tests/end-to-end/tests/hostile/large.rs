//! Replies that are larger than the page reads at once.

use atelier_end_to_end::Result;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::{Seen, until};
use serde_json::json;

use crate::service::model;
use crate::studio::{Studio, TIMEOUT, play};

/// A picture of one pixel in so many bytes, as a data URI: a decoder stops at its end.
fn picture(bytes: usize) -> String {
    let rest = "AAAA".repeat(bytes / 3);
    format!("data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAAA{rest}")
}

/// Guards against a batch that never ends: its outputs together are larger than what the page reads of one reply.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_whose_outputs_are_too_large_for_one_reply_completes() {
    let name = "a_batch_whose_outputs_are_too_large_for_one_reply_completes";
    play(name, async |studio| {
        studio.service.has_outputs(&[picture(5_000_000)]);
        completes_a_batch(studio).await
    })
    .await;
}

/// Guards against a batch that never ends: the reply with its outputs breaks off each time, and the same call was made
/// again for ever.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_whose_reply_breaks_off_completes() {
    let name = "a_batch_whose_reply_breaks_off_completes";
    play(name, async |studio| {
        studio.service.has_outputs(&[picture(100_000)]);
        studio.service.breaks_off_after(200_000);
        completes_a_batch(studio).await
    })
    .await;
}

async fn completes_a_batch(studio: &Studio<'_>) -> Result<()> {
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
    assert_eq!(sent, 1, "nothing is sent twice");
    Ok(())
}

/// Guards against a page that stands still for minutes: of a category, a status word and an output that is a text, ten
/// megabytes each were put into it.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_ten_megabytes_long_is_shown_in_part_and_copied_whole() {
    let name = "what_is_ten_megabytes_long_is_shown_in_part_and_copied_whole";
    play(name, async |studio| {
        let browser = studio.browser;
        let long = "lorem ipsum ".repeat(10 * 1024 * 1024 / 12);
        let entry = model("Long", &long, "long");
        let models = [entry, model("Plain", "image", "plain")];
        studio.service.has_models(&models);
        studio.open("/").await?;
        browser
            .find_for(&starting("link", "Plain"), TIMEOUT)
            .await?;

        let word = json!({"success": true, "data": {"id": "task-1", "status": long}});
        studio.service.answer("/v2/status", &word);
        studio.generate("a prompt").await?;
        studio.state("lorem ipsum").await?;
        studio.service.has_outputs(&[long]);
        let done = json!({"success": true, "data": {"id": "task-1", "status": "completed"}});
        studio.service.answer("/v2/status", &done);
        studio.state("Completed").await?;
        browser
            .see_text("Only the first 10000 of 10485756 characters", TIMEOUT)
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
            "the output is kept as a whole"
        );
        Ok(())
    })
    .await;
}
