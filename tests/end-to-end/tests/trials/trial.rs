//! Runs a trial: executes its plan, waits until all tasks have ended, and judges the result.

use crate::Keys;
use crate::judge::{Evidence, Excuses, Verdict, judge};
use crate::plan::{self, Act, Cleared, Injection, Step};
use crate::tabs::Tabs;
use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::FaultProxy;
use atelier_end_to_end::find::by;
use atelier_end_to_end::ledger::Ledger;
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::report_failure;
use atelier_end_to_end::wait::{Seen, until};
use std::time::Duration;

/// Slow enough that tasks are running when faults occur, with workers for all of them.
const SERVICE: [&str; 4] = ["--speed", "2", "--workers", "24"];

/// The time limit for all tasks to end after the last injection. The page's longest waits are a minute.
const MAX_SETTLE_TIME: Duration = Duration::from_secs(150);

/// The time limit for a whole trial on a busy machine.
const MAX_DURATION: Duration = Duration::from_secs(900);

/// The states of tasks that have not ended.
const RUNNING: [&str; 5] = ["Queued", "Submitting", "Starting", "Processing", "Unknown"];

struct Trial<'a> {
    keys: Keys,
    tabs: Tabs<'a>,
    service: Service,
    proxy: FaultProxy,
    ledger: Ledger,
    excuses: Excuses,
    /// The time since which storage may have failed.
    unsaved_since: Option<Duration>,
    /// Whether storage was cleared since then.
    is_cleared: bool,
    unconfirmed: Vec<String>,
    /// The events of the trial, with times.
    trace: Vec<String>,
}

/// Runs the trial of a seed. If it fails, prints its state.
pub async fn run(seed: u64, keys: Keys) -> Result<Verdict> {
    eprintln!("trial {seed}, keys {keys:?}");
    let browser = Browser::start().await?;
    let service = Service::start_with_site(&SERVICE).await?;
    let proxy = FaultProxy::start(&service.address()).await?;
    if keys == Keys::Unknown {
        proxy.hide_idempotency_keys();
    }
    let mut trial = Trial {
        keys,
        tabs: Tabs::start(&browser, proxy.address()).await?,
        service,
        proxy,
        ledger: Ledger::default(),
        excuses: Excuses::default(),
        unsaved_since: None,
        is_cleared: false,
        unconfirmed: Vec::new(),
        trace: Vec::new(),
    };
    let result = tokio::time::timeout(MAX_DURATION, trial.run_plan(plan::generate(seed))).await;
    let verdict = match result {
        Ok(Ok(verdict)) if verdict.is_clean() => return Ok(verdict),
        Ok(Ok(verdict)) => verdict.to_string(),
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("the trial did not end within {MAX_DURATION:?}"),
    };
    trial.print_state(seed, &verdict).await;
    report_failure(&format!("trial-{seed}-{keys:?}"), &browser).await;
    Err(verdict.into())
}

impl Trial<'_> {
    async fn run_plan(&mut self, steps: Vec<Step>) -> Result<Verdict> {
        for step in steps {
            tokio::time::sleep(Duration::from_millis(step.pause_ms)).await;
            self.trace
                .push(format!("{:?} {:?}", self.proxy.now(), step.act));
            self.execute(step.act.clone())
                .await
                .map_err(|error| format!("{:?}: {error}", step.act))?;
        }
        self.end_faults().await?;
        self.finish().await
    }

    async fn execute(&mut self, act: Act) -> Result<()> {
        match act {
            Act::Submit(tab) => {
                let tab = self.tabs.index_of(tab);
                self.tabs.switch_to(tab).await?;
                let prompt = format!("task {:02}", self.ledger.asked.len() + 1);
                self.tabs.generate(&prompt).await?;
                self.ledger.ask(&prompt);
                Ok(())
            }
            Act::Inject(injection) => self.inject(injection).await,
            Act::Online => self.tabs.browser.set_offline(false).await,
            Act::RestoreStorage => self.set_breakage(None).await,
        }
    }

    async fn inject(&mut self, injection: Injection) -> Result<()> {
        match injection {
            Injection::Fault(rule) => self.proxy.add(rule),
            Injection::Reload(tab) => {
                self.record_possible_losses().await?;
                let tab = self.tabs.index_of(tab);
                self.tabs.reload(tab).await?;
                self.tabs.wait_until_loaded(self.expected_tasks()).await?;
            }
            Injection::Crash(tab) => {
                let tab = self.prepare_tab_end(tab).await?;
                self.tabs.crash(tab).await?;
            }
            Injection::Close(tab) => {
                let tab = self.prepare_tab_end(tab).await?;
                self.tabs.close(tab).await?;
            }
            Injection::OpenTab => self.tabs.open(self.expected_tasks()).await?,
            Injection::Offline => self.tabs.browser.set_offline(true).await?,
            Injection::ClockBack { minutes } => {
                let mut conditions = self.tabs.conditions();
                conditions.back_ms += minutes * 60_000;
                self.tabs.set_conditions(conditions).await?;
            }
            Injection::ClearStorage(what) => {
                self.unsaved_since.get_or_insert(self.proxy.now());
                self.is_cleared = true;
                let types = match what {
                    Cleared::Tasks => "indexeddb",
                    Cleared::Everything => "all",
                };
                self.tabs.clear_storage(types).await?;
            }
            Injection::BreakStorage(breakage) => {
                self.unsaved_since.get_or_insert(self.proxy.now());
                self.set_breakage(Some(breakage)).await?;
            }
            Injection::KillService => self.service.restart().await?,
        }
        Ok(())
    }

    async fn set_breakage(&mut self, breakage: Option<plan::Breakage>) -> Result<()> {
        let mut conditions = self.tabs.conditions();
        conditions.breakage = breakage;
        self.tabs.set_conditions(conditions).await
    }

    /// Prepares for the end of a tab: opens another one if it is the only one, and records the tasks that may be
    /// lost.
    async fn prepare_tab_end(&mut self, tab: plan::Tab) -> Result<usize> {
        let tab = self.tabs.index_of(tab);
        if self.tabs.len() == 1 {
            self.tabs.open(self.expected_tasks()).await?;
        }
        self.record_possible_losses().await?;
        Ok(tab)
    }

    /// Records the tasks that may be lost if a tab ends now.
    async fn record_possible_losses(&mut self) -> Result<()> {
        if let Some(since) = self.unsaved_since {
            if self.tabs.any_shows_not_stored().await? {
                let now = self.proxy.now();
                let calls = self.proxy.calls();
                self.trace
                    .push(format!("{now:?} not stored since {since:?}"));
                if self.is_cleared && self.tabs.len() == 1 {
                    self.excuses.record_total_loss(now, &self.ledger);
                } else {
                    self.excuses.record_loss(since, now, &self.ledger, &calls);
                }
            } else if self.tabs.conditions().breakage.is_none() {
                self.unsaved_since = None;
                self.is_cleared = false;
            }
        }
        Ok(())
    }

    /// Returns how many tasks a page that is loaded now must show.
    fn expected_tasks(&self) -> u64 {
        let known = |prompt: &&String| !self.excuses.unsaved.contains(*prompt);
        self.ledger.expected().filter(known).count() as u64
    }

    /// Ends all faults.
    async fn end_faults(&mut self) -> Result<()> {
        self.trace
            .push(format!("{:?} faults ended", self.proxy.now()));
        self.proxy.clear();
        self.tabs.browser.set_offline(false).await?;
        self.set_breakage(None).await
    }

    /// Waits until all tasks have ended, lets the user resolve Unconfirmed tasks, and judges the trial.
    async fn finish(&mut self) -> Result<Verdict> {
        self.tabs.switch_to(self.tabs.len() - 1).await?;
        self.tabs.browser.press(&by("link", "Tasks")).await?;
        self.wait_until_settled().await?;
        self.record_possible_losses().await?;
        // Reloads the list, so that only stored tasks count.
        self.tabs.open_list().await?;
        self.wait_until_settled().await?;
        let states = self.tabs.states().await?;
        let unconfirmed = states.iter().filter(|(_, state)| *state == "Unconfirmed");
        self.unconfirmed = unconfirmed.map(|(prompt, _)| prompt.clone()).collect();
        for (at, prompt) in self.unconfirmed.iter().enumerate() {
            if at % 2 == 0 {
                self.ledger.ask(prompt);
                self.tabs.resubmit(prompt).await?;
            } else {
                self.ledger.exempt_prompts.insert(prompt.clone());
                self.tabs.dismiss(prompt).await?;
            }
        }
        self.wait_until_settled().await?;
        self.tabs.open_list().await?;
        self.wait_until_settled().await?;
        let states = self.tabs.states().await?;
        self.service.stop().await?;
        Ok(judge(&Evidence {
            keys: self.keys,
            ledger: &self.ledger,
            calls: &self.proxy.calls(),
            excuses: &self.excuses,
            states: &states,
            unconfirmed: &self.unconfirmed,
            accepted: &self.service.accepted_tasks()?,
        }))
    }

    /// Waits until all tasks have ended in the current tab. Confirms dialogs in all tabs.
    async fn wait_until_settled(&self) -> Result<()> {
        let current = self.tabs.browser.client.window().await?;
        until("all tasks to end", MAX_SETTLE_TIME, async || {
            self.tabs.answer_everywhere().await?;
            self.tabs.browser.switch_to(&current).await?;
            let states = self.tabs.states().await?;
            let is_running = |state: &String| RUNNING.contains(&state.as_str());
            let is_missing = |prompt: &&String| {
                !states.contains_key(*prompt) && !self.excuses.unsaved.contains(*prompt)
            };
            let missing: Vec<&String> = self.ledger.expected().filter(is_missing).collect();
            Ok(if states.values().any(is_running) || !missing.is_empty() {
                Seen::NotYet(format!("{states:?}; missing: {missing:?}"))
            } else {
                Seen::Yes(())
            })
        })
        .await
    }

    /// Prints the state of a failed trial. The verdict comes first, because the end of a long output may be cut off.
    async fn print_state(&self, seed: u64, verdict: &str) {
        eprintln!(
            "trial {seed}, keys {:?}, now {:?}: {verdict}",
            self.keys,
            self.proxy.now()
        );
        for line in &self.trace {
            eprintln!("  {line}");
        }
        eprintln!("submitted: {:?}", self.ledger.asked);
        eprintln!("reported as not stored: {:?}", self.excuses.unsaved);
        for call in self.proxy.calls().iter().filter(|call| call.is_api_call()) {
            eprintln!("{call:?}");
        }
        for record in self.tabs.stored().await.unwrap_or_default() {
            eprintln!("stored: {record}");
        }
        for at in 0..self.tabs.len() {
            let result = self.tabs.switch_to(at).await;
            eprintln!("tab {at}: {result:?}, {:?}", self.tabs.states().await);
            let shown = self
                .tabs
                .browser
                .run("return document.body.innerText", vec![])
                .await;
            eprintln!("{shown:?}");
        }
    }
}
