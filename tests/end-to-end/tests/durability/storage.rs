//! Storage that never responds, throws, disappears or is full. Running tasks continue, and the page warns. New tasks are
//! sent only after confirmation, and tasks are stored once storage works again.

use crate::studio::{Studio, TIMEOUT, run_until_settled};
use crate::tabs::run_before_each_page;
use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::FaultProxy;
use atelier_end_to_end::find::{by, containing, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, until};

pub const STORAGE_WARNING: &str = "Tasks are not being stored";

/// Completes a task in a page whose storage the script breaks from the start, and checks the warnings.
async fn complete_task_after(name: &str, script: &str) {
    drive(name, async |browser| {
        let service = Service::start_with_site(&["--speed", "0.2"]).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        proxy.before_each_page(browser, script).await?;
        let address = format!("{}/models/image/tessera", proxy.address());
        browser.open(&address).await?;
        browser.find(&by("heading", "Tessera")).await?;
        browser
            .fill(&starting("textbox", "prompt"), "in memory")
            .await?;
        browser.press_with_enter(&by("button", "Generate")).await?;
        browser.find(&containing("article", "in memory")).await?;
        browser.wait_for_text("Completed", TIMEOUT).await?;
        check_every_page_warns(browser).await?;
        browser.press(&by("link", "Tasks")).await?;
        browser.find(&containing("article", "in memory")).await?;
        Ok(())
    })
    .await;
}

/// Checks that every page shows the warning.
async fn check_every_page_warns(browser: &Browser) -> Result<()> {
    browser.wait_for_text(STORAGE_WARNING, TIMEOUT).await?;
    for page in ["Tasks", "Settings", "Models"] {
        browser.press(&by("link", page)).await?;
        browser.find(&by("heading", page)).await?;
        browser.wait_for_text(STORAGE_WARNING, TIMEOUT).await?;
        if page == "Settings" {
            // Settings say that outputs are not cached and that the page does not work offline.
            for text in ["no outputs are kept", "Atelier needs the network"] {
                browser.wait_for_text(text, TIMEOUT).await?;
            }
        }
    }
    Ok(())
}

/// Guards against tasks that stay Queued forever because the database never opens.
#[tokio::test(flavor = "multi_thread")]
async fn tasks_are_sent_although_storage_never_responds() {
    let script = "IDBFactory.prototype.open = () => new EventTarget()";
    complete_task_after("tasks_are_sent_although_storage_never_responds", script).await;
}

/// Guards against a page that stores nothing and warns only in the list of tasks.
#[tokio::test(flavor = "multi_thread")]
async fn every_page_warns_when_storage_throws() {
    let script = "
        IDBFactory.prototype.open = () => { throw new DOMException('no', 'SecurityError') }";
    complete_task_after("every_page_warns_when_storage_throws", script).await;
}

async fn clear_storage(studio: &Studio<'_>) -> Result<()> {
    let origin = studio.proxy.address();
    studio.browser.clear_databases(&origin).await
}

/// Guards against paid tasks that the next reload loses because they are not written again after the user has cleared the
/// site's data.
#[tokio::test(flavor = "multi_thread")]
async fn tasks_are_stored_again_after_site_data_is_cleared() {
    let name = "tasks_are_stored_again_after_site_data_is_cleared";
    run_until_settled(name, &["--speed", "1"], async |studio| {
        let form = studio.find_form().await?;
        studio.generate(&form, "before").await?;
        studio.wait_for_accepted(1).await?;
        clear_storage(studio).await?;
        studio.generate(&form, "after").await?;
        studio.wait_for_accepted(2).await?;
        studio.show_tasks().await?;
        studio
            .wait_for_states(&[("before", "Completed"), ("after", "Completed")])
            .await?;
        // `play` reloads the page when it checks the ledger.
        Ok(())
    })
    .await;
}

/// Guards against tasks that the leader does not store again, while another tab follows.
#[tokio::test(flavor = "multi_thread")]
async fn the_leader_stores_tasks_again_after_site_data_is_cleared() {
    let name = "the_leader_stores_tasks_again_after_site_data_is_cleared";
    run_until_settled(name, &["--speed", "1"], async |studio| {
        studio.open_model_tab().await?;
        studio.browser.set_size(1280, 4000).await?;
        let form = studio.find_form().await?;
        studio.generate(&form, "of the follower").await?;
        studio.wait_for_accepted(1).await?;
        clear_storage(studio).await?;
        studio.generate(&form, "of the follower, too").await?;
        studio.show_tasks().await?;
        studio
            .wait_for_states(&[
                ("of the follower", "Completed"),
                ("of the follower, too", "Completed"),
            ])
            .await
    })
    .await;
}

/// Guards against the loss of all tasks if the leader is closed before it has stored the cleared tasks again. The next
/// leader had the tasks in memory, but concluded from the empty storage that they had been removed.
#[tokio::test(flavor = "multi_thread")]
async fn the_next_leader_stores_tasks_again_after_site_data_is_cleared() {
    let name = "the_next_leader_stores_tasks_again_after_site_data_is_cleared";
    run_until_settled(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        run_before_each_page(studio, BREAKABLE).await?;
        let form = studio.open_model().await?;
        let leader = browser.client.window().await?;
        studio.generate(&form, "one").await?;
        studio.generate(&form, "two").await?;
        studio.wait_for_accepted(2).await?;
        let follower = studio.open_model_tab().await?;
        browser.find(&containing("article", "one")).await?;

        browser.switch_to(&leader).await?;
        browser.run("window.broken = true", vec![]).await?;
        clear_storage(studio).await?;
        browser.close_tab().await?;
        browser.switch_to(&follower).await?;
        wait_for_stored_tasks(browser, 2).await?;
        studio.open_tasks().await?;
        studio
            .wait_for_states(&[("one", "Completed"), ("two", "Completed")])
            .await
    })
    .await;
}

/// Guards against a tab that permanently shows only some of the tasks: it was opened while storage was empty, and the tab
/// that has all tasks in memory can't write them.
#[tokio::test(flavor = "multi_thread")]
async fn a_tab_opened_while_storage_is_empty_receives_all_tasks() {
    let name = "a_tab_opened_while_storage_is_empty_receives_all_tasks";
    run_until_settled(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        run_before_each_page(studio, BREAKABLE).await?;
        let form = studio.open_model().await?;
        studio.generate(&form, "one").await?;
        studio.wait_for_accepted(1).await?;
        browser.wait_for_text("Completed", TIMEOUT).await?;
        browser.run("window.broken = true", vec![]).await?;
        clear_storage(studio).await?;
        browser.wait_for_text(STORAGE_WARNING, TIMEOUT).await?;

        studio.open_model_tab().await?;
        let one = containing("article", "one");
        browser.find_with_limit(&one, TIMEOUT).await?;
        wait_for_stored_tasks(browser, 1).await
    })
    .await;
}

/// Guards against the loss of all tasks if the leader was opened after the site's data was cleared. The browser then
/// forgets which tabs wait for the lock and grants it to the next request. The new leader had no tasks, and the tabs that
/// had them waited for its list.
#[tokio::test(flavor = "multi_thread")]
async fn a_leader_opened_after_clearing_receives_the_cleared_tasks() {
    let name = "a_leader_opened_after_clearing_receives_the_cleared_tasks";
    run_until_settled(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        run_before_each_page(studio, BREAKABLE).await?;
        let form = studio.open_model().await?;
        let leader = browser.client.window().await?;
        studio.generate(&form, "one").await?;
        studio.generate(&form, "two").await?;
        studio.wait_for_accepted(2).await?;
        let follower = studio.open_model_tab().await?;
        browser.find(&containing("article", "one")).await?;

        browser.switch_to(&leader).await?;
        browser.run("window.broken = true", vec![]).await?;
        studio.proxy.clear_site(browser).await?;
        let new_tab = studio.open_model_tab().await?;
        browser.switch_to(&leader).await?;
        browser.close_tab().await?;
        browser.switch_to(&new_tab).await?;
        wait_for_stored_tasks(browser, 2).await?;
        browser.switch_to(&follower).await?;
        browser.close_tab().await?;
        browser.switch_to(&new_tab).await?;
        studio.show_tasks().await?;
        studio
            .wait_for_states(&[("one", "Completed"), ("two", "Completed")])
            .await
    })
    .await;
}

/// Waits until exactly `count` tasks are stored.
pub async fn wait_for_stored_tasks(browser: &Browser, count: u64) -> Result<()> {
    wait_for_stored_records(browser, "tasks", count).await
}

/// Waits until an object store contains exactly `count` records.
pub async fn wait_for_stored_records(browser: &Browser, store: &str, count: u64) -> Result<()> {
    until(
        format!("{count} {store} to be stored"),
        TIMEOUT,
        async || {
            let stored = browser.run(COUNT_STORED, vec![store.into()]).await?;
            Ok(match stored.as_u64() {
                Some(stored) if stored == count => Seen::Yes(()),
                _ => Seen::NotYet(format!("{stored} are stored")),
            })
        },
    )
    .await
}

/// A script that returns the number of records in an object store.
const COUNT_STORED: &str = "
    const [store] = arguments;
    return (async () => {
        const answer = request => new Promise((resolve, reject) => {
            request.onsuccess = () => resolve(request.result);
            request.onerror = () => reject(request.error);
        });
        const names = (await indexedDB.databases()).map(database => database.name);
        if (!names.includes('atelier')) return 0;
        const database = await answer(indexedDB.open('atelier'));
        try {
            return await answer(database.transaction(store).objectStore(store).count());
        } finally {
            database.close();
        }
    })();";

/// Lets a test break the database: `window.broken` makes opening it fail, `window.full` every write.
pub const BREAKABLE: &str = "
    window.broken = false;
    const open = IDBFactory.prototype.open;
    IDBFactory.prototype.open = function (...args) {
        if (window.broken) throw new DOMException('no', 'UnknownError');
        return open.apply(this, args);
    };
    const put = IDBObjectStore.prototype.put;
    IDBObjectStore.prototype.put = function (...args) {
        if (window.full) throw new DOMException('full', 'QuotaExceededError');
        return put.apply(this, args);
    };";

/// Guards against a task that is sent, billed and lost although the page knew that it could not be stored.
#[tokio::test(flavor = "multi_thread")]
async fn tasks_that_cannot_be_stored_are_sent_only_after_confirmation() {
    let name = "tasks_that_cannot_be_stored_are_sent_only_after_confirmation";
    run_until_settled(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        run_before_each_page(studio, BREAKABLE).await?;
        let form = studio.open_model().await?;
        studio.generate(&form, "kept").await?;
        studio.wait_for_accepted(1).await?;
        browser.run("window.broken = true", vec![]).await?;
        clear_storage(studio).await?;
        browser.wait_for_text(STORAGE_WARNING, TIMEOUT).await?;
        studio.generate(&form, "not kept").await?;
        browser.find(&by("dialog", "Send without keeping")).await?;
        assert_eq!(
            studio.times_sent("not kept"),
            0,
            "sent without confirmation"
        );
        send_anyway(browser).await?;
        studio.wait_for_accepted(2).await?;
        check_every_page_warns(browser).await?;

        // Once storage works again, the task is stored and the warning disappears.
        browser.run("window.broken = false", vec![]).await?;
        wait_until_no_warning(browser).await?;
        Ok(())
    })
    .await;
}

/// Guards against sending a task while storage is still full, if the user frees space instead of confirming.
#[tokio::test(flavor = "multi_thread")]
async fn tasks_wait_until_full_storage_has_space() {
    let name = "tasks_wait_until_full_storage_has_space";
    run_until_settled(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        run_before_each_page(studio, BREAKABLE).await?;
        let form = studio.open_model().await?;
        browser.run("window.full = true", vec![]).await?;
        studio.generate(&form, "waits for room").await?;
        let question = browser.find(&by("dialog", "Send without keeping")).await?;
        browser
            .press(&by("button", "Not yet").within(&question))
            .await?;
        browser.wait_for_text(STORAGE_WARNING, TIMEOUT).await?;
        assert_eq!(
            studio.times_sent("waits for room"),
            0,
            "sent without confirmation"
        );
        browser.run("window.full = false", vec![]).await?;
        wait_until_no_warning(browser).await?;
        studio.wait_for_accepted(1).await?;
        Ok(())
    })
    .await;
}

/// Confirms the dialog that appears when a task can't be stored.
pub async fn send_anyway(browser: &Browser) -> Result<()> {
    let question = browser.find(&by("dialog", "Send without keeping")).await?;
    browser
        .press(&by("button", "Send anyway").within(&question))
        .await
}

/// Waits until the page no longer warns that tasks are not stored.
pub async fn wait_until_no_warning(browser: &Browser) -> Result<()> {
    until("the storage warning to disappear", TIMEOUT, async || {
        let shown = browser
            .run("return document.body.innerText", vec![])
            .await?;
        Ok(
            if shown
                .as_str()
                .is_some_and(|text| text.contains(STORAGE_WARNING))
            {
                Seen::NotYet("the page still shows the warning".into())
            } else {
                Seen::Yes(())
            },
        )
    })
    .await
}
