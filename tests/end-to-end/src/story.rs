//! Runs the steps of a test; when one fails, keeps what a person would want to see.

use crate::browser::Browser;
use crate::engine::LeftOut;
use crate::{Result, site};
use std::io::Write;

/// Starts a browser, runs the steps in it, and ends it. On failure the picture of the page and its
/// console are kept and the test panics. A test that the engine can't be put through is left out.
pub async fn drive(name: &str, steps: impl AsyncFnOnce(&Browser) -> Result<()>) {
    drive_in(Browser::start().await, name, steps).await;
}

/// The same in a browser whose clock shows the time of this zone.
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
        if let Some(reason) = error.downcast_ref::<LeftOut>() {
            leave_out(name, *reason);
            return;
        }
        explain(name, &browser).await;
        panic!("{name}: {error}");
    }
}

/// Says that a test has not run, to the script that counts: the runner believes that it has passed.
fn leave_out(name: &str, reason: LeftOut) {
    // Not `println!`: its output is shown of failing tests only.
    let _ = writeln!(std::io::stdout(), "\nleft out: {name}. {reason}");
}

/// Says that a part of a test has not run, if that is why there is nothing to look at.
///
/// # Errors
///
/// `done` failed for another reason.
pub fn unless_left_out<T>(part: &str, done: Result<T>) -> Result<Option<T>> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(error) => match error.downcast_ref::<LeftOut>() {
            Some(reason) => {
                let _ = writeln!(std::io::stdout(), "\nin part: {part}. {reason}");
                Ok(None)
            }
            None => Err(error),
        },
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
