//! Waiting for a condition: tests never sleep for a fixed time.

use crate::Result;
use crate::browser::Browser;
use serde_json::Value;
use std::fmt::Display;
use std::time::Duration;
use tokio::time::Instant;

/// The pause between the first looks at a condition. It grows, since each look costs the browser time, most of all
/// those at its accessibility tree.
const SHORTEST: Duration = Duration::from_millis(30);
const LONGEST: Duration = Duration::from_millis(300);

/// What a look at a condition found.
pub enum Seen<T> {
    Yes(T),
    /// Not yet, and what was there instead: the last of these becomes the error.
    NotYet(String),
}

/// Looks until the condition holds.
///
/// # Errors
///
/// `limit` has passed; the error says what was there instead, which may be the error that `look` gave.
pub async fn until<T>(
    what: impl Display,
    limit: Duration,
    mut look: impl AsyncFnMut() -> Result<Seen<T>>,
) -> Result<T> {
    let start = Instant::now();
    let mut pause = SHORTEST;
    loop {
        let instead = match look().await {
            Ok(Seen::Yes(found)) => return Ok(found),
            Ok(Seen::NotYet(instead)) => instead,
            // A page that is being redrawn answers with stale elements: that is "not yet" too.
            Err(error) => error.to_string(),
        };
        if start.elapsed() > limit {
            return Err(format!("waited {limit:?} for {what}; instead: {instead}").into());
        }
        tokio::time::sleep(pause).await;
        pause = LONGEST.min(pause * 3 / 2);
    }
}

/// How long a page may take to become what it has to be, on a busy machine too.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Waits until the script gives this.
///
/// # Errors
///
/// As for [`gives`].
pub async fn becomes(
    browser: &Browser,
    what: &str,
    script: &str,
    wanted: impl Into<Value>,
) -> Result<()> {
    let wanted = wanted.into();
    gives(browser, what, script, |seen| *seen == wanted).await
}

/// Waits until what the script gives is what is meant.
///
/// # Errors
///
/// It gives something else for a minute; the error says what.
pub async fn gives(
    browser: &Browser,
    what: &str,
    script: &str,
    is_meant: impl Fn(&Value) -> bool,
) -> Result<()> {
    until(what, TIMEOUT, async || {
        let seen = browser.run(script, vec![]).await?;
        Ok(match is_meant(&seen) {
            true => Seen::Yes(()),
            false => Seen::NotYet(format!("it is {seen}")),
        })
    })
    .await
}
