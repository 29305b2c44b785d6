//! A person in Batch mode, a fault proxy, and the service behind it.

use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::{Call, Fault, FaultProxy, RetryAfter, Rule};
use atelier_end_to_end::find::{Query, any, by, starting};
use atelier_end_to_end::ledger::{Ledger, is_generate};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, until};
use atelier_end_to_end::{Error, Result, hearing};
use fantoccini::elements::Element;
use fantoccini::wd::WindowHandle;
use serde_json::Value;
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

/// One item as the page shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    pub number: usize,
    pub state: String,
    pub prompt: String,
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

    /// The batch that is shown.
    pub async fn batch(&self) -> Result<Element> {
        self.browser.find(&starting("article", "Batch: ")).await
    }

    /// How the batch stands, as the page says it: `22 completed, 3 failed`.
    pub async fn counts(&self) -> Result<String> {
        let batch = self.batch().await?;
        let script = "return arguments[0].querySelector('[role=status]').textContent.trim()";
        let argument = vec![self.browser.argument(&batch)];
        let counts = self.browser.run(script, argument).await?;
        Ok(counts.as_str().unwrap_or_default().to_owned())
    }

    /// Waits until the batch stands so.
    pub async fn see_counts(&self, wanted: &str) -> Result<()> {
        until(format!("“{wanted}”"), TIMEOUT, async || {
            let counts = self.counts().await?;
            Ok(if counts == wanted {
                Seen::Yes(())
            } else {
                Seen::NotYet(counts)
            })
        })
        .await
    }

    /// Waits until nothing more happens by itself.
    pub async fn settled(&self) -> Result<()> {
        until("all items to end", TIMEOUT, async || {
            let counts = self.counts().await?;
            let goes_on = counts.is_empty()
                || ["queued", "in progress"]
                    .iter()
                    .any(|word| counts.contains(word));
            Ok(if goes_on {
                Seen::NotYet(counts)
            } else {
                Seen::Yes(())
            })
        })
        .await
    }

    /// Every item of the batch that is shown, all at one moment.
    pub async fn items(&self) -> Result<Vec<Shown>> {
        let list = self.browser.find(&by("list", "Items of the batch")).await?;
        self.items_in(&list).await
    }

    pub async fn items_in(&self, element: &Element) -> Result<Vec<Shown>> {
        let script = "
            return [...arguments[0].querySelectorAll('[aria-label^=\"Item \"]')]
                .map(item => item.ariaLabel)";
        let argument = vec![self.browser.argument(element)];
        let labels = self.browser.run(script, argument).await?;
        let labels = labels.as_array().into_iter().flatten();
        labels
            .filter_map(Value::as_str)
            .map(|label| {
                let read = || {
                    let (number, rest) = label.strip_prefix("Item ")?.split_once(": ")?;
                    let (prompt, state) = rest.rsplit_once(", ")?;
                    Some(Shown {
                        number: number.parse().ok()?,
                        state: state.to_owned(),
                        prompt: prompt.to_owned(),
                    })
                };
                read().ok_or_else(|| Error::from(format!("an item is called “{label}”")))
            })
            .collect()
    }

    /// The numbers of the items in this state.
    pub async fn in_state(&self, state: &str) -> Result<Vec<usize>> {
        let items = self.items().await?;
        let found = items.iter().filter(|item| item.state == state);
        Ok(found.map(|item| item.number).collect())
    }

    /// Waits until the proxy has seen what is wanted.
    pub async fn sees(&self, what: &str, seen: impl Fn(&[Call]) -> bool) -> Result<()> {
        until(what, TIMEOUT, async || {
            let calls = self.proxy.calls();
            Ok(if seen(&calls) {
                Seen::Yes(())
            } else {
                Seen::NotYet(format!("there were {} calls", calls.len()))
            })
        })
        .await
    }

    /// Waits until so many generate calls have come.
    pub async fn sees_calls(&self, count: usize) -> Result<()> {
        self.sees(&format!("{count} generate calls"), |calls| {
            calls.iter().filter(|call| is_generate(call)).count() >= count
        })
        .await
    }

    /// The generate calls so far.
    pub fn generate_calls(&self) -> Vec<Call> {
        let calls = self.proxy.calls();
        calls.into_iter().filter(is_generate).collect()
    }

    /// How many items each generate call carried, in order.
    pub fn sizes(&self) -> Vec<usize> {
        self.generate_calls()
            .iter()
            .map(|call| call.items)
            .collect()
    }

    /// The prompts of all generate calls, in order.
    pub fn sent(&self) -> Vec<String> {
        let calls = self.generate_calls();
        calls.into_iter().flat_map(|call| call.prompts).collect()
    }

    /// Lets the next so many calls pass, before the rules that are added later.
    pub fn let_pass(&self, times: u32, path: &str) {
        let time = Duration::ZERO;
        self.proxy
            .add(Rule::next(times, path, Fault::Delay { time }));
    }

    /// The seeds of all generate calls, in order.
    pub fn seeds(&self) -> Vec<String> {
        let calls = self.generate_calls();
        calls.into_iter().flat_map(|call| call.seeds).collect()
    }

    /// The prompts in the table that are yet to be sent, row by row. Only the rows near the screen
    /// exist, so all of it is scrolled by.
    pub async fn rows(&self) -> Result<Vec<String>> {
        let table = by("region", "Items");
        // What was sent is folded away, and the table with it where there is nothing else.
        let folded = self.browser.find_all(&by("button", "Show")).await?;
        if !folded.is_empty() && self.browser.find_all(&table).await?.is_empty() {
            return Ok(Vec::new());
        }
        let table = self.browser.find(&table).await?;
        let script = "
            const [table] = arguments;
            return (async () => {
                const rows = new Map();
                for (let top = 0; ; top += table.clientHeight / 2) {
                    table.scrollTop = top;
                    await new Promise(seen => setTimeout(seen, top === 0 ? 0 : 100));
                    for (const cell of table.querySelectorAll('[aria-label^=\"prompt, row \"]')) {
                        const isSent = cell.closest('tr').innerText.includes('Sent');
                        rows.set(Number(cell.ariaLabel.split(' ').at(-1)), isSent ? null : cell.value);
                    }
                    if (top + table.clientHeight >= table.scrollHeight) break;
                }
                table.scrollTop = 0;
                const inOrder = [...rows].sort(([a], [b]) => a - b);
                return inOrder.map(([, prompt]) => prompt).filter(prompt => prompt !== null);
            })();";
        let argument = vec![self.browser.argument(&table)];
        let rows = self.browser.run(script, argument).await?;
        let rows = rows.as_array().into_iter().flatten();
        Ok(rows.filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// How many rows the table has, by what it tells assistive technology.
    pub async fn row_count(&self) -> Result<usize> {
        let table = self.browser.find(&by("region", "Items")).await?;
        let table = self.browser.find(&any("table").within(&table)).await?;
        let count = table.attr("aria-rowcount").await?.unwrap_or_default();
        Ok(count.parse::<usize>()? - 1)
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

    /// The calls that the present tab has made since it was loaded, by the browser's own record.
    pub async fn calls_of_tab(&self) -> Result<u64> {
        let script = "
            return performance.getEntriesByType('resource')
                .filter(entry => new URL(entry.name).pathname.startsWith('/v2/')).length";
        let count = self.browser.run(script, vec![]).await?;
        count.as_u64().ok_or_else(|| "not a number".into())
    }

    /// The table of a sweep over two axes.
    pub async fn sweep_table(&self) -> Result<Element> {
        let region = self
            .browser
            .find(&by("region", "Items of the batch"))
            .await?;
        self.browser.find(&any("table").within(&region)).await
    }
}
