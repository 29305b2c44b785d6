//! A page that was open before the release was there.

use crate::host::{Host, MODEL, Releases, TIMEOUT, name_of, not_found, releases, see_release};
use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::release::Release;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, until};
use std::time::Duration;

const GENERATE: &str = "/v2/generate";

/// As far as the tab knows, this release was tried in vain.
const SET_TRIED: &str = "sessionStorage.setItem('atelier.releases-tried', arguments[0])";

/// A prompt is typed, then the list of models is opened in a tab that can't have a part of its program
/// yet, and a new release takes the old one's place.
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

async fn see_prompt(browser: &Browser) -> Result<()> {
    let prompt = browser.find(&starting("textbox", "prompt")).await?;
    let typed = prompt.prop("value").await?;
    assert_eq!(typed.as_deref(), Some(PROMPT));
    Ok(())
}

/// Guards against a page from before a deployment that can't go on, and against prompts that are lost
/// when it is loaded anew. A host may say that a file is gone, or answer with some page.
#[tokio::test(flavor = "multi_thread")]
async fn an_open_page_goes_on_in_the_new_release() {
    let name = "an_open_page_goes_on_in_the_new_release";
    drive(name, async |browser| {
        let Releases {
            first,
            rebuilt,
            recoloured,
        } = releases().await?;
        let [deferred, pages] =
            ["_deferred.wasm", "_pages.wasm"].map(|part| first.path("atelier-", part));
        let (deferred, pages) = (deferred?, pages?);
        // The wasm is gone; a page is in its place; a page is in a style sheet's place.
        let faults = [
            (deferred.clone(), not_found(), rebuilt),
            (deferred, Fault::NotJson, rebuilt),
            (pages, not_found(), rebuilt),
            (first.path("pages-", ".css")?, Fault::NotJson, recoloured),
        ];
        for (path, fault, next) in faults {
            let host = Host::with(browser, first).await?;
            host.proxy.add(Rule::next(1, &path, Fault::Unkept));
            host.proxy.add(Rule::every(&path, fault));
            open_before_a_deployment(browser, &host, &path, next).await?;
            browser.press(&starting("link", "Tessera")).await?;
            browser
                .see_text("There is a newer Atelier.", TIMEOUT)
                .await?;
            see_release(browser, next).await?;
            see_prompt(browser).await?;
            assert!(host.asked(&path) >= 2, "{path} was not missed");
        }
        Ok(())
    })
    .await;
}

/// Guards against a page that is loaded anew without end, or for nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_can_not_go_on_stays_and_says_why() {
    let name = "a_page_that_can_not_go_on_stays_and_says_why";
    drive(name, async |browser| {
        let Releases { first, rebuilt, .. } = releases().await?;
        let host = Host::with(browser, first).await?;
        let wasm = first.path("atelier-", "_deferred.wasm")?;
        host.proxy.add(Rule::next(1, &wasm, Fault::Unkept));
        open_before_a_deployment(browser, &host, &wasm, rebuilt).await?;

        browser.set_offline(true).await?;
        browser.press(&starting("link", "Tessera")).await?;
        browser.see_text("does not answer", TIMEOUT).await?;
        browser.set_offline(false).await?;

        // The newest release is tried, and as far as the tab knows, that was in vain.
        browser
            .run(SET_TRIED, vec![name_of(rebuilt)?.into()])
            .await?;
        let loads = host.asked(MODEL);
        browser.press(&by("button", "Try again")).await?;
        browser
            .see_text("There is a newer Atelier.", TIMEOUT)
            .await?;
        browser.find(&by("button", "Reload")).await?;
        assert_eq!(host.asked(MODEL), loads, "it was loaded anew");
        browser.press(&by("button", "Reload")).await?;
        see_release(browser, rebuilt).await?;
        see_prompt(browser).await
    })
    .await;
}

/// Waits until the host was asked for this.
async fn asked(host: &Host, path: &str) -> Result<()> {
    until(path, TIMEOUT, async || {
        Ok(match host.asked(path) {
            0 => Seen::NotYet("nobody has asked for it".into()),
            _ => Seen::Yes(()),
        })
    })
    .await
}

/// Guards against a submission that is cut off, and can't be told from one that was lost, because the tab that
/// makes it goes on to a newer release: in a tab that shows the list of models this may be another tab's.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_goes_on_waits_for_what_it_sends() {
    let name = "a_page_that_goes_on_waits_for_what_it_sends";
    drive(name, async |browser| {
        goes_on_while_it_sends(browser, false).await
    })
    .await;
}

/// Guards against the same where a person presses the button of that message.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_is_told_to_go_on_waits_for_what_it_sends() {
    let name = "a_page_that_is_told_to_go_on_waits_for_what_it_sends";
    drive(name, async |browser| {
        goes_on_while_it_sends(browser, true).await
    })
    .await;
}

async fn goes_on_while_it_sends(browser: &Browser, is_tried: bool) -> Result<()> {
    let Releases { first, rebuilt, .. } = releases().await?;
    let host = Host::with(browser, first).await?;
    let pages = first.path("atelier-", "_pages.wasm")?;
    host.proxy.add(Rule::every(&pages, Fault::Unkept));
    host.proxy.take_down(&pages);
    // It leads, and makes the calls of both.
    browser.open(&host.address("/")).await?;
    browser.find(&starting("link", "Tessera")).await?;
    asked(&host, &pages).await?;
    host.proxy.bring_up(&pages);
    if is_tried {
        let tried = vec![name_of(rebuilt)?.into()];
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
    asked(&host, GENERATE).await?;
    host.deploy(rebuilt)?;
    browser.switch_to(&list).await?;
    browser.press(&starting("link", "Tasks")).await?;
    browser
        .see_text("There is a newer Atelier.", TIMEOUT)
        .await?;
    if is_tried {
        browser.press(&by("button", "Reload")).await?;
    }
    see_release(browser, rebuilt).await?;
    browser.see_text("Completed", TIMEOUT).await?;
    assert_eq!(host.asked(GENERATE), 1, "it was sent once more");
    Ok(())
}
