//! A newer release has taken over what is kept, and the older one is served again, or its tab is still open.

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

/// What the newer one does first, and then it is gone again.
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

async fn is_refused(browser: &Browser, prompt: &str) -> Result<()> {
    let field = starting("textbox", "prompt");
    browser.fill(&field, prompt).await?;
    browser.press(&by("button", "Generate")).await?;
    let said = browser.find(&any("alert")).await?.text().await?;
    assert!(said.starts_with("Not sent."), "{said}");
    assert!(said.contains("newer Atelier"), "{said}");
    let typed = browser.find(&field).await?.prop("value").await?;
    assert_eq!(typed.as_deref(), Some(prompt), "what was typed stays");
    Ok(())
}

/// Guards against `Nothing submitted yet.` where a paid task is kept, and against what is Queued, two at a
/// time, in a tab that can never send it and forgets it with the next reload.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_newer_release_keeps_is_spoken_of_and_nothing_is_queued_beside_it() {
    drive("what_a_newer_release_keeps", async |browser| {
        let service = Service::with_site(&["--speed", "0.2"]).await?;
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
        browser.see_text("You can close this page", TIMEOUT).await?;
        upgrade(browser).await?;
        browser.see_text("A newer Atelier keeps", TIMEOUT).await?;
        // The page shows what it knows, and that it asks no longer.
        browser.find(&containing("article", "paid")).await?;
        browser.see_text("Not followed", TIMEOUT).await?;
        is_refused(browser, "never queued").await?;

        // There is no newer one: a reload brings the same again.
        open("/models/image/tessera", "Tessera").await?;
        browser.see_text("A newer Atelier keeps", TIMEOUT).await?;
        is_refused(browser, "never queued, either").await?;
        let pages = [
            ("/tasks", "Tasks"),
            ("/tasks/some-task", "Task"),
            ("/gallery", "Gallery"),
        ];
        for (path, heading) in pages {
            open(path, heading).await?;
            browser.see_text("can't be read", TIMEOUT).await?;
            let main = browser.find(&any("main")).await?.text().await?;
            for untrue in [
                "Nothing submitted",
                "Nothing made",
                "no task",
                "another tab",
            ] {
                assert!(!main.contains(untrue), "{path}: {main}");
            }
        }
        // Long enough for what would be sent.
        tokio::time::sleep(Duration::from_secs(2)).await;
        let calls = proxy.calls();
        assert_eq!(calls.iter().filter(|call| is_generate(call)).count(), 1);
        Ok(())
    })
    .await;
}

/// Guards against a task that is sent without its secret, which a tab of the release before secrets doesn't know: that
/// tab was still open, and led.
#[tokio::test(flavor = "multi_thread")]
async fn a_tab_of_the_release_before_secrets_sends_nothing_any_more() {
    let name = "a_tab_of_the_release_before_secrets";
    drive(name, async |browser| {
        let service = Service::with_site(&["--speed", "8"]).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        // As that release opened its database.
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
        browser.see_text("Completed", TIMEOUT).await?;
        let old = browser.client.window().await?;

        // What was stored is there, and this tab makes the calls.
        let new = browser.open_tab("about:blank").await?;
        browser.switch_to(&new).await?;
        browser.open(&page).await?;
        browser.find(&containing("article", "before")).await?;
        browser.switch_to(&old).await?;
        browser.see_text("A newer Atelier keeps", TIMEOUT).await?;
        is_refused(browser, "never queued").await?;
        browser.switch_to(&new).await?;
        browser.fill(&prompt, "after").await?;
        browser.press(&by("button", "Generate")).await?;
        browser.find(&containing("article", "after")).await?;
        until("the task to be accepted", TIMEOUT, async || {
            let calls = proxy.calls();
            let accepted = calls.iter().filter(|call| !call.accepted.is_empty());
            Ok(match accepted.count() {
                2 => Seen::Yes(()),
                count => Seen::NotYet(format!("{count} were")),
            })
        })
        .await
    })
    .await;
}
