//! The table that a batch is composed in, and next to it what came of it.

use crate::studio::{TIMEOUT, numbered, visit};
use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::becomes;

/// How the two lie, and what of them is out of sight.
const LAID: &str = "
    const box = element => element.getBoundingClientRect();
    const form = box(document.querySelector('form[aria-label=Input]'));
    const result = box(document.querySelector('section[aria-label=Result]'));
    const isBeside = form.right < result.left && Math.abs(form.top - result.top) < 4;
    if (!isBeside) return result.top >= form.bottom || result.bottom <= form.top ? 'one column' : 'one over the other';
    const root = document.documentElement;
    if (root.scrollHeight > root.clientHeight || root.scrollWidth > root.clientWidth) return 'the page scrolls';
    const buttons = [...document.querySelectorAll('form[aria-label=Input] button')];
    const generate = box(buttons.find(button => button.textContent.trim().startsWith('Generate')));
    if (generate.bottom > innerHeight || generate.top < form.top) return 'Generate is out of sight';
    const items = [...document.querySelectorAll('[aria-label^=\"Item \"]')];
    const isSeen = item => box(item).bottom <= innerHeight && box(item).right <= result.right;
    return items.every(isSeen) ? `two panes, ${items.length} items in sight` : 'items are out of sight'";

async fn lies(browser: &Browser, when: &str, wanted: &str) -> Result<()> {
    for (width, height) in [(1024, 768), (1440, 900), (2560, 1300)] {
        browser.set_size(width, height).await?;
        becomes(browser, &format!("{when} at {width}"), LAID, wanted).await?;
    }
    browser.set_size(900, 900).await?;
    becomes(browser, &format!("{when} at 900"), LAID, "one column").await
}

/// Guards against what came of a batch far below the table that it was sent from, against a page that is scrolled for
/// either of them, and against outputs as small as stamps, or cut, in a pane that has room for all.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_seen_beside_the_table_that_it_is_composed_in() {
    let name = "a_batch_is_seen_beside_the_table";
    visit(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        lies(browser, "nothing", "two panes, 0 items in sight").await?;
        browser.set_size(1280, 900).await?;
        studio.send(&numbered("beside", 4)).await?;
        studio.see_counts("4 completed").await?;
        // The form stays where it is, and what has the focus is what came of the press.
        let focused = "return document.activeElement.closest('.result, form')?.className";
        becomes(browser, "what has the focus", focused, "result").await?;
        lies(browser, "a batch", "two panes, 4 items in sight").await?;
        // Where both do not stand next to each other the form makes way.
        browser.find(&by("button", "New batch")).await?;
        browser.set_size(1280, 900).await?;
        browser.find_gone(&by("button", "New batch")).await?;
        browser
            .see_text("All rows are in a batch.", TIMEOUT)
            .await?;
        studio.write(&numbered("long", 30)).await?;
        browser.find(&by("button", "Generate 30")).await?;
        lies(browser, "a long table", "two panes, 4 items in sight").await?;
        browser.set_size(1280, 900).await?;
        browser.press(&starting("link", "4 items")).await?;
        let path = "return location.pathname.startsWith('/batches/')";
        becomes(browser, "whether it is the batch's page", path, true).await
    })
    .await;
}
