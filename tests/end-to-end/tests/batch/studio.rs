//! A person in Batch mode, a fault proxy, and the service behind it.

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

/// Runs the steps in Batch mode, lets everything come to its end, and balances the ledger.
pub async fn play(
    name: &str,
    service: &[&str],
    steps: impl AsyncFnOnce(&mut Studio<'_>) -> Result<()>,
) {
    studio::play::<Batch>(name, service, true, steps).await;
}

/// The same at a service that says nothing of idempotency keys, as most don't.
pub async fn play_without_keys(
    name: &str,
    service: &[&str],
    steps: impl AsyncFnOnce(&mut Studio<'_>) -> Result<()>,
) {
    studio::play::<Batch>(name, service, false, steps).await;
}

/// Runs the steps in Batch mode; what they send need not come to an end.
pub async fn visit(
    name: &str,
    service: &[&str],
    steps: impl AsyncFnOnce(&mut Studio<'_>) -> Result<()>,
) {
    studio::visit::<Batch>(name, service, steps).await;
}

/// The same, with steps before the page is first opened.
pub async fn visit_after(
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

/// `first 01`, `first 02`, …: another prompt for each item.
pub fn numbered(word: &str, count: usize) -> Vec<String> {
    (1..=count).map(|n| format!("{word} {n:02}")).collect()
}

pub fn error(status: u16) -> Fault {
    Fault::Status {
        status,
        retry_after: None,
    }
}

pub fn come_back_in(seconds: u64) -> Fault {
    Fault::Status {
        status: 429,
        retry_after: Some(RetryAfter::Seconds(seconds)),
    }
}

impl Studio<'_> {
    /// Lets everything come to its end and balances the ledger.
    async fn close(self, name: &str) -> Result<()> {
        self.proxy.clear();
        let settled = self.settled().await;
        // What is stored counts, not what the page still knows.
        self.reload().await?;
        let settled = settled.and(self.settled().await);
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

    /// Loads the model's page afresh, in Batch mode.
    pub async fn reload(&self) -> Result<()> {
        self.open(&format!("{MODEL}?mode=batch")).await?;
        self.is_open().await
    }

    /// Opens Batch mode in a further tab.
    pub async fn open_batch_tab(&self) -> Result<WindowHandle> {
        let tab = self.open_tab(&format!("{MODEL}?mode=batch")).await?;
        self.make_room().await?;
        self.is_open().await?;
        Ok(tab)
    }

    pub async fn is_open(&self) -> Result<()> {
        // The name comes with the list of models, and with it the guest's credentials.
        self.browser.find(&by("heading", MODEL_NAME)).await?;
        self.browser.find(&by("form", "Input")).await?;
        Ok(())
    }

    /// Writes prompts, one per line, key by key.
    pub async fn write(&self, prompts: &[String]) -> Result<()> {
        let lines = prompts.join("\n");
        self.browser.fill(&by("textbox", "Prompts"), &lines).await
    }

    /// Presses `Generate N`.
    pub async fn generate(&mut self, prompts: &[String]) -> Result<()> {
        let label = format!("Generate {}", prompts.len());
        self.browser.press(&by("button", &label)).await?;
        for prompt in prompts {
            self.ledger.ask(prompt);
        }
        Ok(())
    }

    /// Writes prompts and sends them; waits until the page shows the batch.
    pub async fn send(&mut self, prompts: &[String]) -> Result<()> {
        self.write(prompts).await?;
        self.generate(prompts).await?;
        self.batch().await?;
        Ok(())
    }

    pub async fn press(&self, button: &str) -> Result<()> {
        self.browser.press(&by("button", button)).await
    }

    /// Presses a button and then the one that confirms it.
    pub async fn press_both(&self, button: &str, confirm: &str) -> Result<()> {
        self.press(button).await?;
        let dialog = self.browser.find(&by("dialog", button)).await?;
        let confirm = by("button", confirm).within(&dialog);
        self.browser.press(&confirm).await
    }

    /// Chooses a way to fill the table, or a mode.
    pub async fn choose(&self, radio: &str) -> Result<()> {
        self.browser.press(&by("radio", radio)).await
    }

    /// How many elements the browser has to keep for this part of the page.
    pub async fn nodes(&self, part: &Query) -> Result<usize> {
        let part = self.browser.find(part).await?;
        let script = "return arguments[0].querySelectorAll('*').length";
        let argument = vec![self.browser.argument(&part)];
        let count = self.browser.run(script, argument).await?;
        Ok(usize::try_from(count.as_u64().ok_or("not a number")?)?)
    }
}
