//! A batch is sent by a key as one generation is, and what was sent as a sweep is edited as one.

use atelier_end_to_end::find::by;
use fantoccini::key::Key;

use crate::studio::{TIMEOUT, visit};

/// Guards against a key that sends in one mode and does nothing in the other, against an axis that is built all over
/// again for one more value, and against rows that are paid for twice by that.
#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_is_sent_by_a_key_and_edited_with_its_axes() {
    let name = "a_sweep_is_edited_with_its_axes";
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let send = format!("{}{}", char::from(Key::Control), char::from(Key::Enter));
        studio.choose("Sweep").await?;
        let axis = browser.find(&by("combobox", "Axis")).await?;
        axis.select_by_value("prompt").await?;
        browser.paste(&by("textbox", "Values"), "dusk").await?;
        studio.press("Vary seed").await?;
        browser.find(&by("button", "Generate 4")).await?;
        axis.send_keys(&send).await?;
        studio.see_counts("4 completed").await?;

        studio.choose("Lines").await?;
        studio.press("Edit and run again").await?;
        browser.see_text("In the table", TIMEOUT).await?;
        // As it was it would give the same files, which cost once more.
        let made = "All 4 items are made already (same seed).";
        browser.see_text(made, TIMEOUT).await?;
        studio.press("New seed").await?;
        browser.find_gone(&by("button", "New seed")).await?;
        studio.press("Generate 4").await?;
        studio.see_counts("4 completed").await?;
        assert_eq!(studio.prompts_sent(), ["dusk"; 8]);

        // What is changed takes the place of what was put there.
        studio.press("Edit and run again").await?;
        browser.see_text("In the table", TIMEOUT).await?;
        browser.fill(&by("textbox", "Values"), "1, 2").await?;
        let said = "2 items of this sweep, in place of the 4 rows in the table.";
        browser.see_text(said, TIMEOUT).await?;
        studio.press("Generate 2").await?;
        studio.see_counts("2 completed").await?;
        assert_eq!(studio.prompts_sent(), ["dusk"; 10]);
        Ok(())
    })
    .await;
}

/// Guards against a table of good rows that has to be put into another one before it is sent.
#[tokio::test(flavor = "multi_thread")]
async fn a_pasted_table_is_sent_by_generate() {
    visit(
        "a_pasted_table_is_sent",
        &["--speed", "0"],
        async |studio| {
            let browser = studio.browser;
            studio.choose("Import").await?;
            let table = by("textbox", "Table");
            browser
                .paste(&table, "prompt,cost\nnoon,1\ndusk,2\n")
                .await?;
            let left_out = "Not sent, as the model has no such parameter: cost.";
            browser.see_text(left_out, TIMEOUT).await?;
            studio.press("Generate 2").await?;
            studio.see_counts("2 completed").await?;
            assert_eq!(studio.prompts_sent(), ["noon", "dusk"]);
            Ok(())
        },
    )
    .await;
}
