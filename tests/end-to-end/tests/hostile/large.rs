//! Replies that are larger than the page reads at once.

use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::{Seen, until};

use crate::studio::{TIMEOUT, play};

/// A picture of one pixel in so many bytes, as a data URI: a decoder stops at its end.
fn picture(bytes: usize) -> String {
    let rest = "AAAA".repeat(bytes / 3);
    format!("data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAAA{rest}")
}

/// Guards against a batch that never ends: its outputs together are larger than what the page reads of one reply, and
/// the same call was made again for ever.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_whose_outputs_are_too_large_for_one_reply_completes() {
    let name = "a_batch_whose_outputs_are_too_large_for_one_reply_completes";
    play(name, async |studio| {
        let browser = studio.browser;
        studio.service.has_outputs(&[picture(5_000_000)]);
        studio.open("/models/image/plain").await?;
        browser.press(&by("radio", "Batch")).await?;
        browser
            .paste(&by("textbox", "Prompts"), "dusk\ndawn\nnoon")
            .await?;
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
        assert_eq!(studio.service.bodies("/v2/generate-batch").len(), 1);
        Ok(())
    })
    .await;
}
