//! Generates outputs that a test needs.

use crate::Result;
use crate::browser::Browser;
use crate::find::{by, starting};
use std::time::Duration;

/// The time limit for a generation on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Opens the page of a model, such as `image/tessera`, generates outputs of a prompt, and waits until they appear.
///
/// # Errors
///
/// A control is missing, or the outputs do not appear in time.
pub async fn generate(browser: &Browser, address: &str, model: &str, prompt: &str) -> Result<()> {
    browser.open(&format!("{address}/models/{model}")).await?;
    browser.fill(&starting("textbox", "prompt"), prompt).await?;
    browser.press(&by("button", "Generate")).await?;
    browser
        .find_with_limit(&by("button", "Run again"), TIMEOUT)
        .await?;
    Ok(())
}
