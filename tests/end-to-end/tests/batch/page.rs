//! A batch in the list of tasks and on its own page.

use crate::studio::{
    BATCH, SINGLE, Studio, TIMEOUT, error, numbered_prompts, run_steps, run_until_settled,
};
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::Rule;
use atelier_end_to_end::find::{any, by, starting};
use atelier_end_to_end::wait::{Seen, until, wait_for_value};

/// Returns the accessible names of all rows in the list of tasks, read at the same time.
async fn rows(studio: &Studio<'_>) -> Result<Vec<String>> {
    let list = studio.browser.find(&by("list", "Tasks")).await?;
    let script = "return [...arguments[0].querySelectorAll('article')].map(row => row.ariaLabel)";
    let argument = vec![studio.browser.argument(&list)];
    let names = studio.browser.run(script, argument).await?;
    let names = names.as_array().cloned().unwrap_or_default();
    let names = names.iter().filter_map(|name| name.as_str());
    Ok(names.map(str::to_owned).collect())
}

/// Waits until the list of tasks has exactly these rows.
async fn wait_for_rows(studio: &Studio<'_>, wanted: &[&str]) -> Result<()> {
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
    // ARIA defines no role for `summary`, so engines use different ones.
    let summary = by("button|DisclosureTriangle", "Show as list");
    studio.browser.press(&summary).await
}

/// Guards against listing each item of a batch in its own row, and against items that a search can't find because their
/// batch has only one row.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_one_row_that_links_to_its_page() {
    let name = "a_batch_is_one_row_that_links_to_its_page";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let prompts = numbered_prompts("row", 3);
        studio.send(&prompts).await?;
        studio.wait_for_counts("3 completed").await?;

        browser.open(&studio.address("/tasks")).await?;
        wait_for_rows(studio, &["Batch: row 01 and 2 others"]).await?;
        let row = by("article", "Batch: row 01 and 2 others");
        browser.find_in(&row, &starting("link", "Item "), 3).await?;
        // A search finds the item itself.
        let search = by("searchbox", "Search tasks");
        browser.fill(&search, "row 02").await?;
        wait_for_rows(studio, &["Tessera: row 02"]).await?;
        browser.press(&by("link", "row 02")).await?;
        browser.press(&by("link", "Item 2 of a batch")).await?;

        // The page of the batch shows the grid and each task.
        assert_eq!(studio.items().await?.len(), 3);
        unfold_list(studio).await?;
        let all = ["Tessera: row 01", "Tessera: row 02", "Tessera: row 03"];
        wait_for_rows(studio, &all).await?;
        browser.run("location.reload()", vec![]).await?;
        studio.wait_for_counts("3 completed").await?;
        unfold_list(studio).await?;
        wait_for_rows(studio, &all).await
    })
    .await;
}

/// Guards against losing focus when the user returns from an item to its batch.
#[tokio::test(flavor = "multi_thread")]
async fn going_back_from_an_item_restores_the_focus() {
    let name = "going_back_from_an_item_restores_the_focus";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.send(&numbered_prompts("left", 3)).await?;
        studio.wait_for_counts("3 completed").await?;
        browser.open(&studio.address("/tasks")).await?;
        browser.press(&by("link", "left 01 and 2 others")).await?;
        browser.press(&by("link", "Task 2: left 02")).await?;
        browser.find(&by("button", "Run again")).await?;
        let focused = "return document.activeElement.ariaLabel ?? document.activeElement.innerText";
        browser.client.back().await?;
        let item = "Task 2: left 02";
        wait_for_value(browser, "the focused item", focused, item).await?;
        browser.client.back().await?;
        let row = "left 01 and 2 others";
        wait_for_value(browser, "the focused row", focused, row).await
    })
    .await;
}

/// Guards against a batch name that is shown only in the tab where it was entered.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_has_a_name_in_all_tabs_and_after_a_reload() {
    let name = "a_batch_has_a_name_in_all_tabs_and_after_a_reload";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.send(&numbered_prompts("named", 2)).await?;
        studio.wait_for_counts("2 completed").await?;
        let first = browser.client.window().await?;
        let second = studio.open_batch_tab().await?;
        browser
            .find(&by("article", "Batch: named 01 and 1 other"))
            .await?;
        browser.switch_to(&first).await?;

        // Typing replaces the whole name.
        studio.press("Rename").await?;
        let name = browser.find(&by("textbox", "Batch name")).await?;
        name.send_keys("Dawn over the bay\u{e007}").await?;
        let renamed = by("article", "Batch: Dawn over the bay");
        browser.find(&renamed).await?;
        // Escape cancels the change.
        studio.press("Rename").await?;
        name.send_keys("Dusk\u{e00c}").await?;
        let focused = "return document.activeElement.ariaLabel";
        wait_for_value(browser, "the focus", focused, "Rename").await?;
        let value = "return document.querySelector('[aria-label=\"Batch name\"]').value";
        wait_for_value(browser, "the name", value, "Dawn over the bay").await?;
        browser.switch_to(&second).await?;
        browser.find(&renamed).await?;
        studio.reload().await?;
        browser.find(&renamed).await?;
        browser.open(&studio.address("/tasks?q=bay")).await?;
        wait_for_rows(studio, &["Batch: Dawn over the bay"]).await?;
        // The list of commands contains the batch under the new name.
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

/// Guards against permanently removing a batch with one press.
#[tokio::test(flavor = "multi_thread")]
async fn undo_restores_a_removed_batch() {
    let name = "undo_restores_a_removed_batch";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.send(&numbered_prompts("undone", 3)).await?;
        studio.wait_for_counts("3 completed").await?;
        browser.open(&studio.address("/tasks")).await?;
        browser.press(&by("link", "undone 01 and 2 others")).await?;
        browser.stop_clock().await?;
        studio.press("Remove batch").await?;
        browser.find(&by("heading", "Tasks")).await?;
        browser
            .wait_for_text("Nothing submitted yet.", TIMEOUT)
            .await?;
        studio.press("Undo").await?;
        wait_for_rows(studio, &["Batch: undone 01 and 2 others"]).await?;
        studio.reload().await?;
        studio.wait_for_counts("3 completed").await?;

        // Once Undo is no longer offered, the batch is removed everywhere, also after a reload.
        studio.press("Remove batch").await?;
        browser
            .wait_until_gone(&starting("article", "Batch: "))
            .await?;
        browser.wait_until_gone(&by("button", "Undo")).await?;
        studio.reload().await?;
        browser
            .wait_for_text("The batch appears here", TIMEOUT)
            .await?;
        let batches = browser.find_all(&starting("article", "Batch: ")).await?;
        assert!(batches.is_empty(), "a removed batch reappeared");
        Ok(())
    })
    .await;
}

/// Guards against a page of a batch that offers no actions.
#[tokio::test(flavor = "multi_thread")]
async fn failed_items_are_retried_from_the_page_of_their_batch() {
    let name = "failed_items_are_retried_from_the_page_of_their_batch";
    run_until_settled(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let prompts = numbered_prompts("refused", 2);
        studio.proxy.add(Rule::next(1, BATCH, error(400)));
        studio.proxy.add(Rule::next(2, SINGLE, error(422)));
        studio.send(&prompts).await?;
        studio.wait_for_counts("2 failed").await?;
        browser.open(&studio.address("/tasks")).await?;
        browser.press(&by("link", "refused 01 and 1 other")).await?;
        studio.press("Retry 2 failed").await?;
        for prompt in &prompts {
            studio.ledger.ask(prompt);
        }
        studio.wait_for_counts("2 completed").await?;
        // The failed attempts are no longer listed.
        unfold_list(studio).await?;
        let tasks = by("list", "Tasks");
        browser.find_in(&tasks, &any("article"), 2).await?;
        Ok(())
    })
    .await;
}
