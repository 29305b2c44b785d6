//! The deferred part of the page, which comes after the first view: what does not need it works without it, and
//! what does says so and recovers.

use std::time::Duration;

use atelier_end_to_end::fault::FaultProxy;
use atelier_end_to_end::find::{any, by, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::{Result, site};

const TIMEOUT: Duration = Duration::from_secs(20);

/// The service, and in front of it a proxy at which the file of the deferred part can't be had.
async fn without_it() -> Result<(Service, FaultProxy, String)> {
    let service = Service::with_site(&[]).await?;
    let proxy = FaultProxy::start(&service.address()).await?;
    let file = site::file("atelier-", "_deferred.wasm")?;
    proxy.take_down(&file);
    Ok((service, proxy, file))
}

/// Guards against a list of models that needs something of the deferred part, against a page that
/// does not say that tasks are not followed in it, and against one that never gets the part again.
#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_models_works_without_it() {
    drive("the_list_of_models_works_without_it", async |browser| {
        let (_service, proxy, file) = without_it().await?;
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
    })
    .await;
}

/// Guards against a page that stays empty, or is broken for good, because a file could not be had.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_cannot_be_fetched_says_so_and_opens_when_it_can() {
    let name = "a_page_that_cannot_be_fetched_says_so_and_opens_when_it_can";
    drive(name, async |browser| {
        let (_service, proxy, file) = without_it().await?;
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
        Ok(())
    })
    .await;
}
