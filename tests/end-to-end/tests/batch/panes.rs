//! The pane with the table and the pane with the results.

use crate::studio::{TIMEOUT, numbered_prompts, run_steps};
use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::wait_for_value;

/// A script that describes how the two panes are arranged, and what is out of sight.
const ARRANGEMENT: &str = "
    const box = element => element.getBoundingClientRect();
    const form = box(document.querySelector('form[aria-label=Input]'));
    const result = box(document.querySelector('section[aria-label=Result]'));
    const isNextTo = form.right < result.left && Math.abs(form.top - result.top) < 4;
    if (!isNextTo) return result.top >= form.bottom || result.bottom <= form.top ? 'one column' : 'one over the other';
    const root = document.documentElement;
    if (root.scrollHeight > root.clientHeight || root.scrollWidth > root.clientWidth) return 'the page scrolls';
    const buttons = [...document.querySelectorAll('form[aria-label=Input] button')];
    const generate = box(buttons.find(button => button.textContent.trim().startsWith('Generate')));
    if (generate.bottom > innerHeight || generate.top < form.top) return 'Generate is out of sight';
    const items = [...document.querySelectorAll('[aria-label^=\"Item \"]')];
    const isSeen = item => box(item).bottom <= innerHeight && box(item).right <= result.right;
    return items.every(isSeen) ? `two panes, ${items.length} items in sight` : 'items are out of sight'";

/// Checks the arrangement of the panes at several window sizes.
async fn check_arrangement(browser: &Browser, when: &str, wanted: &str) -> Result<()> {
    for (width, height) in [(1024, 768), (1440, 900), (2560, 1300)] {
        browser.set_size(width, height).await?;
        wait_for_value(browser, &format!("{when} at {width}"), ARRANGEMENT, wanted).await?;
    }
    browser.set_size(900, 900).await?;
    wait_for_value(
        browser,
        &format!("{when} at 900"),
        ARRANGEMENT,
        "one column",
    )
    .await
}

/// Guards against results far below the table, against a page that scrolls as a whole, and against outputs that are tiny or
/// cut off in a pane that has space for all.
#[tokio::test(flavor = "multi_thread")]
async fn results_are_shown_next_to_the_table_in_wide_windows() {
    let name = "results_are_shown_next_to_the_table_in_wide_windows";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        check_arrangement(browser, "nothing", "two panes, 0 items in sight").await?;
        browser.set_size(1280, 900).await?;
        studio.send(&numbered_prompts("beside", 4)).await?;
        studio.wait_for_counts("4 completed").await?;
        // The form stays in place, and the focus moves to the result.
        let focused = "return document.activeElement.closest('.result, form')?.className";
        wait_for_value(browser, "what has the focus", focused, "result").await?;
        check_arrangement(browser, "a batch", "two panes, 4 items in sight").await?;
        // In a narrow window, the result replaces the form.
        browser.find(&by("button", "New batch")).await?;
        browser.set_size(1280, 900).await?;
        browser.wait_until_gone(&by("button", "New batch")).await?;
        browser
            .wait_for_text("All rows are in a batch.", TIMEOUT)
            .await?;
        studio.type_prompts(&numbered_prompts("long", 30)).await?;
        browser.find(&by("button", "Generate 30")).await?;
        check_arrangement(browser, "a long table", "two panes, 4 items in sight").await?;
        browser.set_size(1280, 900).await?;
        browser.press(&starting("link", "4 items")).await?;
        let path = "return location.pathname.startsWith('/batches/')";
        wait_for_value(browser, "the batch's page", path, true).await
    })
    .await;
}
