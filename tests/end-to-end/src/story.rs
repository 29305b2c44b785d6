//! Runs the steps of a test in a browser. On failure, keeps a screenshot and the console.

use crate::browser::Browser;
use crate::engine::Unsupported;
use crate::{Result, site};
use std::io::Write;

/// Starts a browser, runs the steps in it, and ends it. Skips the test if the engine does not support it.
///
/// # Panics
///
/// A step fails. Before that, prints the console of the page and saves a screenshot.
pub async fn drive(name: &str, steps: impl AsyncFnOnce(&Browser) -> Result<()>) {
    drive_in(Browser::start().await, name, steps).await;
}

/// As [`drive`], in a browser with this time zone.
pub async fn drive_in_zone(
    zone: &str,
    name: &str,
    steps: impl AsyncFnOnce(&Browser) -> Result<()>,
) {
    drive_in(Browser::start_in_zone(zone).await, name, steps).await;
}

async fn drive_in(
    browser: Result<Browser>,
    name: &str,
    steps: impl AsyncFnOnce(&Browser) -> Result<()>,
) {
    let browser = match browser {
        Ok(browser) => browser,
        Err(error) => panic!("{name}: no browser: {error}"),
    };
    if let Err(error) = steps(&browser).await {
        if let Some(reason) = error.downcast_ref::<Unsupported>() {
            report_skipped(name, *reason);
            return;
        }
        report_failure(name, &browser).await;
        panic!("{name}: {error}");
    }
}

/// Reports that a test was skipped to the script that counts skipped tests. The test runner counts it as passed.
fn report_skipped(name: &str, reason: Unsupported) {
    // Not `println!`, whose output is only shown for failing tests.
    let _ = writeln!(std::io::stdout(), "\nleft out: {name}. {reason}");
}

/// Returns `None`, and reports that a part of a test was skipped, if the engine does not support it.
///
/// # Errors
///
/// `done` failed for another reason.
pub fn skip_if_unsupported<T>(part: &str, done: Result<T>) -> Result<Option<T>> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(error) => match error.downcast_ref::<Unsupported>() {
            Some(reason) => {
                let _ = writeln!(std::io::stdout(), "\nin part: {part}. {reason}");
                Ok(None)
            }
            None => Err(error),
        },
    }
}

/// Prints the console of the page and saves a screenshot, after a test has failed.
pub async fn report_failure(name: &str, browser: &Browser) {
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
