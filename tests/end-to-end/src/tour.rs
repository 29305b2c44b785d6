//! Lists every page of the app, filled with content.

use crate::Result;
use crate::browser::Browser;
use crate::find::{by, starting};
use serde_json::Value;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);

/// Creates one task of each kind: an image, an audio output, a failure, a batch.
///
/// # Errors
///
/// A control is missing, or a task does not reach its expected state.
pub async fn create_content(browser: &Browser, address: &str) -> Result<()> {
    for (model, prompt, state) in [
        ("image/strata", "alpine lake", "Completed"),
        ("audio/reverie", "slow rain", "Completed"),
        ("image/tessera", "rose [fail]", "Failed"),
    ] {
        browser.open(&format!("{address}/models/{model}")).await?;
        browser.fill(&starting("textbox", "prompt"), prompt).await?;
        browser.press(&by("button", "Generate")).await?;
        browser.wait_for_text(state, TIMEOUT).await?;
    }
    browser
        .open(&format!("{address}/models/image/tessera?mode=batch"))
        .await?;
    let prompts = by("textbox", "Prompts");
    browser.fill(&prompts, "amber\ncobalt\nrose [fail]").await?;
    browser.press(&by("button", "Generate 3")).await?;
    browser
        .wait_for_text("2 completed, 1 failed", TIMEOUT)
        .await
}

/// Returns the paths of all pages after [`create_content`] has created their content.
///
/// # Errors
///
/// The lists lack an output of [`create_content`].
pub async fn pages(browser: &Browser, address: &str) -> Result<Vec<String>> {
    browser.open(&format!("{address}/tasks")).await?;
    browser
        .find(&by("article", "Batch: amber and 2 others"))
        .await?;
    let links =
        "return [...document.querySelectorAll('article .cover')].map(link => link.pathname)";
    let links = browser.run(links, vec![]).await?;
    let links = links.as_array().cloned().unwrap_or_default();
    let links = links.iter().filter_map(Value::as_str);
    let mut pages: Vec<String> = links.map(str::to_owned).collect();
    let always = [
        "/",
        "/tasks",
        "/tasks?q=nothing",
        "/tasks/none",
        "/batches/none",
        "/gallery",
        "/gallery?open=shortcuts",
        "/gallery?open=commands",
        "/settings",
        "/nowhere",
        "/models/image/strata",
        "/models/audio/reverie",
        "/models/image/tessera",
        "/models/image/tessera?mode=batch",
        "/models/image/tessera?mode=integrations",
    ];
    pages.extend(always.map(str::to_owned));
    browser.open(&format!("{address}/gallery")).await?;
    browser.find(&by("list", "Outputs")).await?;
    let names =
        "return [...document.querySelectorAll('[data-output]')].map(tile => tile.dataset.output)";
    let names = browser.run(names, vec![]).await?;
    let name = |at: usize| names[at].as_str().unwrap_or_default().to_owned();
    pages.push(format!("/gallery?lightbox={}", name(0)));
    pages.push(format!("/gallery?compare={},{}", name(0), name(1)));
    Ok(pages)
}
