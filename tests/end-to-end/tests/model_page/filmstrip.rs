//! Tests of the strip of a model's recent tasks below the shown result.

use crate::studio::{MODEL, TIMEOUT, run_steps};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::wait_for_value;

/// Guards against a strip without batches, against a batch that fills the whole strip, and against a failed task that
/// looks different while it is selected.
#[tokio::test(flavor = "multi_thread")]
async fn batch_is_one_strip_item_that_links_to_its_page() {
    run_steps(
        "batch_is_one_strip_item_that_links_to_its_page",
        &["--speed", "0"],
        async |studio| {
            let browser = studio.browser;
            let composer = studio.address(&format!("{MODEL}?mode=batch"));
            browser.open(&composer).await?;
            browser
                .fill(&by("textbox", "Prompts"), "amber\njade")
                .await?;
            browser.press(&by("button", "Generate 2")).await?;
            studio.wait_for_sent(2).await?;
            studio.open(MODEL).await?;
            browser
                .wait_for_text("Results appear here.", TIMEOUT)
                .await?;
            let batch = starting("link", "Batch: ");
            browser.find_with_limit(&batch, TIMEOUT).await?;
            let sends = ["a lake [fail]", "a lake"];
            for (sent, prompt) in sends.into_iter().enumerate() {
                studio.type_prompt(prompt).await?;
                browser.press(&by("button", "Generate")).await?;
                studio.wait_for_sent(sent + 3).await?;
            }
            browser
                .find_with_limit(&by("button", "Run again"), TIMEOUT)
                .await?;
            let items = "
            const frames = [...document.querySelectorAll('.result > .strip > .strip-task')];
            return frames.map(frame => {
                const mark = frame.querySelector('.state-mark')?.dataset.phase;
                return frame.matches('a') ? 'batch' : mark ?? 'picture';
            }).join()";
            wait_for_value(browser, "the strip", items, "picture,failed,batch").await?;
            // A failed task looks the same while it is shown.
            browser.press(&by("button", "Show this one")).await?;
            wait_for_value(browser, "the strip", items, "picture,failed,batch").await?;
            browser.press(&batch).await?;
            let path = "return location.pathname.startsWith('/batches/')";
            wait_for_value(browser, "the batch page", path, true).await
        },
    )
    .await;
}
