//! Viewing, selecting and comparing outputs in the grid of a batch.

use crate::studio::{TIMEOUT, numbered_prompts, run_steps};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::wait_for_value;

/// A script that returns the name of the open dialog, or else of the focused element.
const FOCUS_OR_DIALOG: &str = "
    const dialog = document.querySelector('dialog[open]');
    return dialog?.ariaLabel ?? document.activeElement.ariaLabel";

/// Guards against a lightbox that must be closed to view the next item, and against arrows that continue with outputs
/// of other batches.
#[tokio::test(flavor = "multi_thread")]
async fn the_lightbox_steps_through_the_items_of_the_batch() {
    let name = "the_lightbox_steps_through_the_items_of_the_batch";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.send(&numbered_prompts("other", 2)).await?;
        studio.wait_for_counts("2 completed").await?;
        studio.send(&numbered_prompts("large", 3)).await?;
        studio.wait_for_counts("3 completed").await?;
        // Tests the batch next to the table, and the batch on its own page.
        for address in [None, Some("/tasks")] {
            if let Some(tasks) = address {
                browser.open(&studio.address(tasks)).await?;
                browser.press(&by("link", "large 01 and 2 others")).await?;
            }
            browser
                .press(&starting("button", "Item 2: large 02"))
                .await?;
            let output = browser.find(&by("dialog", "Output")).await?;
            browser
                .wait_for_text("2 of 3 of this batch", TIMEOUT)
                .await?;
            browser.press(&by("button", "Next").within(&output)).await?;
            browser.wait_for_text("3 of 3", TIMEOUT).await?;
            browser.client.back().await?;
            let item = "Item 3: large 03, Completed";
            wait_for_value(browser, "the focus", FOCUS_OR_DIALOG, item).await?;
        }
        // The link below the item still opens the page of the task.
        browser.press(&by("link", "Task 2: large 02")).await?;
        browser.find(&by("button", "Run again")).await?;
        Ok(())
    })
    .await;
}

/// Guards against items that can be selected on a touch screen only with a small checkbox, and against items that are opened
/// when they are selected.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_press_selects_an_item() {
    let name = "a_long_press_selects_an_item";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        browser.emulate_touch().await?;
        studio.send(&numbered_prompts("held", 2)).await?;
        studio.wait_for_counts("2 completed").await?;
        let selected = "return document.querySelectorAll('.tile-select:checked').length";
        let first = browser.middle_of("li:nth-child(1) [data-output]").await?;
        let second = browser.middle_of("li:nth-child(2) [data-output]").await?;
        browser.touch_start(first).await?;
        wait_for_value(
            browser,
            "the number of selected items after a long press",
            selected,
            1,
        )
        .await?;
        browser.touch_end().await?;
        // While an item is selected, a tap selects. If the long press had also counted as a tap, the first item would not be
        // selected.
        browser.touch_start(second).await?;
        browser.touch_end().await?;
        wait_for_value(browser, "the number of selected items", selected, 2).await
    })
    .await;
}

/// Guards against outputs of a batch that can be compared only in the gallery.
#[tokio::test(flavor = "multi_thread")]
async fn items_can_be_favorited_and_compared_in_the_grid() {
    let name = "items_can_be_favorited_and_compared_in_the_grid";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.send(&numbered_prompts("beside", 3)).await?;
        studio.wait_for_counts("3 completed").await?;
        let hover = "document.querySelector('[aria-label^=\"Item 1: \"]').focus()";
        browser.run(hover, vec![]).await?;
        browser.press(&by("button", "Favorite item 1")).await?;
        let pressed =
            "return document.querySelector('[aria-label=\"Favorite item 1\"]').ariaPressed";
        wait_for_value(browser, "whether the item is a favorite", pressed, "true").await?;
        // The arrow key moves the focus to the next item.
        let item = browser.find(&starting("button", "Item 1: ")).await?;
        item.send_keys("\u{e014}").await?;
        let next = "Item 2: beside 02, Completed";
        wait_for_value(browser, "the focus", FOCUS_OR_DIALOG, next).await?;
        browser.press(&by("checkbox", "Select item 1")).await?;
        // While an item is selected, a press selects.
        browser.press(&starting("button", "Item 3: ")).await?;
        let bar = browser.find(&by("region", "Selection")).await?;
        browser.wait_for_text("2 selected", TIMEOUT).await?;
        browser.press(&by("button", "Compare").within(&bar)).await?;
        wait_for_value(browser, "the open dialog", FOCUS_OR_DIALOG, "Compare").await?;
        browser.wait_for_text("beside 03", TIMEOUT).await?;
        let count = "return document.querySelectorAll('.compared > li').length";
        wait_for_value(browser, "the number of compared items", count, 2).await
    })
    .await;
}
