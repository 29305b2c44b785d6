//! The parts of the page that come after the first view: what does not need one works without it, and what does
//! says so and recovers.

use std::time::Duration;

use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::fault::{Fault, FaultProxy, Rule};
use atelier_end_to_end::find::{any, by, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, until};
use atelier_end_to_end::{Result, site};

const TIMEOUT: Duration = Duration::from_secs(60);

const DEFERRED: &str = "_deferred.wasm";
const PAGES: &str = "_pages.wasm";

/// The service, and in front of it a proxy at which the file of a part can't be had.
async fn without(part: &str) -> Result<(Service, FaultProxy, String)> {
    let service = Service::with_site(&[]).await?;
    let proxy = FaultProxy::start(&service.address()).await?;
    let file = site::file("atelier-", part)?;
    proxy.take_down(&file);
    Ok((service, proxy, file))
}

/// Guards against a list of models that needs something of what drives tasks, against a page that
/// does not say that tasks are not followed in it, and against one that never gets the part again.
#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_models_works_without_what_drives_tasks() {
    drive(
        "the_list_of_models_works_without_what_drives_tasks",
        async |browser| {
            let (_service, proxy, file) = without(DEFERRED).await?;
            browser.open(&proxy.address()).await?;
            browser.find(&starting("link", "Strata")).await?;
            browser
                .fill(&by("searchbox", "Search models"), "silk")
                .await?;
            browser.find_gone(&starting("link", "Strata")).await?;
            browser.find(&starting("link", "Silk")).await?;
            browser.fill(&by("searchbox", "Search models"), "a").await?;
            browser.find(&starting("link", "Strata")).await?;
            browser.press(&starting("radio", "audio")).await?;
            browser.find_gone(&starting("link", "Strata")).await?;

            let missing = "tasks are not followed in this tab";
            browser.see_text(missing, TIMEOUT).await?;
            proxy.bring_up(&file);
            browser.press(&by("button", "Try again")).await?;
            browser.find_gone(&by("button", "Try again")).await?;
            browser.press(&starting("link", "Tasks")).await?;
            browser.find(&by("heading", "Tasks")).await?;
            Ok(())
        },
    )
    .await;
}

/// Guards against a page that stays empty, or is broken for good, because a file could not be had.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_cannot_be_fetched_says_so_and_opens_when_it_can() {
    let name = "a_page_that_cannot_be_fetched_says_so_and_opens_when_it_can";
    drive(name, async |browser| {
        for part in [DEFERRED, PAGES] {
            let (_service, proxy, file) = without(part).await?;
            browser.open(&proxy.address()).await?;
            browser.press(&starting("link", "Strata")).await?;
            browser.find(&any("alert")).await?;
            browser
                .see_text("This page could not be opened.", TIMEOUT)
                .await?;
            proxy.bring_up(&file);
            browser.press(&by("button", "Try again")).await?;
            browser.find(&by("heading", "Strata")).await?;
            browser.find(&by("button", "Generate")).await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against a part that comes short, with the host's word that it may be kept for ever: the browser gave that
/// again at each try, and the host was not asked.
#[tokio::test(flavor = "multi_thread")]
async fn a_part_that_came_short_is_asked_for_past_what_the_browser_keeps() {
    let name = "a_part_that_came_short_is_asked_for_past_what_the_browser_keeps";
    drive(name, async |browser| {
        browser.needs(Capability::ShortWasm)?;
        for part in [DEFERRED, PAGES] {
            let service = Service::with_site(&[]).await?;
            let proxy = FaultProxy::start(&service.address()).await?;
            let file = site::file("atelier-", part)?;
            proxy.add(Rule::next(1, &file, Fault::Halved));
            browser.open(&proxy.address()).await?;
            browser.press(&starting("link", "Strata")).await?;
            until("the form", TIMEOUT, async || {
                // Where it was missed before, the link has had it asked for anew.
                let again = browser.find_all(&by("button", "Try again")).await?;
                if let Some(again) = again.first() {
                    let _ = again.click().await;
                }
                let forms = browser.find_all(&by("button", "Generate")).await?;
                Ok(match forms.is_empty() {
                    true => Seen::NotYet("it is not there".into()),
                    false => Seen::Yes(()),
                })
            })
            .await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against a dialog over the list of models that never opens, without a word, because its part could not be
/// fetched.
#[tokio::test(flavor = "multi_thread")]
async fn a_dialog_that_cannot_be_fetched_says_so_and_opens_when_it_can() {
    let name = "a_dialog_that_cannot_be_fetched_says_so_and_opens_when_it_can";
    drive(name, async |browser| {
        let (_service, proxy, file) = without(PAGES).await?;
        browser.open(&proxy.address()).await?;
        browser.press(&starting("button", "Go to…")).await?;
        let opening = by("dialog", "Opening");
        let dialog = browser.find(&opening).await?;
        browser.find(&any("alert").within(&dialog)).await?;
        browser
            .press(&by("button", "Close").within(&dialog))
            .await?;
        browser.find_gone(&opening).await?;
        browser.find(&starting("link", "Strata")).await?;

        browser.press(&starting("button", "Go to…")).await?;
        let dialog = browser.find(&opening).await?;
        let again = by("button", "Try again").within(&dialog);
        browser.find(&again).await?;
        proxy.bring_up(&file);
        browser.press(&again).await?;
        browser.find(&by("dialog", "Commands")).await?;
        browser.find_gone(&opening).await?;
        Ok(())
    })
    .await;
}

/// Guards against a first tap on a model that waits until the code of its page is fetched and compiled: a finger gives
/// no sign before, as a pointer over the link does.
#[tokio::test(flavor = "multi_thread")]
async fn with_a_touchscreen_the_pages_are_loaded_without_a_sign() {
    let name = "with_a_touchscreen_the_pages_are_loaded_without_a_sign";
    drive(name, async |browser| {
        browser.emulate_touch().await?;
        let service = Service::with_site(&[]).await?;
        browser.open(&service.address()).await?;
        browser.find(&starting("link", "Strata")).await?;
        until("the pages' styles", TIMEOUT, async || {
            let script =
                "return document.querySelector('link[rel=stylesheet][href*=pages-]') !== null";
            let is_here = browser.run(script, vec![]).await? == true;
            Ok(if is_here {
                Seen::Yes(())
            } else {
                Seen::NotYet("none".into())
            })
        })
        .await
    })
    .await;
}
