//! Tasks that the leading tab can't store: another tab stores them, or both tabs warn.

use crate::storage::{
    BREAKABLE, STORAGE_WARNING, send_anyway, wait_for_stored_records, wait_for_stored_tasks,
    wait_until_no_warning,
};
use crate::studio::{Studio, TIMEOUT, run_until_settled};
use crate::tabs::run_before_each_page;
use atelier_end_to_end::Result;
use atelier_end_to_end::find::{by, containing};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::wait_for_value;
use serde_json::json;
use std::time::Duration;

/// A script that returns whether the browser would ask before the page is left.
const ASKS_BEFORE_LEAVING: &str = "
    const leaving = new Event('beforeunload', { cancelable: true });
    return !window.dispatchEvent(leaving)";

/// Completes a task that the leading tab could not store, and closes that tab. A second tab remains open. With
/// `is_full_for_both`, the second tab can't store the task either.
async fn complete_unstored_task(studio: &mut Studio<'_>, is_full_for_both: bool) -> Result<()> {
    let browser = studio.browser;
    run_before_each_page(studio, BREAKABLE).await?;
    studio.proxy.control_clock(browser).await?;
    let form = studio.open_model().await?;
    let leader = browser.client.window().await?;
    browser.open_tab("about:blank").await?;
    run_before_each_page(studio, BREAKABLE).await?;
    studio.proxy.control_clock(browser).await?;
    browser.set_size(1280, 4000).await?;
    studio.open_tasks().await?;
    let follower = browser.client.window().await?;
    if is_full_for_both {
        browser.run("window.full = true", vec![]).await?;
    }
    browser.switch_to(&leader).await?;
    browser.run("window.full = true", vec![]).await?;
    studio.generate(&form, "paid").await?;
    if is_full_for_both {
        send_anyway(browser).await?;
    }
    browser.switch_to(&follower).await?;
    studio.wait_for_states(&[("paid", "Completed")]).await?;
    if is_full_for_both {
        browser.wait_for_text(STORAGE_WARNING, TIMEOUT).await?;
    }
    // Closing the following tab loses nothing.
    wait_for_value(browser, "no question", ASKS_BEFORE_LEAVING, json!(false)).await?;
    browser.switch_to(&leader).await?;
    browser.close_tab().await?;
    browser.switch_to(&follower).await
}

/// Guards against a paid task that is lost although another tab could have stored it.
#[tokio::test(flavor = "multi_thread")]
async fn the_next_leader_stores_what_the_last_could_not_store() {
    let name = "the_next_leader_stores_what_the_last_could_not_store";
    run_until_settled(name, &["--speed", "8"], async |studio| {
        complete_unstored_task(studio, false).await?;
        wait_for_stored_tasks(studio.browser, 1).await?;
        wait_until_no_warning(studio.browser).await
    })
    .await;
}

/// Guards against a next leader that neither warns nor retries when its storage is full too.
#[tokio::test(flavor = "multi_thread")]
async fn the_next_leader_warns_and_retries_until_storage_has_space() {
    let name = "the_next_leader_warns_and_retries_until_storage_has_space";
    run_until_settled(name, &["--speed", "8"], async |studio| {
        let browser = studio.browser;
        complete_unstored_task(studio, true).await?;
        studio
            .proxy
            .advance_clock_by_seconds(browser, Duration::from_secs(4))
            .await?;
        browser.wait_for_text(STORAGE_WARNING, TIMEOUT).await?;
        browser.run("window.full = false", vec![]).await?;
        wait_for_stored_tasks(studio.browser, 1).await?;
        wait_until_no_warning(browser).await
    })
    .await;
}

/// Guards against a batch that is not stored although its tasks are: its page said that nothing had been made yet.
#[tokio::test(flavor = "multi_thread")]
async fn another_tab_stores_a_batch_that_its_own_tab_could_not_store() {
    let name = "another_tab_stores_a_batch_that_its_own_tab_could_not_store";
    drive(name, async |browser| {
        let service = Service::start_with_site(&["--speed", "8"]).await?;
        let address = service.address();
        let batch = containing("article", "one and 2 others");
        browser.before_each_page(BREAKABLE).await?;
        browser
            .open(&format!("{address}/models/image/tessera?mode=batch"))
            .await?;
        browser
            .fill(&by("textbox", "Prompts"), "one\ntwo\nthree")
            .await?;
        let sender = browser.client.window().await?;
        let other = browser.open_tab("about:blank").await?;
        browser.switch_to(&other).await?;
        browser.before_each_page(BREAKABLE).await?;
        browser.open(&format!("{address}/tasks")).await?;
        browser.switch_to(&sender).await?;
        browser.run("window.full = true", vec![]).await?;
        browser
            .press_with_enter(&by("button", "Generate 3"))
            .await?;
        browser.switch_to(&other).await?;
        browser.find(&batch).await?;
        browser.switch_to(&sender).await?;
        browser.close_tab().await?;
        browser.switch_to(&other).await?;
        wait_for_stored_tasks(browser, 3).await?;
        // The batch is written after its tasks.
        wait_for_stored_records(browser, "batches", 1).await?;
        browser.reload().await?;
        browser.find(&batch).await?;
        Ok(())
    })
    .await;
}

/// Guards against a paid task that is lost without a warning when its tab is closed, because it is not stored.
#[tokio::test(flavor = "multi_thread")]
async fn the_browser_asks_before_leaving_only_while_tasks_are_unstored() {
    let name = "the_browser_asks_before_leaving_only_while_tasks_are_unstored";
    run_until_settled(name, &["--speed", "8"], async |studio| {
        let browser = studio.browser;
        run_before_each_page(studio, BREAKABLE).await?;
        let form = studio.open_model().await?;
        studio.generate(&form, "kept").await?;
        wait_for_value(browser, "a question", ASKS_BEFORE_LEAVING, json!(false)).await?;
        browser.run("window.full = true", vec![]).await?;
        studio.generate(&form, "not kept").await?;
        send_anyway(browser).await?;
        wait_for_value(browser, "a question", ASKS_BEFORE_LEAVING, json!(true)).await?;
        // The completed task is paid for and still not stored.
        studio.show_tasks().await?;
        studio.wait_for_states(&[("not kept", "Completed")]).await?;
        wait_for_value(browser, "a question", ASKS_BEFORE_LEAVING, json!(true)).await?;
        browser.run("window.full = false", vec![]).await?;
        wait_until_no_warning(browser).await?;
        wait_for_value(browser, "a question", ASKS_BEFORE_LEAVING, json!(false)).await
    })
    .await;
}

/// Guards against a leading tab that does not ask because it has only ever shown the list of models.
#[tokio::test(flavor = "multi_thread")]
async fn a_leading_tab_that_shows_only_the_model_list_asks_before_leaving() {
    let name = "a_leading_tab_that_shows_only_the_model_list_asks_before_leaving";
    run_until_settled(name, &["--speed", "8"], async |studio| {
        let browser = studio.browser;
        run_before_each_page(studio, BREAKABLE).await?;
        let form = studio.open_model().await?;
        let leader = browser.client.window().await?;
        let follower = browser.open_tab("about:blank").await?;
        browser.switch_to(&follower).await?;
        run_before_each_page(studio, BREAKABLE).await?;
        studio.open("/").await?;
        browser.run("window.full = true", vec![]).await?;
        browser.switch_to(&leader).await?;
        browser.run("window.full = true", vec![]).await?;
        studio.generate(&form, "paid").await?;
        send_anyway(browser).await?;
        studio.wait_for_accepted(1).await?;
        browser.close_tab().await?;
        browser.switch_to(&follower).await?;
        wait_for_value(browser, "a question", ASKS_BEFORE_LEAVING, json!(true)).await?;
        browser.run("window.full = false", vec![]).await?;
        wait_for_stored_tasks(browser, 1).await
    })
    .await;
}
