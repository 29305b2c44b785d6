//! The part of the page that comes after the first view: what does not need it works without it, and
//! what does says so and recovers.

use std::time::Duration;

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::{any, by, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use serde_json::json;

const PATIENCE: Duration = Duration::from_secs(20);

/// What the page's script says when a function of the later part is called before it is there.
const COMPLAINT: &str = "Atelier waits for a part of itself";

async fn block(browser: &Browser, files: &[&str]) -> Result<()> {
    browser.devtools("Network.enable", json!({})).await?;
    let urls = json!({ "urls": files });
    browser.devtools("Network.setBlockedURLs", urls).await?;
    Ok(())
}

/// Guards against a build that takes a function for one of later pages which the list of models
/// calls, too.
#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_models_works_without_it() {
    drive("the_list_of_models_works_without_it", async |browser| {
        let service = Service::with_site(&[]).await?;
        block(browser, &["*_later.wasm"]).await?;
        browser.open(&service.address()).await?;
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
        let console = browser.console().await?;
        assert!(
            !console.iter().any(|line| line.contains(COMPLAINT)),
            "{console:?}"
        );
        Ok(())
    })
    .await;
}

/// Guards against a page that stays empty, or is broken for good, because a file could not be had.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_cannot_be_fetched_says_so_and_opens_when_it_can() {
    let name = "a_page_that_cannot_be_fetched_says_so_and_opens_when_it_can";
    drive(name, async |browser| {
        let service = Service::with_site(&[]).await?;
        block(browser, &["*_later.wasm"]).await?;
        browser.open(&service.address()).await?;
        browser.press(&starting("link", "Strata")).await?;
        browser.find(&any("alert")).await?;
        browser
            .see_text("This page could not be opened.", PATIENCE)
            .await?;
        block(browser, &[]).await?;
        browser.press(&by("button", "Try again")).await?;
        browser.find(&by("heading", "Strata")).await?;
        browser.find(&by("button", "Generate")).await?;
        Ok(())
    })
    .await;
}
