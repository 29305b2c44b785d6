//! What a model has made, below the result that is shown.

use crate::studio::{MODEL, TIMEOUT, play};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::becomes;

/// Guards against a model that has made nothing but batches and shows none of it, against a batch that pushes everything
/// else out of the strip, and against states that look one way while they are chosen and another while they are not.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_one_frame_that_leads_to_its_page() {
    play("a_batch_is_one_frame", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let composer = studio.address(&format!("{MODEL}?mode=batch"));
        browser.open(&composer).await?;
        browser
            .fill(&by("textbox", "Prompts"), "amber\njade")
            .await?;
        browser.press(&by("button", "Generate 2")).await?;
        studio.sees_sent(2).await?;
        studio.open(MODEL).await?;
        browser.see_text("Results appear here.", TIMEOUT).await?;
        let batch = starting("link", "Batch: ");
        browser.find_for(&batch, TIMEOUT).await?;
        let sends = ["a lake [fail]", "a lake"];
        for (sent, prompt) in sends.into_iter().enumerate() {
            studio.type_prompt(prompt).await?;
            browser.press(&by("button", "Generate")).await?;
            studio.sees_sent(sent + 3).await?;
        }
        browser
            .find_for(&by("button", "Run again"), TIMEOUT)
            .await?;
        let faces = "
            const frames = [...document.querySelectorAll('.result > .strip > .strip-task')];
            return frames.map(frame => {
                const mark = frame.querySelector('.state-mark')?.dataset.phase;
                return frame.matches('a') ? 'batch' : mark ?? 'picture';
            }).join()";
        becomes(browser, "the strip", faces, "picture,failed,batch").await?;
        // What failed has the same face while it is shown.
        browser.press(&by("button", "Show this one")).await?;
        becomes(browser, "the strip", faces, "picture,failed,batch").await?;
        browser.press(&batch).await?;
        let path = "return location.pathname.startsWith('/batches/')";
        becomes(browser, "whether it is the batch's page", path, true).await
    })
    .await;
}
