//! A page that was open before the release was there.

use crate::host::{Host, MODEL, Releases, TIMEOUT, name_of, not_found, releases, see_release};
use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::release::Release;
use atelier_end_to_end::story::drive;

/// A prompt is typed, then the list of models is opened in a tab that can't have its deferred part
/// yet, and a new release takes the old one's place.
async fn open_before_a_deployment(
    browser: &Browser,
    host: &Host,
    [old, next]: [&Release; 2],
) -> Result<()> {
    let deferred = &old.path("atelier-", "_deferred.wasm")?;
    browser.open(&host.address(MODEL)).await?;
    let prompt = starting("textbox", "prompt");
    browser.fill(&prompt, PROMPT).await?;
    host.proxy.take_down(deferred);
    browser.open(&host.address("/")).await?;
    browser.find(&starting("link", "Tessera")).await?;
    host.deploy(next)?;
    host.proxy.bring_up(deferred);
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
        let wasm = first.path("atelier-", "_deferred.wasm")?;
        // The wasm is gone; a page is in its place; a page is in a style sheet's place.
        let faults = [
            (wasm.clone(), not_found(), rebuilt),
            (wasm, Fault::NotJson, rebuilt),
            (first.path("deferred-", ".css")?, Fault::NotJson, recoloured),
        ];
        for (path, fault, next) in faults {
            let host = Host::with(browser, first).await?;
            host.proxy.add(Rule::next(1, &path, Fault::Unkept));
            host.proxy.add(Rule::every(&path, fault));
            open_before_a_deployment(browser, &host, [first, next]).await?;
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
        open_before_a_deployment(browser, &host, [first, rebuilt]).await?;

        browser.set_offline(true).await?;
        browser.press(&starting("link", "Tessera")).await?;
        browser.see_text("does not answer", TIMEOUT).await?;
        browser.set_offline(false).await?;

        // The newest release is tried, and as far as the tab knows, that was in vain.
        browser
            .run(
                "sessionStorage.setItem('atelier.releases-tried', arguments[0])",
                vec![name_of(rebuilt)?.into()],
            )
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
