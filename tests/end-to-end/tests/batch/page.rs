//! A batch in the list of tasks, and at an address of its own.

use crate::studio::{BATCH, SINGLE, Studio, TIMEOUT, error, numbered, play, visit};
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::Rule;
use atelier_end_to_end::find::{any, by, starting};
use atelier_end_to_end::wait::{Seen, becomes, until};

/// What the rows of the list are called, all at one moment.
async fn rows(studio: &Studio<'_>) -> Result<Vec<String>> {
    let list = studio.browser.find(&by("list", "Tasks")).await?;
    let script = "return [...arguments[0].querySelectorAll('article')].map(row => row.ariaLabel)";
    let argument = vec![studio.browser.argument(&list)];
    let names = studio.browser.run(script, argument).await?;
    let names = names.as_array().cloned().unwrap_or_default();
    let names = names.iter().filter_map(|name| name.as_str());
    Ok(names.map(str::to_owned).collect())
}

async fn see_rows(studio: &Studio<'_>, wanted: &[&str]) -> Result<()> {
    until(format!("the rows {wanted:?}"), TIMEOUT, async || {
        let rows = rows(studio).await?;
        Ok(match rows == wanted {
            true => Seen::Yes(()),
            false => Seen::NotYet(format!("there are {rows:?}")),
        })
    })
    .await
}

/// Shows the tasks of a batch on its page.
async fn unfold_list(studio: &Studio<'_>) -> Result<()> {
    // What a summary is called, ARIA does not say.
    let summary = by("button|DisclosureTriangle", "Show as list");
    studio.browser.press(&summary).await
}

/// Guards against nine equal rows for one batch, and against items that can't be found any more because
/// their batch is one row.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_one_row_that_leads_to_its_page() {
    visit("a_batch_is_one_row", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let prompts = numbered("row", 3);
        studio.send(&prompts).await?;
        studio.see_counts("3 completed").await?;

        browser.open(&studio.address("/tasks")).await?;
        see_rows(studio, &["Batch: row 01 and 2 others"]).await?;
        let row = by("article", "Batch: row 01 and 2 others");
        browser.find_in(&row, &starting("link", "Item "), 3).await?;
        // One that is searched for is found itself.
        let search = by("searchbox", "Search tasks");
        browser.fill(&search, "row 02").await?;
        see_rows(studio, &["Tessera: row 02"]).await?;
        browser.press(&by("link", "row 02")).await?;
        browser.press(&by("link", "Item 2 of a batch")).await?;

        // Its page: the grid, and each of its tasks.
        assert_eq!(studio.items().await?.len(), 3);
        unfold_list(studio).await?;
        let all = ["Tessera: row 01", "Tessera: row 02", "Tessera: row 03"];
        see_rows(studio, &all).await?;
        browser.run("location.reload()", vec![]).await?;
        studio.see_counts("3 completed").await?;
        unfold_list(studio).await?;
        see_rows(studio, &all).await
    })
    .await;
}

/// Guards against keys that begin at the top of the batch again after a look at one of its items.
#[tokio::test(flavor = "multi_thread")]
async fn back_from_an_item_leads_to_it() {
    visit("back_from_an_item", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.send(&numbered("left", 3)).await?;
        studio.see_counts("3 completed").await?;
        browser.open(&studio.address("/tasks")).await?;
        browser.press(&by("link", "left 01 and 2 others")).await?;
        browser.press(&by("link", "Task 2: left 02")).await?;
        browser.find(&by("button", "Run again")).await?;
        let place = "return document.activeElement.ariaLabel ?? document.activeElement.innerText";
        browser.client.back().await?;
        let item = "Task 2: left 02";
        becomes(browser, "where the keys are", place, item).await?;
        browser.client.back().await?;
        let row = "left 01 and 2 others";
        becomes(browser, "where the keys are then", place, row).await
    })
    .await;
}

/// Guards against a name that only the tab knows in which it was given.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_has_a_name_in_all_tabs_and_after_a_reload() {
    visit("a_batch_has_a_name", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.send(&numbered("named", 2)).await?;
        studio.see_counts("2 completed").await?;
        let first = browser.client.window().await?;
        let second = studio.open_batch_tab().await?;
        browser
            .find(&by("article", "Batch: named 01 and 1 other"))
            .await?;
        browser.switch_to(&first).await?;

        // All of it is written over.
        studio.press("Rename").await?;
        let name = browser.find(&by("textbox", "Batch name")).await?;
        name.send_keys("Dawn over the bay\u{e007}").await?;
        let renamed = by("article", "Batch: Dawn over the bay");
        browser.find(&renamed).await?;
        // Esc leaves it as it was.
        studio.press("Rename").await?;
        name.send_keys("Dusk\u{e00c}").await?;
        let focused = "return document.activeElement.ariaLabel";
        becomes(browser, "where the keys are", focused, "Rename").await?;
        let value = "return document.querySelector('[aria-label=\"Batch name\"]').value";
        becomes(browser, "the name", value, "Dawn over the bay").await?;
        browser.switch_to(&second).await?;
        browser.find(&renamed).await?;
        studio.reload().await?;
        browser.find(&renamed).await?;
        browser.open(&studio.address("/tasks?q=bay")).await?;
        see_rows(studio, &["Batch: Dawn over the bay"]).await?;
        // The list of commands knows it by that name, too.
        browser.press(&starting("button", "Go to")).await?;
        browser.find(&by("dialog", "Commands")).await?;
        let focused = browser.client.active_element().await?;
        focused.send_keys("over the bay").await?;
        browser
            .find(&starting("option", "Dawn over the bay"))
            .await?;
        Ok(())
    })
    .await;
}

/// Guards against a batch that is gone for good at one press.
#[tokio::test(flavor = "multi_thread")]
async fn a_removed_batch_comes_back_by_undo() {
    visit(
        "a_removed_batch_comes_back",
        &["--speed", "0"],
        async |studio| {
            let browser = studio.browser;
            studio.send(&numbered("undone", 3)).await?;
            studio.see_counts("3 completed").await?;
            browser.open(&studio.address("/tasks")).await?;
            browser.press(&by("link", "undone 01 and 2 others")).await?;
            browser.stop_clock().await?;
            studio.press("Remove batch").await?;
            browser.find(&by("heading", "Tasks")).await?;
            browser.see_text("Nothing submitted yet.", TIMEOUT).await?;
            studio.press("Undo").await?;
            see_rows(studio, &["Batch: undone 01 and 2 others"]).await?;
            studio.reload().await?;
            studio.see_counts("3 completed").await?;

            // Gone for good it is gone everywhere, also after a reload.
            studio.press("Remove batch").await?;
            browser.find_gone(&starting("article", "Batch: ")).await?;
            browser.find_gone(&by("button", "Undo")).await?;
            studio.reload().await?;
            browser.see_text("The batch appears here", TIMEOUT).await?;
            let batches = browser.find_all(&starting("article", "Batch: ")).await?;
            assert!(batches.is_empty(), "a removed batch is back");
            Ok(())
        },
    )
    .await;
}

/// Guards against a page that shows a batch and can do nothing about it.
#[tokio::test(flavor = "multi_thread")]
async fn what_failed_is_retried_from_the_page_of_its_batch() {
    play("retried_from_its_page", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let prompts = numbered("refused", 2);
        studio.proxy.add(Rule::next(1, BATCH, error(400)));
        studio.proxy.add(Rule::next(2, SINGLE, error(422)));
        studio.send(&prompts).await?;
        studio.see_counts("2 failed").await?;
        browser.open(&studio.address("/tasks")).await?;
        browser.press(&by("link", "refused 01 and 1 other")).await?;
        studio.press("Retry 2 failed").await?;
        for prompt in &prompts {
            studio.ledger.ask(prompt);
        }
        studio.see_counts("2 completed").await?;
        // No failed attempt is listed any more.
        unfold_list(studio).await?;
        let tasks = by("list", "Tasks");
        browser.find_in(&tasks, &any("article"), 2).await?;
        Ok(())
    })
    .await;
}
