//! A tab that can't write leaves leading to one that can, and nothing is lost or sent twice by that.

use crate::storage::{NOT_KEPT, send_anyway, until_kept, until_stored, until_stored_in};
use crate::studio::{Form, Studio, TIMEOUT, play, play_without_keys};
use crate::tabs::run_first;
use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::{by, containing};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use fantoccini::wd::WindowHandle;

/// A database that one tab alone can lose: it is gone (`lost`), full, or never says that something is written although
/// it is (`unsure`).
const LOSABLE: &str = "
    const open = IDBFactory.prototype.open;
    IDBFactory.prototype.open = function (...args) {
        if (window.lost) throw new DOMException('no', 'UnknownError');
        return open.apply(this, args);
    };
    const begin = IDBDatabase.prototype.transaction;
    IDBDatabase.prototype.transaction = function (...args) {
        if (window.lost) throw new DOMException('gone', 'InvalidStateError');
        return begin.apply(this, args);
    };
    const put = IDBObjectStore.prototype.put;
    IDBObjectStore.prototype.put = function (...args) {
        if (window.full) throw new DOMException('full', 'QuotaExceededError');
        return put.apply(this, args);
    };
    Object.defineProperty(IDBTransaction.prototype, 'oncomplete', {
        set(listener) {
            if (!window.unsure) this.addEventListener('complete', listener);
        },
    });";

/// Two tabs at the model's page, of which the first leads and has sent a task, and is the present one.
async fn two_tabs(studio: &mut Studio<'_>) -> Result<[(WindowHandle, Form); 2]> {
    let browser = studio.browser;
    run_first(studio, LOSABLE).await?;
    let form = studio.open_model().await?;
    studio.generate(&form, "before").await?;
    studio.accepted(1).await?;
    let first = (browser.client.window().await?, form);
    browser.open_tab("about:blank").await?;
    browser.set_size(1280, 4000).await?;
    run_first(studio, LOSABLE).await?;
    let form = studio.open_model().await?;
    let second = (browser.client.window().await?, form);
    browser.switch_to(&first.0).await?;
    Ok([first, second])
}

/// Guards against a tab whose database works and which refuses to send, with the warning of another tab, because that
/// one leads and has lost its database.
#[tokio::test(flavor = "multi_thread")]
async fn a_tab_that_has_lost_its_database_leaves_leading_to_another() {
    let name = "a_tab_that_has_lost_its_database";
    play_without_keys(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        let [(first, form), (second, other)] = two_tabs(studio).await?;
        browser.run("window.lost = true", vec![]).await?;
        studio.generate(&form, "of the first").await?;
        studio.accepted(2).await?;
        until_kept(browser).await?;

        browser.switch_to(&second).await?;
        until_kept(browser).await?;
        studio.generate(&other, "of the second").await?;
        studio.accepted(3).await?;
        // The first one follows, and what is sent there is stored by the other.
        browser.switch_to(&first).await?;
        studio.generate(&form, "of the first, too").await?;
        studio.accepted(4).await?;
        browser.close_tab().await?;

        browser.switch_to(&second).await?;
        until_stored(browser, 4).await?;
        studio.show_tasks().await?;
        studio
            .see(&[
                ("of the first", "Completed"),
                ("of the second", "Completed"),
                ("of the first, too", "Completed"),
            ])
            .await
    })
    .await;
}

/// Guards against a task that becomes Unconfirmed although its page said that nothing was sent: that it was being sent
/// was stored, and the tab did not hear of it.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_certainly_not_sent_is_sent_by_the_tab_that_can_write() {
    let name = "what_was_certainly_not_sent_is_sent";
    play_without_keys(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        let [(_, form), (second, _)] = two_tabs(studio).await?;
        browser.run("window.unsure = true", vec![]).await?;
        studio.generate(&form, "unsure").await?;
        studio.accepted(2).await?;
        browser.close_tab().await?;
        browser.switch_to(&second).await?;
        studio.show_tasks().await?;
        studio.see(&[("unsure", "Completed")]).await?;
        assert_eq!(studio.sent("unsure"), 1);
        Ok(())
    })
    .await;
}

/// Guards against two tabs that both can't write: they would hand leadership to and fro for ever, or make what was not
/// sent Unconfirmed.
#[tokio::test(flavor = "multi_thread")]
async fn where_no_tab_can_write_what_was_not_sent_stays_queued() {
    let name = "where_no_tab_can_write";
    play(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        let [(first, form), (second, _)] = two_tabs(studio).await?;
        browser.switch_to(&second).await?;
        browser.run("window.full = true", vec![]).await?;
        browser.switch_to(&first).await?;
        browser.run("window.full = true", vec![]).await?;
        studio.generate(&form, "waits").await?;
        browser.find(&by("dialog", "Send without keeping")).await?;
        browser.see_text(NOT_KEPT, TIMEOUT).await?;
        browser.close_tab().await?;

        browser.switch_to(&second).await?;
        let question = browser.find(&by("dialog", "Send without keeping")).await?;
        let not_yet = by("button", "Not yet").within(&question);
        browser.press(&not_yet).await?;
        studio.show_tasks().await?;
        studio.see(&[("waits", "Queued")]).await?;
        assert_eq!(studio.sent("waits"), 0, "it was sent unasked");
        browser.run("window.full = false", vec![]).await?;
        studio.see(&[("waits", "Completed")]).await?;
        until_kept(browser).await?;
        assert_eq!(studio.sent("waits"), 1);
        Ok(())
    })
    .await;
}

/// Opens the batch form in a tab that can lose its database, and types two prompts.
async fn type_batch(browser: &Browser, address: &str) -> Result<WindowHandle> {
    browser.before_each_page(LOSABLE).await?;
    let page = format!("{address}/models/image/tessera?mode=batch");
    browser.open(&page).await?;
    browser.fill(&by("textbox", "Prompts"), "one\ntwo").await?;
    browser.client.window().await.map_err(Into::into)
}

/// Opens a second tab at a model's form, which shows no batches, and leaves it in front.
async fn open_form(browser: &Browser, address: &str) -> Result<WindowHandle> {
    let tab = browser.open_tab("about:blank").await?;
    browser.switch_to(&tab).await?;
    browser.before_each_page(LOSABLE).await?;
    browser
        .open(&format!("{address}/models/image/tessera"))
        .await?;
    browser.find(&by("button", "Generate")).await?;
    Ok(tab)
}

/// Finds the batch among the tasks, also after a reload.
async fn has_batch(browser: &Browser, name: &str) -> Result<()> {
    until_stored(browser, 2).await?;
    until_stored_in(browser, "batches", 1).await?;
    let batch = containing("article", name);
    browser.press(&by("link", "Tasks")).await?;
    browser.find(&batch).await?;
    browser.reload().await?;
    browser.find(&batch).await?;
    Ok(())
}

/// Guards against a batch whose tasks are handed over and whose record is lost with the tab that sent it: its page said
/// "not found". The other tab showed no batches when it was sent.
#[tokio::test(flavor = "multi_thread")]
async fn the_record_of_a_batch_reaches_a_tab_that_shows_no_batches() {
    drive("the_record_of_a_batch_reaches_a_tab", async |browser| {
        let service = Service::with_site(&["--speed", "8"]).await?;
        let address = service.address();
        let first = type_batch(browser, &address).await?;
        let second = open_form(browser, &address).await?;
        browser.switch_to(&first).await?;
        browser.run("window.lost = true", vec![]).await?;
        browser.press(&by("button", "Generate 2")).await?;
        browser.switch_to(&second).await?;
        until_stored(browser, 2).await?;
        browser.switch_to(&first).await?;
        until_kept(browser).await?;
        browser.close_tab().await?;
        browser.switch_to(&second).await?;
        has_batch(browser, "one and 1 other").await
    })
    .await;
}

/// The same where the second tab is opened later, so that only the hand-over can bring the record. Also guards against a
/// name that is lost with the first tab, which follows by then.
#[tokio::test(flavor = "multi_thread")]
async fn the_record_of_a_batch_is_handed_over_to_a_tab_that_is_opened_later() {
    drive("the_record_of_a_batch_is_handed_over", async |browser| {
        let service = Service::with_site(&["--speed", "8"]).await?;
        let address = service.address();
        let first = type_batch(browser, &address).await?;
        browser.run("window.lost = true", vec![]).await?;
        browser.press(&by("button", "Generate 2")).await?;
        send_anyway(browser).await?;
        browser.find(&by("button", "Rename")).await?;
        let second = open_form(browser, &address).await?;
        until_stored_in(browser, "batches", 1).await?;
        browser.switch_to(&first).await?;
        until_kept(browser).await?;
        browser.press(&by("button", "Rename")).await?;
        let name = browser.find(&by("textbox", "Batch name")).await?;
        name.send_keys("Harbour\u{e007}").await?;
        browser.find(&by("article", "Batch: Harbour")).await?;
        browser.close_tab().await?;
        browser.switch_to(&second).await?;
        has_batch(browser, "Harbour").await
    })
    .await;
}
