//! A person in Batch mode, a fault proxy, and the service behind it.

mod calls;
mod items;
mod table;

use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::{Fault, FaultProxy, RetryAfter};
use atelier_end_to_end::find::{Query, by};
use atelier_end_to_end::ledger::Ledger;
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::{Result, hearing};
use fantoccini::wd::WindowHandle;
use std::collections::BTreeMap;
use std::time::Duration;

/// The tests whose ledger is balanced.
const TESTS: usize = 18;

/// Enough for anything that is under way, on a busy machine.
pub const TIMEOUT: Duration = Duration::from_secs(120);

pub const BATCH: &str = "/v2/generate-batch";
pub const SINGLE: &str = "/v2/generate";

const MODEL: &str = "/models/image/tessera";
const MODEL_NAME: &str = "Tessera";

pub struct Studio<'a> {
    pub browser: &'a Browser,
    pub service: Service,
    pub proxy: FaultProxy,
    pub ledger: Ledger,
}

/// Runs the steps in Batch mode, lets everything come to its end, and balances the ledger.
pub async fn play(
    name: &str,
    service: &[&str],
    steps: impl AsyncFnOnce(&mut Studio<'_>) -> Result<()>,
) {
    drive(name, async |browser| {
        let mut studio = Studio::open(browser, service, true).await?;
        steps(&mut studio).await?;
        studio.close(name).await
    })
    .await;
}

/// The same at a service that says nothing of idempotency keys, as most don't.
pub async fn play_without_keys(
    name: &str,
    service: &[&str],
    steps: impl AsyncFnOnce(&mut Studio<'_>) -> Result<()>,
) {
    drive(name, async |browser| {
        let mut studio = Studio::open(browser, service, false).await?;
        steps(&mut studio).await?;
        studio.close(name).await
    })
    .await;
}

/// Runs the steps in Batch mode; what they send need not come to an end.
pub async fn visit(
    name: &str,
    service: &[&str],
    steps: impl AsyncFnOnce(&mut Studio<'_>) -> Result<()>,
) {
    drive(name, async |browser| {
        let mut studio = Studio::open(browser, service, true).await?;
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

impl<'a> Studio<'a> {
    async fn open(browser: &'a Browser, service: &[&str], has_keys: bool) -> Result<Self> {
        let service = Service::with_site(service).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        hearing::listen(browser, &proxy).await?;
        if !has_keys {
            proxy.hide_keys();
        }
        let studio = Self {
            browser,
            service,
            proxy,
            ledger: Ledger::default(),
        };
        studio.make_room().await?;
        studio.reload().await?;
        Ok(studio)
    }

    /// Makes the tab so high that the items of a small batch are all there.
    pub async fn make_room(&self) -> Result<()> {
        self.browser.set_size(1280, 4000).await
    }

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
        let calls = self.proxy.calls();
        let counts = self.ledger.balance(&calls, &states);
        if !counts.is_clean() {
            for call in calls.iter().filter(|call| call.is_v2()) {
                eprintln!("{call:?}");
            }
            return Err(format!("{name}: {counts}; the page shows {items:?}").into());
        }
        settled?;
        counts.enter(TESTS);
        Ok(())
    }

    pub fn address(&self, path: &str) -> String {
        format!("{}{path}", self.proxy.address())
    }

    /// Loads the model's page afresh, in Batch mode.
    pub async fn reload(&self) -> Result<()> {
        let address = self.address(&format!("{MODEL}?mode=batch"));
        self.browser.open(&address).await?;
        self.is_open().await
    }

    /// Opens Batch mode in a further tab.
    pub async fn open_tab(&self) -> Result<WindowHandle> {
        let address = self.address(&format!("{MODEL}?mode=batch"));
        let tab = self.browser.open_tab("about:blank").await?;
        hearing::listen(self.browser, &self.proxy).await?;
        self.browser.open(&address).await?;
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
