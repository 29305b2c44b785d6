//! A trial: what was drawn happens, everything comes to its end, and it is judged.

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
use atelier_end_to_end::story::explain;
use atelier_end_to_end::wait::{Seen, until};
use std::time::Duration;

/// Slow enough that tasks are under way when things happen, and room for all of them.
const SERVICE: [&str; 4] = ["--speed", "2", "--workers", "24"];

/// After the last injection everything ends by itself within this time: the page's longest waits
/// are a minute.
const BOUND: Duration = Duration::from_secs(150);

/// For a whole trial on a busy machine; whatever goes on longer is a fault of the trial.
const LONGEST: Duration = Duration::from_secs(900);

/// States in which something more will happen by itself.
const UNDER_WAY: [&str; 5] = ["Queued", "Submitting", "Starting", "Processing", "Unknown"];

struct World<'a> {
    keys: Keys,
    tabs: Tabs<'a>,
    service: Service,
    proxy: FaultProxy,
    ledger: Ledger,
    excuses: Excuses,
    /// Since when storage may not keep what it is told.
    unkept_since: Option<Duration>,
    /// Whether storage was cleared since then.
    is_cleared: bool,
    unconfirmed: Vec<String>,
    /// What has happened, with times.
    trace: Vec<String>,
}

/// Runs the trial of a seed. Where it fails, prints all that is known of it.
pub async fn run(seed: u64, keys: Keys) -> Result<Verdict> {
    eprintln!("trial {seed}, keys {keys:?}");
    let browser = Browser::start().await?;
    let service = Service::with_site(&SERVICE).await?;
    let proxy = FaultProxy::start(&service.address()).await?;
    if keys == Keys::Unknown {
        proxy.hide_keys();
    }
    let mut world = World {
        keys,
        tabs: Tabs::start(&browser, proxy.address()).await?,
        service,
        proxy,
        ledger: Ledger::default(),
        excuses: Excuses::default(),
        unkept_since: None,
        is_cleared: false,
        unconfirmed: Vec::new(),
        trace: Vec::new(),
    };
    let played = tokio::time::timeout(LONGEST, world.play(plan::draw(seed))).await;
    let verdict = match played {
        Ok(Ok(verdict)) if verdict.is_clean() => return Ok(verdict),
        Ok(Ok(verdict)) => verdict.to_string(),
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("it did not end within {LONGEST:?}"),
    };
    world.tell(seed, &verdict).await;
    explain(&format!("trial-{seed}-{keys:?}"), &browser).await;
    Err(verdict.into())
}

impl World<'_> {
    async fn play(&mut self, steps: Vec<Step>) -> Result<Verdict> {
        for step in steps {
            tokio::time::sleep(Duration::from_millis(step.pause_ms)).await;
            self.trace
                .push(format!("{:?} {:?}", self.proxy.now(), step.act));
            self.act(step.act.clone())
                .await
                .map_err(|error| format!("{:?}: {error}", step.act))?;
        }
        self.heal().await?;
        self.end().await
    }

    async fn act(&mut self, act: Act) -> Result<()> {
        match act {
            Act::Submit(tab) => {
                let tab = self.tabs.which(tab);
                self.tabs.switch_to(tab).await?;
                let prompt = format!("task {:02}", self.ledger.asked.len() + 1);
                self.tabs.generate(&prompt).await?;
                self.ledger.ask(&prompt);
                Ok(())
            }
            Act::Inject(injection) => self.inject(injection).await,
            Act::Online => self.tabs.browser.set_offline(false).await,
            Act::MendStorage => self.set_breakage(None).await,
        }
    }

    async fn inject(&mut self, injection: Injection) -> Result<()> {
        match injection {
            Injection::Fault(rule) => self.proxy.add(rule),
            Injection::Reload(tab) => {
                self.reckon().await?;
                let tab = self.tabs.which(tab);
                self.tabs.reload(tab).await?;
                self.tabs.loaded(self.known()).await?;
            }
            Injection::Crash(tab) => {
                let tab = self.make_way(tab).await?;
                self.tabs.crash(tab).await?;
            }
            Injection::Close(tab) => {
                let tab = self.make_way(tab).await?;
                self.tabs.close(tab).await?;
            }
            Injection::OpenTab => self.tabs.open(self.known()).await?,
            Injection::Offline => self.tabs.browser.set_offline(true).await?,
            Injection::ClockBack { minutes } => {
                let mut conditions = self.tabs.conditions();
                conditions.back_ms += minutes * 60_000;
                self.tabs.set_conditions(conditions).await?;
            }
            Injection::ClearStorage(what) => {
                self.unkept_since.get_or_insert(self.proxy.now());
                self.is_cleared = true;
                let types = match what {
                    Cleared::Tasks => "indexeddb",
                    Cleared::Everything => "all",
                };
                self.tabs.clear_storage(types).await?;
            }
            Injection::BreakStorage(breakage) => {
                self.unkept_since.get_or_insert(self.proxy.now());
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

    /// Prepares for the end of a tab: opens another one if it is the only one, and notes what it could not keep.
    async fn make_way(&mut self, tab: plan::Tab) -> Result<usize> {
        let tab = self.tabs.which(tab);
        if self.tabs.len() == 1 {
            self.tabs.open(self.known()).await?;
        }
        self.reckon().await?;
        Ok(tab)
    }

    /// Notes what may be lost with a tab that ends now.
    async fn reckon(&mut self) -> Result<()> {
        if let Some(since) = self.unkept_since {
            if self.tabs.any_says_unkept().await? {
                let now = self.proxy.now();
                let calls = self.proxy.calls();
                self.trace.push(format!("{now:?} not kept since {since:?}"));
                if self.is_cleared && self.tabs.len() == 1 {
                    self.excuses.forget_all(now, &self.ledger);
                } else {
                    self.excuses.forget(since, now, &self.ledger, &calls);
                }
            } else if self.tabs.conditions().breakage.is_none() {
                self.unkept_since = None;
                self.is_cleared = false;
            }
        }
        Ok(())
    }

    /// How many tasks a page that is loaded now has to know.
    fn known(&self) -> u64 {
        let known = |prompt: &&String| !self.excuses.unkept.contains(*prompt);
        self.ledger.expected().filter(known).count() as u64
    }

    async fn heal(&mut self) -> Result<()> {
        self.trace.push(format!("{:?} healed", self.proxy.now()));
        self.proxy.clear();
        self.tabs.browser.set_offline(false).await?;
        self.set_breakage(None).await
    }

    /// Everything comes to its end without a person; then a person settles what is left to one.
    async fn end(&mut self) -> Result<Verdict> {
        self.tabs.switch_to(self.tabs.len() - 1).await?;
        self.tabs.browser.press(&by("link", "Tasks")).await?;
        self.settled().await?;
        self.reckon().await?;
        // What is stored counts, not what the page still knows.
        self.tabs.open_list().await?;
        self.settled().await?;
        let states = self.tabs.states().await?;
        let unconfirmed = states.iter().filter(|(_, state)| *state == "Unconfirmed");
        self.unconfirmed = unconfirmed.map(|(prompt, _)| prompt.clone()).collect();
        for (at, prompt) in self.unconfirmed.iter().enumerate() {
            if at % 2 == 0 {
                self.ledger.ask(prompt);
                self.tabs.resubmit(prompt).await?;
            } else {
                self.ledger.given_up.insert(prompt.clone());
                self.tabs.dismiss(prompt).await?;
            }
        }
        self.settled().await?;
        self.tabs.open_list().await?;
        self.settled().await?;
        let states = self.tabs.states().await?;
        self.service.stop().await?;
        Ok(judge(&Evidence {
            keys: self.keys,
            ledger: &self.ledger,
            calls: &self.proxy.calls(),
            excuses: &self.excuses,
            states: &states,
            unconfirmed: &self.unconfirmed,
            taken: &self.service.taken()?,
        }))
    }

    /// Waits until nothing more will happen by itself, in the present tab; a question that comes in
    /// any of them is answered.
    async fn settled(&self) -> Result<()> {
        let present = self.tabs.browser.client.window().await?;
        until("all tasks to end", BOUND, async || {
            self.tabs.answer_everywhere().await?;
            self.tabs.browser.switch_to(&present).await?;
            let states = self.tabs.states().await?;
            let is_under_way = |state: &String| UNDER_WAY.contains(&state.as_str());
            let is_missing = |prompt: &&String| {
                !states.contains_key(*prompt) && !self.excuses.unkept.contains(*prompt)
            };
            let missing: Vec<&String> = self.ledger.expected().filter(is_missing).collect();
            Ok(
                if states.values().any(is_under_way) || !missing.is_empty() {
                    Seen::NotYet(format!("{states:?}; not there: {missing:?}"))
                } else {
                    Seen::Yes(())
                },
            )
        })
        .await
    }

    /// Prints all that is known of a trial that failed, and first of all what it failed of: of a long
    /// output the end may be all that is cut off.
    async fn tell(&self, seed: u64, verdict: &str) {
        eprintln!(
            "trial {seed}, keys {:?}, now {:?}: {verdict}",
            self.keys,
            self.proxy.now()
        );
        for line in &self.trace {
            eprintln!("  {line}");
        }
        eprintln!("asked for: {:?}", self.ledger.asked);
        eprintln!("not kept, as the page said: {:?}", self.excuses.unkept);
        for call in self.proxy.calls().iter().filter(|call| call.is_v2()) {
            eprintln!("{call:?}");
        }
        for record in self.tabs.stored().await.unwrap_or_default() {
            eprintln!("stored: {record}");
        }
        for at in 0..self.tabs.len() {
            let there = self.tabs.switch_to(at).await;
            eprintln!("tab {at}: {there:?}, {:?}", self.tabs.states().await);
            let shown = self
                .tabs
                .browser
                .run("return document.body.innerText", vec![])
                .await;
            eprintln!("{shown:?}");
        }
    }
}
