//! Keyboard shortcut for sending a batch, and editing a sweep that was sent.

use atelier_end_to_end::find::by;
use fantoccini::key::Key;

use crate::studio::{TIMEOUT, run_steps};

/// Guards against a shortcut that works in one mode only, against axes that have to be entered again to add one value, and
/// against rows that are paid for twice when they are edited.
#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_is_sent_with_a_shortcut_and_edited_with_its_axes() {
    let name = "a_sweep_is_sent_with_a_shortcut_and_edited_with_its_axes";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let send = format!("{}{}", char::from(Key::Control), char::from(Key::Enter));
        studio.choose("Sweep").await?;
        let axis = browser.find(&by("combobox", "Axis")).await?;
        axis.select_by_value("prompt").await?;
        browser.paste(&by("textbox", "Values"), "dusk").await?;
        studio.press("Vary seed").await?;
        browser.find(&by("button", "Generate 4")).await?;
        axis.send_keys(&send).await?;
        studio.wait_for_counts("4 completed").await?;

        studio.choose("Lines").await?;
        studio.press("Edit and run again").await?;
        browser.wait_for_text("In the table", TIMEOUT).await?;
        // Sent unchanged, the rows would give the same files at the same price.
        let duplicates = "All 4 items are generated already (same seed).";
        browser.wait_for_text(duplicates, TIMEOUT).await?;
        studio.press("New seed").await?;
        browser.wait_until_gone(&by("button", "New seed")).await?;
        studio.press("Generate 4").await?;
        studio.wait_for_counts("4 completed").await?;
        assert_eq!(studio.sent_prompts(), ["dusk"; 8]);

        // The changed sweep replaces the rows that were put into the table.
        studio.press("Edit and run again").await?;
        browser.wait_for_text("In the table", TIMEOUT).await?;
        browser.fill(&by("textbox", "Values"), "1, 2").await?;
        let summary = "2 items of this sweep, in place of the 4 rows in the table.";
        browser.wait_for_text(summary, TIMEOUT).await?;
        studio.press("Generate 2").await?;
        studio.wait_for_counts("2 completed").await?;
        assert_eq!(studio.sent_prompts(), ["dusk"; 10]);
        Ok(())
    })
    .await;
}

/// Guards against a pasted table that has to be added to the main table before it can be sent.
#[tokio::test(flavor = "multi_thread")]
async fn a_pasted_table_is_sent_by_generate() {
    let name = "a_pasted_table_is_sent_by_generate";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.choose("Import").await?;
        let table = by("textbox", "Table");
        browser
            .paste(&table, "prompt,cost\nnoon,1\ndusk,2\n")
            .await?;
        let omitted = "Not sent, as the model has no such parameter: cost.";
        browser.wait_for_text(omitted, TIMEOUT).await?;
        studio.press("Generate 2").await?;
        studio.wait_for_counts("2 completed").await?;
        assert_eq!(studio.sent_prompts(), ["noon", "dusk"]);
        Ok(())
    })
    .await;
}
