//! What the tab that leads can't store is stored by another one, or both say that it is not.

use crate::storage::{BREAKABLE, NOT_KEPT, send_anyway, until_kept, until_stored, until_stored_in};
use crate::studio::{Studio, TIMEOUT, play};
use crate::tabs::run_first;
use atelier_end_to_end::Result;
use atelier_end_to_end::find::{by, containing};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::becomes;
use serde_json::json;
use std::time::Duration;

/// Whether the browser would ask before the page is left.
const ASKS: &str = "
    const leaving = new Event('beforeunload', { cancelable: true });
    return !window.dispatchEvent(leaving)";

/// A task that is completed by now, and that the tab that led when it was sent could not store. That tab is closed, and a
/// second one is there.
async fn follow_what_is_not_stored(studio: &mut Studio<'_>, is_full_for_both: bool) -> Result<()> {
    let browser = studio.browser;
    run_first(studio, BREAKABLE).await?;
    studio.proxy.control_clock(browser).await?;
    let form = studio.open_model().await?;
    let leader = browser.client.window().await?;
    browser.open_tab("about:blank").await?;
    run_first(studio, BREAKABLE).await?;
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
    studio.see(&[("paid", "Completed")]).await?;
    if is_full_for_both {
        browser.see_text(NOT_KEPT, TIMEOUT).await?;
    }
    // Nothing is lost with this one.
    becomes(browser, "no question", ASKS, json!(false)).await?;
    browser.switch_to(&leader).await?;
    browser.close_tab().await?;
    browser.switch_to(&follower).await
}

/// Guards against a paid task that is lost: another tab could store it, and did not.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_last_leader_could_not_store_is_stored_by_the_next() {
    let name = "what_the_last_leader_could_not_store_is_stored_by_the_next";
    play(name, &["--speed", "8"], async |studio| {
        follow_what_is_not_stored(studio, false).await?;
        until_stored(studio.browser, 1).await?;
        until_kept(studio.browser).await
    })
    .await;
}

/// Guards against the same where there is no room for the next one either: it said nothing any more, and tried nothing.
#[tokio::test(flavor = "multi_thread")]
async fn where_the_next_cannot_store_it_either_that_is_said_until_there_is_room() {
    let name = "where_the_next_cannot_store_it_either";
    play(name, &["--speed", "8"], async |studio| {
        let browser = studio.browser;
        follow_what_is_not_stored(studio, true).await?;
        studio
            .proxy
            .let_pass(browser, Duration::from_secs(4))
            .await?;
        browser.see_text(NOT_KEPT, TIMEOUT).await?;
        browser.run("window.full = false", vec![]).await?;
        until_stored(studio.browser, 1).await?;
        until_kept(browser).await
    })
    .await;
}

/// Guards against a batch whose tasks are kept and which itself is not: its page said that nothing had been made yet.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_that_its_tab_could_not_store_is_stored_by_another_one() {
    let name = "a_batch_that_its_tab_could_not_store";
    drive(name, async |browser| {
        let service = Service::with_site(&["--speed", "8"]).await?;
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
        browser.press(&by("button", "Generate 3")).await?;
        browser.switch_to(&other).await?;
        browser.find(&batch).await?;
        browser.switch_to(&sender).await?;
        browser.close_tab().await?;
        browser.switch_to(&other).await?;
        until_stored(browser, 3).await?;
        // It is written after its tasks.
        until_stored_in(browser, "batches", 1).await?;
        browser.reload().await?;
        browser.find(&batch).await?;
        Ok(())
    })
    .await;
}

/// Guards against a paid task that goes with its tab without a word: it stands in no storage.
#[tokio::test(flavor = "multi_thread")]
async fn leaving_is_asked_about_only_while_something_would_be_lost() {
    let name = "leaving_is_asked_about";
    play(name, &["--speed", "8"], async |studio| {
        let browser = studio.browser;
        run_first(studio, BREAKABLE).await?;
        let form = studio.open_model().await?;
        studio.generate(&form, "kept").await?;
        becomes(browser, "a question", ASKS, json!(false)).await?;
        browser.run("window.full = true", vec![]).await?;
        studio.generate(&form, "not kept").await?;
        send_anyway(browser).await?;
        becomes(browser, "a question", ASKS, json!(true)).await?;
        // Completed it is paid, and stands in no storage either.
        studio.show_tasks().await?;
        studio.see(&[("not kept", "Completed")]).await?;
        becomes(browser, "a question", ASKS, json!(true)).await?;
        browser.run("window.full = false", vec![]).await?;
        until_kept(browser).await?;
        becomes(browser, "a question", ASKS, json!(false)).await
    })
    .await;
}

/// Guards against the same with a tab that leads by now and has only ever shown the list of models.
#[tokio::test(flavor = "multi_thread")]
async fn a_tab_that_shows_the_list_alone_asks_as_well() {
    let name = "a_tab_that_shows_the_list_alone_asks";
    play(name, &["--speed", "8"], async |studio| {
        let browser = studio.browser;
        run_first(studio, BREAKABLE).await?;
        let form = studio.open_model().await?;
        let leader = browser.client.window().await?;
        let follower = browser.open_tab("about:blank").await?;
        browser.switch_to(&follower).await?;
        run_first(studio, BREAKABLE).await?;
        studio.open("/").await?;
        browser.run("window.full = true", vec![]).await?;
        browser.switch_to(&leader).await?;
        browser.run("window.full = true", vec![]).await?;
        studio.generate(&form, "paid").await?;
        send_anyway(browser).await?;
        studio.accepted(1).await?;
        browser.close_tab().await?;
        browser.switch_to(&follower).await?;
        becomes(browser, "a question", ASKS, json!(true)).await?;
        browser.run("window.full = false", vec![]).await?;
        until_stored(browser, 1).await
    })
    .await;
}
