//! A leading tab that can't write hands over to a tab that can. Nothing is lost or sent twice.

use crate::storage::{
    STORAGE_WARNING, send_anyway, wait_for_stored_records, wait_for_stored_tasks,
    wait_until_no_warning,
};
use crate::studio::{Form, Studio, TIMEOUT, run_until_settled, run_without_keys_until_settled};
use crate::tabs::run_before_each_page;
use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::{by, containing};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use fantoccini::wd::WindowHandle;

/// Lets a test break the database in one tab: `window.lost` makes every access fail, `window.full` makes every write
/// fail, and with `window.unsure`, writes succeed but their success is not reported.
const FAULTY_DATABASE: &str = "
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

/// Opens two tabs at the model's page. The first tab leads, has sent a task, and is the current tab.
async fn open_two_tabs(studio: &mut Studio<'_>) -> Result<[(WindowHandle, Form); 2]> {
    let browser = studio.browser;
    run_before_each_page(studio, FAULTY_DATABASE).await?;
    let form = studio.open_model().await?;
    studio.generate(&form, "before").await?;
    studio.wait_for_accepted(1).await?;
    let first = (browser.client.window().await?, form);
    browser.open_tab("about:blank").await?;
    browser.set_size(1280, 4000).await?;
    run_before_each_page(studio, FAULTY_DATABASE).await?;
    let form = studio.open_model().await?;
    let second = (browser.client.window().await?, form);
    browser.switch_to(&first.0).await?;
    Ok([first, second])
}

/// Guards against a tab that refuses to send although its database works, because the leading tab has lost its database.
#[tokio::test(flavor = "multi_thread")]
async fn another_tab_leads_after_the_leader_lost_its_database() {
    let name = "another_tab_leads_after_the_leader_lost_its_database";
    run_without_keys_until_settled(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        let [(first, form), (second, other)] = open_two_tabs(studio).await?;
        browser.run("window.lost = true", vec![]).await?;
        studio.generate(&form, "of the first").await?;
        studio.wait_for_accepted(2).await?;
        wait_until_no_warning(browser).await?;

        browser.switch_to(&second).await?;
        wait_until_no_warning(browser).await?;
        studio.generate(&other, "of the second").await?;
        studio.wait_for_accepted(3).await?;
        // The first tab follows now, and the second tab stores its tasks.
        browser.switch_to(&first).await?;
        studio.generate(&form, "of the first, too").await?;
        studio.wait_for_accepted(4).await?;
        browser.close_tab().await?;

        browser.switch_to(&second).await?;
        wait_for_stored_tasks(browser, 4).await?;
        studio.show_tasks().await?;
        studio
            .wait_for_states(&[
                ("of the first", "Completed"),
                ("of the second", "Completed"),
                ("of the first, too", "Completed"),
            ])
            .await
    })
    .await;
}

/// Guards against an unsent task that becomes Unconfirmed: its record was stored in the state "being sent", but the tab
/// was not notified that the write had succeeded.
#[tokio::test(flavor = "multi_thread")]
async fn a_tab_that_can_write_sends_what_the_leader_has_not_sent() {
    let name = "a_tab_that_can_write_sends_what_the_leader_has_not_sent";
    run_without_keys_until_settled(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        let [(_, form), (second, _)] = open_two_tabs(studio).await?;
        browser.run("window.unsure = true", vec![]).await?;
        studio.generate(&form, "unsure").await?;
        studio.wait_for_accepted(2).await?;
        browser.close_tab().await?;
        browser.switch_to(&second).await?;
        studio.show_tasks().await?;
        studio.wait_for_states(&[("unsure", "Completed")]).await?;
        assert_eq!(studio.times_sent("unsure"), 1);
        Ok(())
    })
    .await;
}

/// Guards against two tabs without working storage that hand leadership back and forth forever, or that mark unsent
/// tasks as Unconfirmed.
#[tokio::test(flavor = "multi_thread")]
async fn unsent_tasks_stay_queued_while_no_tab_can_write() {
    let name = "unsent_tasks_stay_queued_while_no_tab_can_write";
    run_until_settled(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        let [(first, form), (second, _)] = open_two_tabs(studio).await?;
        browser.switch_to(&second).await?;
        browser.run("window.full = true", vec![]).await?;
        browser.switch_to(&first).await?;
        browser.run("window.full = true", vec![]).await?;
        studio.generate(&form, "waits").await?;
        browser.find(&by("dialog", "Send without keeping")).await?;
        browser.wait_for_text(STORAGE_WARNING, TIMEOUT).await?;
        browser.close_tab().await?;

        browser.switch_to(&second).await?;
        let question = browser.find(&by("dialog", "Send without keeping")).await?;
        let not_yet = by("button", "Not yet").within(&question);
        browser.press(&not_yet).await?;
        studio.show_tasks().await?;
        studio.wait_for_states(&[("waits", "Queued")]).await?;
        assert_eq!(studio.times_sent("waits"), 0, "sent without confirmation");
        browser.run("window.full = false", vec![]).await?;
        studio.wait_for_states(&[("waits", "Completed")]).await?;
        wait_until_no_warning(browser).await?;
        assert_eq!(studio.times_sent("waits"), 1);
        Ok(())
    })
    .await;
}

/// Opens the batch form in a tab whose database can be broken.
async fn open_batch_form(browser: &Browser, address: &str) -> Result<WindowHandle> {
    browser.before_each_page(FAULTY_DATABASE).await?;
    let page = format!("{address}/models/image/tessera?mode=batch");
    browser.open(&page).await?;
    browser.find(&by("textbox", "Prompts")).await?;
    browser.client.window().await.map_err(Into::into)
}

/// Breaks the database of the tab, and sends a batch of two items.
async fn send_without_storage(browser: &Browser) -> Result<()> {
    browser.run("window.lost = true", vec![]).await?;
    browser.fill(&by("textbox", "Prompts"), "one\ntwo").await?;
    // This warning moves Generate. If it appeared during the press, the press would miss.
    let warning = "These rows are not being stored";
    browser.wait_for_text(warning, TIMEOUT).await?;
    browser.press(&by("button", "Generate 2")).await
}

/// Opens a second tab at a model's form, which shows no batches, and keeps it as the current tab.
async fn open_form(browser: &Browser, address: &str) -> Result<WindowHandle> {
    let tab = browser.open_tab("about:blank").await?;
    browser.switch_to(&tab).await?;
    browser.before_each_page(FAULTY_DATABASE).await?;
    browser
        .open(&format!("{address}/models/image/tessera"))
        .await?;
    browser.find(&by("button", "Generate")).await?;
    Ok(tab)
}

/// Waits until the batch is stored, and finds it among the tasks before and after a reload.
async fn check_batch(browser: &Browser, name: &str) -> Result<()> {
    wait_for_stored_tasks(browser, 2).await?;
    wait_for_stored_records(browser, "batches", 1).await?;
    let batch = containing("article", name);
    browser.press(&by("link", "Tasks")).await?;
    browser.find(&batch).await?;
    browser.reload().await?;
    browser.find(&batch).await?;
    Ok(())
}

/// The tasks of a batch are handed over to a tab that showed no batches when the batch was sent. Guards against the
/// batch's own record being lost with the first tab, after which the batch was "not found".
#[tokio::test(flavor = "multi_thread")]
async fn the_record_of_a_batch_reaches_a_tab_that_shows_no_batches() {
    let name = "the_record_of_a_batch_reaches_a_tab_that_shows_no_batches";
    drive(name, async |browser| {
        let service = Service::start_with_site(&["--speed", "8"]).await?;
        let address = service.address();
        let first = open_batch_form(browser, &address).await?;
        let second = open_form(browser, &address).await?;
        browser.switch_to(&first).await?;
        send_without_storage(browser).await?;
        browser.switch_to(&second).await?;
        wait_for_stored_tasks(browser, 2).await?;
        browser.switch_to(&first).await?;
        wait_until_no_warning(browser).await?;
        browser.close_tab().await?;
        browser.switch_to(&second).await?;
        check_batch(browser, "one and 1 other").await
    })
    .await;
}

/// Guards against losing a batch's record when the second tab is opened only after the batch was sent, so that only the
/// handover can transfer the record. Also guards against losing a new batch name that the first tab sets after it has
/// become a follower.
#[tokio::test(flavor = "multi_thread")]
async fn the_record_of_a_batch_is_handed_over_to_a_tab_opened_later() {
    let name = "the_record_of_a_batch_is_handed_over_to_a_tab_opened_later";
    drive(name, async |browser| {
        let service = Service::start_with_site(&["--speed", "8"]).await?;
        let address = service.address();
        let first = open_batch_form(browser, &address).await?;
        send_without_storage(browser).await?;
        send_anyway(browser).await?;
        browser.find(&by("button", "Rename")).await?;
        let second = open_form(browser, &address).await?;
        wait_for_stored_records(browser, "batches", 1).await?;
        browser.switch_to(&first).await?;
        wait_until_no_warning(browser).await?;
        browser.press(&by("button", "Rename")).await?;
        let name = browser.find(&by("textbox", "Batch name")).await?;
        name.send_keys("Harbour\u{e007}").await?;
        browser.find(&by("article", "Batch: Harbour")).await?;
        browser.close_tab().await?;
        browser.switch_to(&second).await?;
        check_batch(browser, "Harbour").await
    })
    .await;
}
