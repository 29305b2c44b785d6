//! An older release runs after a newer one has upgraded the database: it is served again, or its tab is still open.

use std::time::Duration;

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::FaultProxy;
use atelier_end_to_end::find::{any, by, containing, starting};
use atelier_end_to_end::ledger::is_generate;
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::studio::TIMEOUT;
use atelier_end_to_end::wait::{Seen, until};

/// Upgrades the database, as a newer release would.
async fn upgrade(browser: &Browser) -> Result<()> {
    let script = "
        return new Promise((done, failed) => {
            const opened = indexedDB.open('atelier', 1000);
            opened.onerror = failed;
            opened.onsuccess = () => {
                opened.result.close();
                done();
            };
        });";
    browser.run(script, vec![]).await?;
    Ok(())
}

/// Submits a task and checks that the page refuses it and keeps the typed text.
async fn check_refused(browser: &Browser, prompt: &str) -> Result<()> {
    let field = starting("textbox", "prompt");
    browser.fill(&field, prompt).await?;
    browser.press(&by("button", "Generate")).await?;
    let alert = browser.find(&any("alert")).await?.text().await?;
    assert!(alert.starts_with("Not sent."), "{alert}");
    assert!(alert.contains("newer version of Atelier"), "{alert}");
    let typed = browser.find(&field).await?.prop("value").await?;
    assert_eq!(typed.as_deref(), Some(prompt), "the typed text is lost");
    Ok(())
}

/// Guards against a page that says `Nothing submitted yet.` although a paid task is stored, and against tasks that are
/// queued in a tab that can never send them and loses them at the next reload.
#[tokio::test(flavor = "multi_thread")]
async fn an_older_release_mentions_newer_data_and_queues_nothing() {
    let name = "an_older_release_mentions_newer_data_and_queues_nothing";
    drive(name, async |browser| {
        let service = Service::start_with_site(&["--speed", "0.2"]).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        let open = async |path: &str, heading: &str| -> Result<()> {
            browser.open(&format!("{}{path}", proxy.address())).await?;
            browser.find(&by("heading", heading)).await?;
            Ok(())
        };
        open("/models/image/tessera", "Tessera").await?;
        browser.fill(&starting("textbox", "prompt"), "paid").await?;
        browser.press(&by("button", "Generate")).await?;
        until("the task to be accepted", TIMEOUT, async || {
            let calls = proxy.calls();
            Ok(match calls.iter().any(|call| !call.accepted.is_empty()) {
                true => Seen::Yes(()),
                false => Seen::NotYet(format!("{} calls", calls.len())),
            })
        })
        .await?;
        browser
            .wait_for_text("You can close this page", TIMEOUT)
            .await?;
        upgrade(browser).await?;
        browser
            .wait_for_text("A newer version of Atelier stores", TIMEOUT)
            .await?;
        // The page still shows the task, and says that it no longer polls it.
        browser.find(&containing("article", "paid")).await?;
        browser.wait_for_text("Not followed", TIMEOUT).await?;
        check_refused(browser, "never queued").await?;

        // No newer release is served, so a reload gives the older page again.
        open("/models/image/tessera", "Tessera").await?;
        browser
            .wait_for_text("A newer version of Atelier stores", TIMEOUT)
            .await?;
        check_refused(browser, "never queued, either").await?;
        let pages = [
            ("/tasks", "Tasks"),
            ("/tasks/some-task", "Task"),
            ("/gallery", "Gallery"),
        ];
        for (path, heading) in pages {
            open(path, heading).await?;
            browser.wait_for_text("can't be read", TIMEOUT).await?;
            let main = browser.find(&any("main")).await?.text().await?;
            for untrue in ["Nothing submitted", "No outputs", "no task", "another tab"] {
                assert!(!main.contains(untrue), "{path}: {main}");
            }
        }
        // Long enough for a wrong submission to be sent.
        tokio::time::sleep(Duration::from_secs(2)).await;
        let calls = proxy.calls();
        assert_eq!(calls.iter().filter(|call| is_generate(call)).count(), 1);
        Ok(())
    })
    .await;
}

/// Guards against a task that is sent without its secret. An open tab of the last release without support for secrets led,
/// and sent the task without it.
#[tokio::test(flavor = "multi_thread")]
async fn an_open_tab_without_support_for_secrets_sends_nothing() {
    let name = "an_open_tab_without_support_for_secrets_sends_nothing";
    drive(name, async |browser| {
        let service = Service::start_with_site(&["--speed", "8"]).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        // Opens the database with the version of that release.
        let earlier = "
            const open = IDBFactory.prototype.open;
            IDBFactory.prototype.open = function (name, version) {
                return open.call(this, name, name === 'atelier' ? 2 : version);
            };";
        let page = format!("{}/models/image/tessera", proxy.address());
        proxy.before_each_page(browser, earlier).await?;
        browser.open(&page).await?;
        let prompt = starting("textbox", "prompt");
        browser.fill(&prompt, "before").await?;
        browser.press(&by("button", "Generate")).await?;
        browser.wait_for_text("Completed", TIMEOUT).await?;
        let old = browser.client.window().await?;

        // The new tab shows the stored task and makes the calls.
        let new = browser.open_tab("about:blank").await?;
        browser.switch_to(&new).await?;
        browser.open(&page).await?;
        browser.find(&containing("article", "before")).await?;
        browser.switch_to(&old).await?;
        browser
            .wait_for_text("A newer version of Atelier stores", TIMEOUT)
            .await?;
        check_refused(browser, "never queued").await?;
        browser.switch_to(&new).await?;
        browser.fill(&prompt, "after").await?;
        browser.press(&by("button", "Generate")).await?;
        browser.find(&containing("article", "after")).await?;
        until("the task to be accepted", TIMEOUT, async || {
            let calls = proxy.calls();
            let accepted = calls.iter().filter(|call| !call.accepted.is_empty());
            Ok(match accepted.count() {
                2 => Seen::Yes(()),
                count => Seen::NotYet(format!("{count} were accepted")),
            })
        })
        .await
    })
    .await;
}
