//! Steps that a user takes at a page whose service is hostile.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::find::{any, by, starting};
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, until};
use serde_json::{Value, json};
use std::time::Duration;

use crate::service::Hostile;

/// Enough for any operation on a busy machine.
pub const TIMEOUT: Duration = Duration::from_secs(60);

pub struct Studio<'a> {
    pub browser: &'a Browser,
    pub service: Hostile,
}

/// Runs the steps, and checks that no code from the service has run and that the page has not panicked.
pub async fn run_until_settled(name: &str, steps: impl AsyncFnOnce(&Studio<'_>) -> Result<()>) {
    drive(name, async |browser| {
        let service = Hostile::start().await?;
        let studio = Studio { browser, service };
        steps(&studio).await?;
        studio.check_unharmed().await
    })
    .await;
}

impl Studio<'_> {
    pub async fn open(&self, path: &str) -> Result<()> {
        self.browser
            .open(&format!("{}{path}", self.service.address()))
            .await
    }

    /// Opens the page of a normal model and sends a prompt.
    pub async fn generate(&self, prompt: &str) -> Result<()> {
        self.open("/models/image/plain").await?;
        self.send(prompt).await
    }

    pub async fn send(&self, prompt: &str) -> Result<()> {
        self.browser
            .fill(&starting("textbox", "prompt"), prompt)
            .await?;
        self.browser.press(&by("button", "Generate")).await
    }

    /// Waits until a status on the page contains this text.
    pub async fn wait_for_status(&self, wanted: &str) -> Result<()> {
        until(format!("a task that is {wanted}"), TIMEOUT, async || {
            let mut seen = Vec::new();
            for status in self.browser.find_all(&any("status")).await? {
                let text = status.text().await?;
                if text.contains(wanted) {
                    return Ok(Seen::Yes(()));
                }
                seen.push(text.chars().take(100).collect::<String>());
            }
            Ok(Seen::NotYet(format!("states are {seen:?}")))
        })
        .await
    }

    pub async fn script(&self, script: &str) -> Result<Value> {
        self.browser.run(script, vec![]).await
    }

    /// Returns all addresses that a press or the page itself would open.
    pub async fn addresses(&self) -> Result<Vec<String>> {
        let script = "return [...document.querySelectorAll('[href], [src], [action], [poster]')]
            .flatMap(each => ['href', 'src', 'action', 'poster'].map(name => each.getAttribute(name)))
            .filter(Boolean)";
        let found = self.script(script).await?;
        let texts = found.as_array().into_iter().flatten();
        Ok(texts.filter_map(Value::as_str).map(str::to_owned).collect())
    }

    async fn check_unharmed(&self) -> Result<()> {
        let pwned = self.script("return window.pwned ?? null").await?;
        assert_eq!(pwned, json!(null), "code from the service has run");
        if self.browser.needs(Capability::Console).is_ok() {
            let console = self.browser.console().await?;
            let panics: Vec<_> = console
                .iter()
                .filter(|line| line.contains("panicked") || line.contains("unreachable"))
                .collect();
            assert!(panics.is_empty(), "{panics:#?}");
        }
        Ok(())
    }
}
