//! Steps that a user takes in Batch mode, with a fault proxy between the page and the service.

mod calls;
mod items;
mod table;

use atelier_end_to_end::Result;
use atelier_end_to_end::fault::{Fault, RetryAfter};
use atelier_end_to_end::find::{Query, by};
use atelier_end_to_end::story::drive;
use atelier_end_to_end::studio::{self, MODEL, MODEL_NAME, Suite};
use fantoccini::wd::WindowHandle;
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

pub use atelier_end_to_end::studio::TIMEOUT;

pub const BATCH: &str = "/v2/generate-batch";
pub const SINGLE: &str = "/v2/generate";

pub struct Studio<'a>(studio::Studio<'a>);

impl<'a> Deref for Studio<'a> {
    type Target = studio::Studio<'a>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Studio<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

struct Batch;

impl Suite for Batch {
    type Studio<'a> = Studio<'a>;

    async fn begin(studio: studio::Studio<'_>) -> Result<Studio<'_>> {
        let studio = Studio(studio);
        studio.reload().await?;
        Ok(studio)
    }

    async fn close(studio: Self::Studio<'_>, name: &str) -> Result<()> {
        studio.close(name).await
    }
}

/// Runs the steps in Batch mode, waits until all tasks have ended, and checks the ledger.
pub async fn run_until_settled(
    name: &str,
    service: &[&str],
    steps: impl AsyncFnOnce(&mut Studio<'_>) -> Result<()>,
) {
    studio::run_until_settled::<Batch>(name, service, true, steps).await;
}

/// Like [`play`], with a service that does not announce idempotency keys, as most services don't.
pub async fn run_without_keys_until_settled(
    name: &str,
    service: &[&str],
    steps: impl AsyncFnOnce(&mut Studio<'_>) -> Result<()>,
) {
    studio::run_until_settled::<Batch>(name, service, false, steps).await;
}

/// Runs the steps in Batch mode, without waiting for the tasks and without checking the ledger.
pub async fn run_steps(
    name: &str,
    service: &[&str],
    steps: impl AsyncFnOnce(&mut Studio<'_>) -> Result<()>,
) {
    studio::run_steps::<Batch>(name, service, steps).await;
}

/// Like [`visit`], with steps before the page is first opened.
pub async fn run_steps_after(
    name: &str,
    service: &[&str],
    before: impl AsyncFnOnce(&Studio<'_>) -> Result<()>,
    steps: impl AsyncFnOnce(&mut Studio<'_>) -> Result<()>,
) {
    drive(name, async |browser| {
        let mut studio = Studio(studio::Studio::new(browser, service, true).await?);
        before(&studio).await?;
        studio.reload().await?;
        steps(&mut studio).await
    })
    .await;
}

/// Returns `count` different prompts: `word 01`, `word 02`, ….
pub fn numbered_prompts(word: &str, count: usize) -> Vec<String> {
    (1..=count).map(|n| format!("{word} {n:02}")).collect()
}

/// Returns a fault that responds with this status.
pub fn error(status: u16) -> Fault {
    Fault::Status {
        status,
        retry_after: None,
    }
}

/// Returns a fault that responds 429 with this `Retry-After`.
pub fn rate_limited(seconds: u64) -> Fault {
    Fault::Status {
        status: 429,
        retry_after: Some(RetryAfter::Seconds(seconds)),
    }
}

impl Studio<'_> {
    /// Waits until all tasks have ended, and checks the ledger.
    async fn close(self, name: &str) -> Result<()> {
        self.proxy.clear();
        let settled = self.wait_until_settled().await;
        // The reload checks what is stored, not only what the page has in memory.
        self.reload().await?;
        let settled = settled.and(self.wait_until_settled().await);
        let items = self.items().await?;
        let mut states = BTreeMap::new();
        for item in items.iter().filter(|item| item.state != "Removed") {
            if states
                .insert(item.prompt.clone(), item.state.clone())
                .is_some()
            {
                return Err(format!("{name}: “{}” is shown twice", item.prompt).into());
            }
        }
        self.balance(name, &states, settled)
    }

    /// Loads the model's page in Batch mode.
    pub async fn reload(&self) -> Result<()> {
        self.open(&format!("{MODEL}?mode=batch")).await?;
        self.wait_until_open().await
    }

    /// Opens Batch mode in another tab.
    pub async fn open_batch_tab(&self) -> Result<WindowHandle> {
        let tab = self.open_tab(&format!("{MODEL}?mode=batch")).await?;
        self.enlarge_tab().await?;
        self.wait_until_open().await?;
        Ok(tab)
    }

    /// Waits until the form is loaded.
    pub async fn wait_until_open(&self) -> Result<()> {
        // The name arrives with the list of models. From then on, the guest credentials are set.
        self.browser.find(&by("heading", MODEL_NAME)).await?;
        self.browser.find(&by("form", "Input")).await?;
        Ok(())
    }

    /// Types the prompts, one per line.
    pub async fn type_prompts(&self, prompts: &[String]) -> Result<()> {
        let lines = prompts.join("\n");
        self.browser.fill(&by("textbox", "Prompts"), &lines).await
    }

    /// Presses `Generate N`, where N is the number of prompts.
    pub async fn generate(&mut self, prompts: &[String]) -> Result<()> {
        let label = format!("Generate {}", prompts.len());
        self.browser.press(&by("button", &label)).await?;
        for prompt in prompts {
            self.ledger.ask(prompt);
        }
        Ok(())
    }

    /// Types the prompts, sends them, and waits until the page shows the batch.
    pub async fn send(&mut self, prompts: &[String]) -> Result<()> {
        self.type_prompts(prompts).await?;
        self.generate(prompts).await?;
        self.batch().await?;
        Ok(())
    }

    /// Presses the button of this name.
    pub async fn press(&self, button: &str) -> Result<()> {
        self.browser.press(&by("button", button)).await
    }

    /// Presses a button, and then `confirm` in the dialog of the same name.
    pub async fn press_both(&self, button: &str, confirm: &str) -> Result<()> {
        self.press(button).await?;
        let dialog = self.browser.find(&by("dialog", button)).await?;
        let confirm = by("button", confirm).within(&dialog);
        self.browser.press(&confirm).await
    }

    /// Selects a radio button: a mode, or a panel that fills the table.
    pub async fn choose(&self, radio: &str) -> Result<()> {
        self.browser.press(&by("radio", radio)).await
    }

    /// Returns the number of DOM elements in this part of the page.
    pub async fn count_nodes(&self, part: &Query) -> Result<usize> {
        let part = self.browser.find(part).await?;
        let script = "return arguments[0].querySelectorAll('*').length";
        let argument = vec![self.browser.argument(&part)];
        let count = self.browser.run(script, argument).await?;
        Ok(usize::try_from(count.as_u64().ok_or("not a number")?)?)
    }
}
