//! Tests of a page that was open before a release was deployed.

use crate::host::{
    Host, MODEL, Releases, TIMEOUT, not_found, release_name, releases, wait_for_release,
};
use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::release::Release;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, until};
use std::time::Duration;

const GENERATE: &str = "/v2/generate";

/// Marks a release as one that the tab has failed to load.
const SET_TRIED: &str = "sessionStorage.setItem('atelier.releases-tried', arguments[0])";

/// Types a prompt, opens the model list while one of its files is unavailable, and then deploys a new release.
async fn open_before_a_deployment(
    browser: &Browser,
    host: &Host,
    part: &str,
    next: &Release,
) -> Result<()> {
    browser.open(&host.address(MODEL)).await?;
    let prompt = starting("textbox", "prompt");
    browser.fill(&prompt, PROMPT).await?;
    host.proxy.take_down(part);
    browser.open(&host.address("/")).await?;
    browser.find(&starting("link", "Tessera")).await?;
    host.deploy(next)?;
    host.proxy.bring_up(part);
    Ok(())
}

const PROMPT: &str = "a lighthouse that is typed and not sent";

async fn check_prompt(browser: &Browser) -> Result<()> {
    let prompt = browser.find(&starting("textbox", "prompt")).await?;
    let typed = prompt.prop("value").await?;
    assert_eq!(typed.as_deref(), Some(PROMPT));
    Ok(())
}

/// Guards against a page from before a deployment that stops working, and against prompts that are lost when it
/// reloads. A host may answer 404 for a missing file, or an HTML page.
#[tokio::test(flavor = "multi_thread")]
async fn open_page_continues_in_new_release() {
    let name = "open_page_continues_in_new_release";
    drive(name, async |browser| {
        let Releases {
            first,
            rebuilt,
            recolored,
        } = releases().await?;
        let [deferred, pages] =
            ["_deferred.wasm", "_pages.wasm"].map(|part| first.path("atelier-", part));
        let (deferred, pages) = (deferred?, pages?);
        // (missing file, response, next release)
        let faults = [
            (deferred.clone(), not_found(), rebuilt),
            (deferred, Fault::NotJson, rebuilt),
            (pages, not_found(), rebuilt),
            (first.path("pages-", ".css")?, Fault::NotJson, recolored),
        ];
        for (path, fault, next) in faults {
            let host = Host::start(browser, first).await?;
            host.proxy.add(Rule::next(1, &path, Fault::NoStore));
            host.proxy.add(Rule::every(&path, fault));
            open_before_a_deployment(browser, &host, &path, next).await?;
            browser.press(&starting("link", "Tessera")).await?;
            browser
                .wait_for_text("Atelier has been updated.", TIMEOUT)
                .await?;
            wait_for_release(browser, next).await?;
            check_prompt(browser).await?;
            assert!(host.requests(&path) >= 2, "{path} was not requested again");
        }
        Ok(())
    })
    .await;
}

/// Guards against a page that reloads endlessly, or without need.
#[tokio::test(flavor = "multi_thread")]
async fn page_shows_reason_if_it_cannot_continue() {
    let name = "page_shows_reason_if_it_cannot_continue";
    drive(name, async |browser| {
        let Releases { first, rebuilt, .. } = releases().await?;
        let host = Host::start(browser, first).await?;
        let wasm = first.path("atelier-", "_deferred.wasm")?;
        host.proxy.add(Rule::next(1, &wasm, Fault::NoStore));
        open_before_a_deployment(browser, &host, &wasm, rebuilt).await?;

        browser.set_offline(true).await?;
        browser.press(&starting("link", "Tessera")).await?;
        browser.wait_for_text("does not answer", TIMEOUT).await?;
        browser.set_offline(false).await?;

        // Marks the newest release as failed.
        browser
            .run(SET_TRIED, vec![release_name(rebuilt)?.into()])
            .await?;
        let loads = host.requests(MODEL);
        browser.press(&by("button", "Try again")).await?;
        browser
            .wait_for_text("Atelier has been updated.", TIMEOUT)
            .await?;
        browser.find(&by("button", "Reload")).await?;
        assert_eq!(host.requests(MODEL), loads, "the page was reloaded");
        browser.press(&by("button", "Reload")).await?;
        wait_for_release(browser, rebuilt).await?;
        check_prompt(browser).await
    })
    .await;
}

/// Waits until the host has received a request for this path.
async fn wait_for_request(host: &Host, path: &str) -> Result<()> {
    until(path, TIMEOUT, async || {
        Ok(match host.requests(path) {
            0 => Seen::NotYet("no request".into()),
            _ => Seen::Yes(()),
        })
    })
    .await
}

/// Guards against a submission that is aborted, and becomes unconfirmed, because the leader tab reloads for a new
/// release. The submission may be from another tab.
#[tokio::test(flavor = "multi_thread")]
async fn update_reload_waits_for_pending_submission() {
    let name = "update_reload_waits_for_pending_submission";
    drive(name, async |browser| {
        update_while_sending(browser, false).await
    })
    .await;
}

/// Guards against the same when the user presses the Reload button of the message.
#[tokio::test(flavor = "multi_thread")]
async fn manual_update_reload_waits_for_pending_submission() {
    let name = "manual_update_reload_waits_for_pending_submission";
    drive(name, async |browser| {
        update_while_sending(browser, true).await
    })
    .await;
}

async fn update_while_sending(browser: &Browser, is_tried: bool) -> Result<()> {
    let Releases { first, rebuilt, .. } = releases().await?;
    let host = Host::start(browser, first).await?;
    let pages = first.path("atelier-", "_pages.wasm")?;
    host.proxy.add(Rule::every(&pages, Fault::NoStore));
    host.proxy.take_down(&pages);
    // This tab is the leader, and sends the calls of both tabs.
    browser.open(&host.address("/")).await?;
    browser.find(&starting("link", "Tessera")).await?;
    wait_for_request(&host, &pages).await?;
    host.proxy.bring_up(&pages);
    if is_tried {
        let tried = vec![release_name(rebuilt)?.into()];
        browser.run(SET_TRIED, tried).await?;
    }
    let list = browser.tab().await?;
    browser.open_tab(&host.address(MODEL)).await?;
    let time = Duration::from_secs(8);
    host.proxy
        .add(Rule::next(1, GENERATE, Fault::Delay { time }));
    browser
        .fill(&starting("textbox", "prompt"), "a window")
        .await?;
    browser.press(&by("button", "Generate")).await?;
    wait_for_request(&host, GENERATE).await?;
    host.deploy(rebuilt)?;
    browser.switch_to(&list).await?;
    browser.press(&starting("link", "Tasks")).await?;
    browser
        .wait_for_text("Atelier has been updated.", TIMEOUT)
        .await?;
    if is_tried {
        browser.press(&by("button", "Reload")).await?;
    }
    wait_for_release(browser, rebuilt).await?;
    browser.wait_for_text("Completed", TIMEOUT).await?;
    assert_eq!(host.requests(GENERATE), 1, "the task was sent again");
    Ok(())
}
