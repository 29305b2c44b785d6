//! Waits for a condition. Tests never sleep for a fixed time.

use crate::Result;
use crate::browser::Browser;
use serde_json::Value;
use std::fmt::Display;
use std::time::Duration;
use tokio::time::Instant;

/// The first pause between two checks of a condition. It grows, because each check costs the browser time, especially
/// for the accessibility tree.
const SHORTEST: Duration = Duration::from_millis(30);
const LONGEST: Duration = Duration::from_millis(300);

/// The result of a check.
pub enum Seen<T> {
    Yes(T),
    /// Not yet, and the state found instead. The last one becomes part of the error.
    NotYet(String),
}

/// Repeats a check until the condition holds, and returns its value.
///
/// # Errors
///
/// The time limit has passed. The error contains the last state found, or the last error of `check`.
pub async fn until<T>(
    what: impl Display,
    limit: Duration,
    mut check: impl AsyncFnMut() -> Result<Seen<T>>,
) -> Result<T> {
    let start = Instant::now();
    let mut pause = SHORTEST;
    loop {
        let instead = match check().await {
            Ok(Seen::Yes(found)) => return Ok(found),
            Ok(Seen::NotYet(instead)) => instead,
            // While a page is rendering again, elements become stale: that counts as "not yet".
            Err(error) => error.to_string(),
        };
        if start.elapsed() > limit {
            return Err(format!("waited {limit:?} for {what}; instead: {instead}").into());
        }
        tokio::time::sleep(pause).await;
        pause = LONGEST.min(pause * 3 / 2);
    }
}

/// The time limit for a page to reach a state, also on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Waits until the script returns this value.
///
/// # Errors
///
/// As for [`gives`].
pub async fn wait_for_value(
    browser: &Browser,
    what: &str,
    script: &str,
    expected: impl Into<Value>,
) -> Result<()> {
    let expected = expected.into();
    wait_for_match(browser, what, script, |seen| *seen == expected).await
}

/// Waits until the script returns a value that `is_expected` accepts.
///
/// # Errors
///
/// The script does not within a minute. The error contains its last value.
pub async fn wait_for_match(
    browser: &Browser,
    what: &str,
    script: &str,
    is_expected: impl Fn(&Value) -> bool,
) -> Result<()> {
    until(what, TIMEOUT, async || {
        let seen = browser.run(script, vec![]).await?;
        Ok(match is_expected(&seen) {
            true => Seen::Yes(()),
            false => Seen::NotYet(format!("the value is {seen}")),
        })
    })
    .await
}
