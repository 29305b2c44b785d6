//! What came of a batch: seen large one after the other, made favorites, and compared, from its grid.

use crate::studio::{TIMEOUT, numbered, visit};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::becomes;

/// What has the focus, or which dialog lies over the page.
const PLACE: &str = "
    const dialog = document.querySelector('dialog[open]');
    return dialog?.ariaLabel ?? document.activeElement.ariaLabel";

/// Guards against items of which each has to be left for the next one to be seen, and against arrows that lead on to
/// what was made besides.
#[tokio::test(flavor = "multi_thread")]
async fn items_are_seen_large_one_after_the_other() {
    visit("items_are_seen_large", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.send(&numbered("other", 2)).await?;
        studio.see_counts("2 completed").await?;
        studio.send(&numbered("large", 3)).await?;
        studio.see_counts("3 completed").await?;
        // Next to the table, and at its own address.
        for address in [None, Some("/tasks")] {
            if let Some(tasks) = address {
                browser.open(&studio.address(tasks)).await?;
                browser.press(&by("link", "large 01 and 2 others")).await?;
            }
            browser
                .press(&starting("button", "Item 2: large 02"))
                .await?;
            let output = browser.find(&by("dialog", "Output")).await?;
            browser.see_text("2 of 3 of this batch", TIMEOUT).await?;
            browser.press(&by("button", "Next").within(&output)).await?;
            browser.see_text("3 of 3", TIMEOUT).await?;
            browser.client.back().await?;
            let item = "Item 3: large 03, Completed";
            becomes(browser, "where the keys are", PLACE, item).await?;
        }
        // The page of a task is still one press away.
        browser.press(&by("link", "Task 2: large 02")).await?;
        browser.find(&by("button", "Run again")).await?;
        Ok(())
    })
    .await;
}

/// Guards against items of a batch that a finger selects by a small mark alone, and one that is opened by being selected.
#[tokio::test(flavor = "multi_thread")]
async fn a_finger_that_stays_on_an_item_selects_it() {
    visit("a_finger_on_an_item", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        browser.emulate_touch().await?;
        studio.send(&numbered("held", 2)).await?;
        studio.see_counts("2 completed").await?;
        let selected = "return document.querySelectorAll('.tile-select:checked').length";
        let first = browser.middle_of("li:nth-child(1) [data-output]").await?;
        let second = browser.middle_of("li:nth-child(2) [data-output]").await?;
        browser.touch_start(first).await?;
        becomes(browser, "what a long press selects", selected, 1).await?;
        browser.touch_end().await?;
        // While something is selected, a press selects; it would take the first one away had that been pressed, too.
        browser.touch_start(second).await?;
        browser.touch_end().await?;
        becomes(browser, "what is selected then", selected, 2).await
    })
    .await;
}

/// Guards against outputs of a batch that can be compared in the gallery alone.
#[tokio::test(flavor = "multi_thread")]
async fn items_are_made_favorites_and_compared_where_they_are() {
    let name = "items_are_made_favorites";
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.send(&numbered("beside", 3)).await?;
        studio.see_counts("3 completed").await?;
        let hover = "document.querySelector('[aria-label^=\"Item 1: \"]').focus()";
        browser.run(hover, vec![]).await?;
        browser.press(&by("button", "Favorite item 1")).await?;
        let pressed =
            "return document.querySelector('[aria-label=\"Favorite item 1\"]').ariaPressed";
        becomes(browser, "whether it is a favorite", pressed, "true").await?;
        // Arrows lead from one to the next.
        let item = browser.find(&starting("button", "Item 1: ")).await?;
        item.send_keys("\u{e014}").await?;
        let next = "Item 2: beside 02, Completed";
        becomes(browser, "where the keys are", PLACE, next).await?;
        browser.press(&by("checkbox", "Select item 1")).await?;
        // While one is chosen, a press chooses.
        browser.press(&starting("button", "Item 3: ")).await?;
        let bar = browser.find(&by("region", "Selection")).await?;
        browser.see_text("2 selected", TIMEOUT).await?;
        browser.press(&by("button", "Compare").within(&bar)).await?;
        becomes(browser, "what is open", PLACE, "Compare").await?;
        browser.see_text("beside 03", TIMEOUT).await?;
        let count = "return document.querySelectorAll('.compared > li').length";
        becomes(browser, "how many are compared", count, 2).await
    })
    .await;
}
