//! Tests of the wasm files that are loaded after the first view: pages that don't need a missing file work, and
//! others show an error and recover.

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
const MORE: &str = "_more.wasm";

/// Starts a service, and a proxy at which the wasm file of this part is unavailable.
async fn start_without(part: &str) -> Result<(Service, FaultProxy, String)> {
    let service = Service::start_with_site(&[]).await?;
    let proxy = FaultProxy::start(&service.address()).await?;
    let file = site::file("atelier-", part)?;
    proxy.take_down(&file);
    Ok((service, proxy, file))
}

/// Guards against a model list that needs the deferred part, against a page that does not show that tasks are not
/// followed, and against a part that is never fetched again.
#[tokio::test(flavor = "multi_thread")]
async fn model_list_works_without_deferred_wasm() {
    drive("model_list_works_without_deferred_wasm", async |browser| {
        let (_service, proxy, file) = start_without(DEFERRED).await?;
        browser.open(&proxy.address()).await?;
        browser.find(&starting("link", "Strata")).await?;
        browser
            .fill(&by("searchbox", "Search models"), "silk")
            .await?;
        browser.wait_until_gone(&starting("link", "Strata")).await?;
        browser.find(&starting("link", "Silk")).await?;
        browser.fill(&by("searchbox", "Search models"), "a").await?;
        browser.find(&starting("link", "Strata")).await?;
        browser.press(&starting("radio", "audio")).await?;
        browser.wait_until_gone(&starting("link", "Strata")).await?;

        let missing = "this tab does not update tasks";
        browser.wait_for_text(missing, TIMEOUT).await?;
        proxy.bring_up(&file);
        browser.press(&by("button", "Try again")).await?;
        browser.wait_until_gone(&by("button", "Try again")).await?;
        browser.press(&starting("link", "Tasks")).await?;
        browser.find(&by("heading", "Tasks")).await?;
        Ok(())
    })
    .await;
}

/// Guards against a page that stays empty or broken because a file could not be fetched.
#[tokio::test(flavor = "multi_thread")]
async fn page_shows_error_until_its_wasm_can_be_fetched() {
    let name = "page_shows_error_until_its_wasm_can_be_fetched";
    drive(name, async |browser| {
        for part in [DEFERRED, PAGES] {
            let (_service, proxy, file) = start_without(part).await?;
            browser.open(&proxy.address()).await?;
            browser.press(&starting("link", "Strata")).await?;
            browser.find(&any("alert")).await?;
            browser
                .wait_for_text("This page could not be opened.", TIMEOUT)
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

/// Guards against a form that needs the last part, and against a page of that part that stays empty.
#[tokio::test(flavor = "multi_thread")]
async fn forms_and_tasks_work_without_last_wasm() {
    drive("forms_and_tasks_work_without_last_wasm", async |browser| {
        let (_service, proxy, file) = start_without(MORE).await?;
        browser.open(&proxy.address()).await?;
        browser.press(&starting("link", "Strata")).await?;
        browser
            .fill(&starting("textbox", "prompt"), "a window")
            .await?;
        browser.press(&by("button", "Generate")).await?;
        browser.wait_for_text("Completed", TIMEOUT).await?;
        browser.press(&starting("link", "Tasks")).await?;
        browser.find(&by("heading", "Tasks")).await?;
        browser.press(&starting("link", "Gallery")).await?;
        browser.find(&any("alert")).await?;
        proxy.bring_up(&file);
        browser.press(&by("button", "Try again")).await?;
        browser.find(&by("heading", "Gallery")).await?;
        Ok(())
    })
    .await;
}

/// Guards against a truncated file in the HTTP cache. It is marked as immutable, so the browser used it again at each
/// try.
#[tokio::test(flavor = "multi_thread")]
async fn truncated_wasm_is_fetched_again_bypassing_http_cache() {
    let name = "truncated_wasm_is_fetched_again_bypassing_http_cache";
    drive(name, async |browser| {
        browser.needs(Capability::ShortWasm)?;
        for part in [DEFERRED, PAGES] {
            let service = Service::start_with_site(&[]).await?;
            let proxy = FaultProxy::start(&service.address()).await?;
            let file = site::file("atelier-", part)?;
            proxy.add(Rule::next(1, &file, Fault::Halved));
            browser.open(&proxy.address()).await?;
            browser.press(&starting("link", "Strata")).await?;
            until("the form", TIMEOUT, async || {
                // The button is missing if the link has already fetched the file again.
                let again = browser.find_all(&by("button", "Try again")).await?;
                if let Some(again) = again.first() {
                    let _ = again.click().await;
                }
                let forms = browser.find_all(&by("button", "Generate")).await?;
                Ok(match forms.is_empty() {
                    true => Seen::NotYet("no form".into()),
                    false => Seen::Yes(()),
                })
            })
            .await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against a dialog that never opens, without a message, because its part could not be fetched.
#[tokio::test(flavor = "multi_thread")]
async fn dialog_shows_error_until_its_wasm_can_be_fetched() {
    let name = "dialog_shows_error_until_its_wasm_can_be_fetched";
    drive(name, async |browser| {
        for part in [PAGES, MORE] {
            let (_service, proxy, file) = start_without(part).await?;
            browser.open(&proxy.address()).await?;
            browser.press(&starting("button", "Go to…")).await?;
            let opening = by("dialog", "Opening");
            // While both parts are loading, each has a dialog, one after the other.
            browser
                .wait_for_text("This page could not be opened.", TIMEOUT)
                .await?;
            let dialog = browser.find(&opening).await?;
            browser.find(&any("alert").within(&dialog)).await?;
            browser
                .press(&by("button", "Close").within(&dialog))
                .await?;
            browser.wait_until_gone(&opening).await?;
            browser.find(&starting("link", "Strata")).await?;

            browser.press(&starting("button", "Go to…")).await?;
            let dialog = browser.find(&opening).await?;
            let again = by("button", "Try again").within(&dialog);
            browser.find(&again).await?;
            proxy.bring_up(&file);
            browser.press(&again).await?;
            browser.find(&by("dialog", "Commands")).await?;
            browser.wait_until_gone(&opening).await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against a slow first tap on a model. A pointer over the link preloads the code of its page, but touch input
/// has no hover.
#[tokio::test(flavor = "multi_thread")]
async fn pages_are_preloaded_on_touch_screens() {
    let name = "pages_are_preloaded_on_touch_screens";
    drive(name, async |browser| {
        browser.emulate_touch().await?;
        let service = Service::start_with_site(&[]).await?;
        browser.open(&service.address()).await?;
        browser.find(&starting("link", "Strata")).await?;
        until("the styles of the pages", TIMEOUT, async || {
            let script =
                "return document.querySelector('link[rel=stylesheet][href*=pages-]') !== null";
            let is_loaded = browser.run(script, vec![]).await? == true;
            Ok(if is_loaded {
                Seen::Yes(())
            } else {
                Seen::NotYet("no style sheet".into())
            })
        })
        .await
    })
    .await;
}
