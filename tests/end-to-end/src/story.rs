//! Runs the steps of a test; when one fails, keeps what a person would want to see.

use crate::browser::Browser;
use crate::{Result, site};

/// Starts a browser, runs the steps in it, and ends it. On failure the picture of the page and its
/// console are kept and the test panics.
pub async fn drive(name: &str, steps: impl AsyncFnOnce(&Browser) -> Result<()>) {
    let browser = match Browser::start().await {
        Ok(browser) => browser,
        Err(error) => panic!("{name}: no browser: {error}"),
    };
    if let Err(error) = steps(&browser).await {
        explain(name, &browser).await;
        panic!("{name}: {error}");
    }
}

/// Prints the console of the page and keeps a picture of it, for a test that has failed.
pub async fn explain(name: &str, browser: &Browser) {
    for line in browser.console().await.unwrap_or_default() {
        eprintln!("console: {line}");
    }
    if let Ok(address) = browser.client.current_url().await {
        eprintln!("address: {address}");
    }
    let picture = site::repository().join(format!("target/end-to-end/{name}.png"));
    match browser.screenshot(&picture) {
        Ok(()) => eprintln!("picture: target/end-to-end/{name}.png"),
        Err(error) => eprintln!("no picture: {error}"),
    }
}
