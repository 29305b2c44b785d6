//! Undo for rows that were removed from the table, and Generate sends the rows of the visible panel.

use crate::studio::{TIMEOUT, numbered_prompts, run_steps};
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::wait_for_value;

/// Guards against one press that loses all typed rows, against restored rows that are sent twice, and against a focus that
/// is lost after the press.
#[tokio::test(flavor = "multi_thread")]
async fn undo_restores_replaced_and_removed_rows() {
    let name = "undo_restores_replaced_and_removed_rows";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let rows = numbered_prompts("undone", 3);
        studio.type_prompts(&rows).await?;
        studio.choose("Import").await?;
        let table = by("textbox", "Table");
        browser.paste(&table, "prompt\nother\n").await?;
        studio.press("Replace the table").await?;
        browser
            .wait_for_text("Replaced 3 rows by 1.", TIMEOUT)
            .await?;
        assert_eq!(studio.rows().await?, ["other"]);
        studio.press("Undo").await?;
        assert_eq!(studio.rows().await?, rows);

        studio.press("Remove row 2").await?;
        browser.wait_for_text("Removed 1 row.", TIMEOUT).await?;
        let focused = "return document.activeElement.ariaLabel";
        assert_eq!(browser.run(focused, vec![]).await?, "Remove row 2");
        assert_eq!(studio.rows().await?, [&*rows[0], &*rows[2]]);
        studio.press("Undo").await?;
        studio.press("Clear the table").await?;
        browser.wait_until_gone(&by("region", "Items")).await?;
        // Guards against a focus in the empty field, where the shortcut would undo typing.
        let focused = "return document.activeElement.innerText";
        wait_for_value(browser, "what has the focus", focused, "Undo").await?;
        let key = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', \
                   { key: 'z', ctrlKey: true, bubbles: true, cancelable: true }))";
        browser.run(key, vec![]).await?;
        assert_eq!(studio.rows().await?, rows);

        // Sent rows are restored as sent.
        studio.generate(&rows).await?;
        studio.wait_for_counts("3 completed").await?;
        browser.set_size(900, 900).await?;
        studio.press("New batch").await?;
        studio.press("Remove 3 sent rows").await?;
        studio.press("Undo").await?;
        browser.wait_for_text("3 rows sent", TIMEOUT).await?;
        browser.find(&by("button", "Generate")).await?;
        assert_eq!(studio.sent_prompts(), rows);
        Ok(())
    })
    .await;
}

/// Guards against a press that sends other rows than those of the visible panel, which are paid for, and against a panel
/// that loses what was typed there.
#[tokio::test(flavor = "multi_thread")]
async fn generate_includes_the_sweep_or_import_in_view() {
    let name = "generate_includes_the_sweep_or_import_in_view";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.type_prompts(&numbered_prompts("typed", 3)).await?;
        studio.choose("Sweep").await?;
        browser.find(&by("button", "Generate 3")).await?;
        let axis = browser.find(&by("combobox", "Axis")).await?;
        axis.select_by_value("prompt").await?;
        browser
            .paste(&by("textbox", "Values"), "dusk\ndawn")
            .await?;
        let swept = "3 rows of the table and 2 items of this sweep.";
        browser.wait_for_text(swept, TIMEOUT).await?;
        browser.find(&by("button", "Generate 5")).await?;
        // A sweep that is not in view is not included.
        studio.choose("Lines").await?;
        browser.find(&by("button", "Generate 3")).await?;

        studio.choose("Import").await?;
        let table = by("textbox", "Table");
        browser.paste(&table, "prompt\nnoon\n").await?;
        let wanted = "3 rows of the table and 1 item of this table.";
        browser.wait_for_text(wanted, TIMEOUT).await?;
        // The sweep is not lost while another panel is in view.
        studio.choose("Sweep").await?;
        browser.wait_for_text(swept, TIMEOUT).await?;
        studio.choose("Import").await?;
        browser.wait_for_text(wanted, TIMEOUT).await?;
        studio.press("Replace the table").await?;
        studio.press("Generate 1").await?;
        studio.wait_for_counts("1 completed").await?;
        assert_eq!(studio.sent_prompts(), ["noon"]);
        Ok(())
    })
    .await;
}

/// Guards against a sweep that one press removes for good, against duplicate rows, and against a disabled button next to a
/// sweep that was changed after it was sent.
#[tokio::test(flavor = "multi_thread")]
async fn rows_made_before_are_named_and_a_new_batch_can_be_undone() {
    let name = "rows_made_before_are_named_and_a_new_batch_can_be_undone";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.choose("Sweep").await?;
        let axis = browser.find(&by("combobox", "Axis")).await?;
        axis.select_by_value("prompt").await?;
        let values = by("textbox", "Values");
        browser.paste(&values, "dusk\ndawn").await?;
        studio.press("Generate 2").await?;
        studio.wait_for_counts("2 completed").await?;

        studio.press("Put 2 rows back").await?;
        let duplicates = "All 2 items are generated already (same seed).";
        browser.wait_for_text(duplicates, TIMEOUT).await?;
        browser.wait_for_text("Put 2 rows back.", TIMEOUT).await?;
        browser.wait_for_text("Sent before", TIMEOUT).await?;
        studio.press("Undo").await?;
        browser.find(&by("button", "Generate")).await?;
        studio.press("Edit and run again").await?;
        browser.wait_for_text(duplicates, TIMEOUT).await?;
        // The rows are in the table already.
        browser
            .wait_until_gone(&by("button", "Put 2 rows back"))
            .await?;
        studio.press("Clear the table").await?;
        browser.paste(&values, "dusk\nnoon").await?;
        let some = "1 of these 2 items is generated already (same seed).";
        browser.wait_for_text(some, TIMEOUT).await?;
        studio.press("Only the new one").await?;
        studio.wait_for_counts("1 completed").await?;
        assert_eq!(studio.sent_prompts(), ["dusk", "dawn", "noon"]);

        browser.paste(&values, "noon\nnight").await?;
        browser
            .wait_for_text("1 item of this sweep.", TIMEOUT)
            .await?;
        browser.find(&by("button", "Generate 1")).await?;
        studio.press("New batch").await?;
        browser.wait_until_gone(&by("button", "Generate 1")).await?;
        studio.press("Undo").await?;
        studio.press("Generate 1").await?;
        studio.wait_for_counts("1 completed").await?;
        assert_eq!(studio.sent_prompts()[3..], ["night"]);
        studio.press("Remove batch").await?;
        let focused = "return document.activeElement.innerText";
        wait_for_value(browser, "what has the focus", focused, "Undo").await
    })
    .await;
}
