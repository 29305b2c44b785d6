//! Storage that never answers, throws, goes away or is full: tasks go on, the page says so, nothing
//! that costs money is sent unasked once it can no longer be kept, and what can be kept again is.

use crate::studio::{Studio, TIMEOUT, play};
use crate::tabs::run_first;
use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::FaultProxy;
use atelier_end_to_end::find::{by, containing, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, until};

pub const NOT_KEPT: &str = "Tasks are not being kept";

/// A page of its own, whose storage is broken by the script from the start.
async fn generate_with(name: &str, script: &str) {
    drive(name, async |browser| {
        let service = Service::with_site(&["--speed", "0.2"]).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        proxy.before_each_page(browser, script).await?;
        let address = format!("{}/models/image/tessera", proxy.address());
        browser.open(&address).await?;
        browser.find(&by("heading", "Tessera")).await?;
        browser
            .fill(&starting("textbox", "prompt"), "in memory")
            .await?;
        browser.press(&by("button", "Generate")).await?;
        browser.find(&containing("article", "in memory")).await?;
        browser.see_text("Completed", TIMEOUT).await?;
        says_so_on_every_page(browser).await?;
        browser.press(&by("link", "Tasks")).await?;
        browser.find(&containing("article", "in memory")).await?;
        Ok(())
    })
    .await;
}

async fn says_so_on_every_page(browser: &Browser) -> Result<()> {
    browser.see_text(NOT_KEPT, TIMEOUT).await?;
    for page in ["Tasks", "Settings", "Models"] {
        browser.press(&by("link", page)).await?;
        browser.find(&by("heading", page)).await?;
        browser.see_text(NOT_KEPT, TIMEOUT).await?;
        if page == "Settings" {
            // Nothing is promised that can't be.
            for said in ["no outputs are kept", "Atelier needs the network"] {
                browser.see_text(said, TIMEOUT).await?;
            }
        }
    }
    Ok(())
}

/// Guards against tasks that stay Queued for ever behind a storage that never opens.
#[tokio::test(flavor = "multi_thread")]
async fn storage_that_never_answers_holds_nothing_up() {
    let script = "IDBFactory.prototype.open = () => new EventTarget()";
    generate_with("storage_that_never_answers", script).await;
}

/// Guards against a page that keeps nothing and says so nowhere but under Tasks.
#[tokio::test(flavor = "multi_thread")]
async fn storage_that_throws_is_spoken_of_on_every_page() {
    let script = "
        IDBFactory.prototype.open = () => { throw new DOMException('no', 'SecurityError') }";
    generate_with("storage_that_throws", script).await;
}

async fn clear_storage(studio: &Studio<'_>) -> Result<()> {
    let origin = studio.proxy.address();
    studio.browser.clear_databases(&origin).await
}

/// Guards against paid tasks that are written nowhere after the person has cleared the site's data:
/// the next reload lost them.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_cleared_from_storage_is_written_again() {
    let name = "what_is_cleared_from_storage_is_written_again";
    play(name, &["--speed", "1"], async |studio| {
        let form = studio.form().await?;
        studio.generate(&form, "before").await?;
        studio.accepted(1).await?;
        clear_storage(studio).await?;
        studio.generate(&form, "after").await?;
        studio.accepted(2).await?;
        studio.show_tasks().await?;
        studio
            .see(&[("before", "Completed"), ("after", "Completed")])
            .await?;
        // Loaded afresh when the ledger is balanced.
        Ok(())
    })
    .await;
}

/// The same while another tab follows.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_cleared_from_storage_is_written_again_by_the_tab_that_leads() {
    let name = "what_is_cleared_is_written_again_by_the_leader";
    play(name, &["--speed", "1"], async |studio| {
        studio.open_model_tab().await?;
        studio.browser.set_size(1280, 4000).await?;
        let form = studio.form().await?;
        studio.generate(&form, "of the follower").await?;
        studio.accepted(1).await?;
        clear_storage(studio).await?;
        studio.generate(&form, "of the follower, too").await?;
        studio.show_tasks().await?;
        studio
            .see(&[
                ("of the follower", "Completed"),
                ("of the follower, too", "Completed"),
            ])
            .await
    })
    .await;
}

/// Guards against all tasks being lost where the tab that leads goes before it has written again what
/// was cleared: the next one knew them, and believed storage that they had been removed.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_cleared_is_written_again_although_the_leader_has_gone() {
    let name = "what_is_cleared_is_written_again_although_the_leader_has_gone";
    play(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        run_first(studio, BREAKABLE).await?;
        let form = studio.open_model().await?;
        let leader = browser.client.window().await?;
        studio.generate(&form, "one").await?;
        studio.generate(&form, "two").await?;
        studio.accepted(2).await?;
        let follower = studio.open_model_tab().await?;
        browser.find(&containing("article", "one")).await?;

        browser.switch_to(&leader).await?;
        browser.run("window.broken = true", vec![]).await?;
        clear_storage(studio).await?;
        browser.close_tab().await?;
        browser.switch_to(&follower).await?;
        until_stored(browser, 2).await?;
        studio.open_tasks().await?;
        studio
            .see(&[("one", "Completed"), ("two", "Completed")])
            .await
    })
    .await;
}

/// Guards against a tab that shows a part of the tasks for good, because it was opened while storage was
/// empty and the tab that knew them all can't write them.
#[tokio::test(flavor = "multi_thread")]
async fn a_tab_that_was_opened_while_storage_was_empty_is_told_of_all_tasks() {
    let name = "a_tab_that_was_opened_while_storage_was_empty";
    play(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        run_first(studio, BREAKABLE).await?;
        let form = studio.open_model().await?;
        studio.generate(&form, "one").await?;
        studio.accepted(1).await?;
        browser.see_text("Completed", TIMEOUT).await?;
        browser.run("window.broken = true", vec![]).await?;
        clear_storage(studio).await?;
        browser.see_text(NOT_KEPT, TIMEOUT).await?;

        studio.open_model_tab().await?;
        let one = containing("article", "one");
        browser.find_for(&one, TIMEOUT).await?;
        until_stored(browser, 1).await
    })
    .await;
}

/// Guards against all tasks being lost where a tab leads that was opened after the site's data was cleared:
/// the browser has then forgotten who waits for its lock, and gives it to the next one that asks. That one
/// knew of nothing, and those who did waited for what it would say.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_cleared_is_handed_over_to_a_leader_that_never_knew_it() {
    let name = "what_is_cleared_is_handed_over_to_a_leader_that_never_knew_it";
    play(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        run_first(studio, BREAKABLE).await?;
        let form = studio.open_model().await?;
        let leader = browser.client.window().await?;
        studio.generate(&form, "one").await?;
        studio.generate(&form, "two").await?;
        studio.accepted(2).await?;
        let follower = studio.open_model_tab().await?;
        browser.find(&containing("article", "one")).await?;

        browser.switch_to(&leader).await?;
        browser.run("window.broken = true", vec![]).await?;
        studio.proxy.clear_site(browser).await?;
        let newcomer = studio.open_model_tab().await?;
        browser.switch_to(&leader).await?;
        browser.close_tab().await?;
        browser.switch_to(&newcomer).await?;
        until_stored(browser, 2).await?;
        browser.switch_to(&follower).await?;
        browser.close_tab().await?;
        browser.switch_to(&newcomer).await?;
        studio.show_tasks().await?;
        studio
            .see(&[("one", "Completed"), ("two", "Completed")])
            .await
    })
    .await;
}

/// Waits until so many tasks are stored.
pub async fn until_stored(browser: &Browser, count: u64) -> Result<()> {
    until_stored_in(browser, "tasks", count).await
}

/// Waits until so many records are in this object store.
pub async fn until_stored_in(browser: &Browser, store: &str, count: u64) -> Result<()> {
    until(
        format!("{count} {store} to be stored"),
        TIMEOUT,
        async || {
            let stored = browser.run(COUNT_STORED, vec![store.into()]).await?;
            Ok(match stored.as_u64() {
                Some(stored) if stored == count => Seen::Yes(()),
                _ => Seen::NotYet(format!("{stored} are")),
            })
        },
    )
    .await
}

/// How many records are in an object store.
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

/// Guards against a task that is sent, billed and lost although the page knew that it could not be
/// kept.
#[tokio::test(flavor = "multi_thread")]
async fn what_can_no_longer_be_kept_is_sent_only_after_asking() {
    let name = "what_can_no_longer_be_kept_is_sent_only_after_asking";
    play(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        run_first(studio, BREAKABLE).await?;
        let form = studio.open_model().await?;
        studio.generate(&form, "kept").await?;
        studio.accepted(1).await?;
        browser.run("window.broken = true", vec![]).await?;
        clear_storage(studio).await?;
        browser.see_text(NOT_KEPT, TIMEOUT).await?;
        studio.generate(&form, "not kept").await?;
        browser.find(&by("dialog", "Send without keeping")).await?;
        assert_eq!(studio.sent("not kept"), 0, "it was sent unasked");
        send_anyway(browser).await?;
        studio.accepted(2).await?;
        says_so_on_every_page(browser).await?;

        // Once it can be kept again, it is, and nothing is said any more.
        browser.run("window.broken = false", vec![]).await?;
        until_kept(browser).await?;
        Ok(())
    })
    .await;
}

/// The same where storage is full, and a person frees space instead of answering.
#[tokio::test(flavor = "multi_thread")]
async fn full_storage_holds_sending_until_there_is_room() {
    let name = "full_storage_holds_sending_until_there_is_room";
    play(name, &["--speed", "1"], async |studio| {
        let browser = studio.browser;
        run_first(studio, BREAKABLE).await?;
        let form = studio.open_model().await?;
        browser.run("window.full = true", vec![]).await?;
        studio.generate(&form, "waits for room").await?;
        let question = browser.find(&by("dialog", "Send without keeping")).await?;
        browser
            .press(&by("button", "Not yet").within(&question))
            .await?;
        browser.see_text(NOT_KEPT, TIMEOUT).await?;
        assert_eq!(studio.sent("waits for room"), 0, "it was sent unasked");
        browser.run("window.full = false", vec![]).await?;
        until_kept(browser).await?;
        studio.accepted(1).await?;
        Ok(())
    })
    .await;
}

/// Answers the question that comes where nothing can be kept.
pub async fn send_anyway(browser: &Browser) -> Result<()> {
    let question = browser.find(&by("dialog", "Send without keeping")).await?;
    browser
        .press(&by("button", "Send anyway").within(&question))
        .await
}

pub async fn until_kept(browser: &Browser) -> Result<()> {
    until("tasks to be kept again", TIMEOUT, async || {
        let shown = browser
            .run("return document.body.innerText", vec![])
            .await?;
        Ok(
            if shown.as_str().is_some_and(|text| text.contains(NOT_KEPT)) {
                Seen::NotYet("they are not".into())
            } else {
                Seen::Yes(())
            },
        )
    })
    .await
}
