//! Plans of trials, generated from a seed.

use crate::random::Random;
use atelier_end_to_end::fault::{Fault, RetryAfter, Rule};
use std::time::Duration;

pub const TASKS: usize = 60;
pub const INJECTIONS: usize = 100;
pub const MAX_TABS: usize = 3;

/// The maximum number of steps for which the network or the storage fails.
const MAX_OUTAGE_STEPS: u64 = 6;

/// The maximum pause between two steps.
const PAUSE_MS: u64 = 700;

#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The pause before the step.
    pub pause_ms: u64,
    pub act: Act,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// The user submits the next task in one of the open tabs.
    Submit(Tab),
    Inject(Injection),
    /// The network works again.
    Online,
    /// The storage works again.
    RestoreStorage,
}

/// One of the open tabs. Before the only tab ends, another one is opened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tab {
    /// The tab that was loaded first, which is the leader.
    Leader,
    /// The tab with this number, modulo the number of tabs.
    Number(usize),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Injection {
    Reload(Tab),
    Crash(Tab),
    /// Closes the tab without `beforeunload`.
    Close(Tab),
    OpenTab,
    Offline,
    ClockBack {
        minutes: u64,
    },
    ClearStorage(Cleared),
    BreakStorage(Breakage),
    KillService,
    Fault(Rule),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cleared {
    Tasks,
    Everything,
}

/// A storage failure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Breakage {
    /// Databases can't be opened.
    Refused,
    /// Requests to open a database are never answered.
    Silent,
    /// Nothing can be written.
    Full,
}

/// The state of a plan while it is generated.
struct Generator {
    random: Random,
    tabs: usize,
    /// Steps until the network works again.
    offline: Option<u64>,
    /// Steps until storage works again.
    broken: Option<u64>,
}

/// Generates the plan of a seed.
pub fn generate(seed: u64) -> Vec<Step> {
    let mut generator = Generator {
        random: Random::new(seed),
        tabs: 1,
        offline: None,
        broken: None,
    };
    let (mut tasks, mut injections) = (TASKS, INJECTIONS);
    let mut steps = Vec::new();
    while tasks + injections > 0 {
        let pause_ms = generator.random.below(PAUSE_MS);
        let act = if is_over(&mut generator.offline) {
            Act::Online
        } else if is_over(&mut generator.broken) {
            Act::RestoreStorage
        } else if (generator.random.below((tasks + injections) as u64) as usize) < tasks {
            tasks -= 1;
            Act::Submit(generator.tab())
        } else {
            injections -= 1;
            Act::Inject(generator.injection())
        };
        steps.push(Step { pause_ms, act });
    }
    steps
}

/// Counts a step of an outage. Returns whether it is over.
fn is_over(steps_left: &mut Option<u64>) -> bool {
    match steps_left {
        Some(0) => {
            *steps_left = None;
            true
        }
        Some(left) => {
            *left -= 1;
            false
        }
        None => false,
    }
}

impl Generator {
    fn tab(&mut self) -> Tab {
        match self.random.below(4) {
            0 => Tab::Leader,
            number => Tab::Number(number as usize),
        }
    }

    fn injection(&mut self) -> Injection {
        loop {
            if let Some(injection) = self.try_injection() {
                return injection;
            }
        }
    }

    /// Returns `None` for an injection that is impossible now, for instance a page load while offline.
    fn try_injection(&mut self) -> Option<Injection> {
        let is_online = self.offline.is_none();
        Some(match self.random.below(100) {
            0..12 if is_online => Injection::Reload(self.tab()),
            12..20 if is_online || self.tabs > 1 => Injection::Crash(self.ending_tab()),
            20..27 if is_online || self.tabs > 1 => Injection::Close(self.ending_tab()),
            27..40 if is_online && self.tabs < MAX_TABS => {
                self.tabs += 1;
                Injection::OpenTab
            }
            40..46 if is_online => {
                self.offline = Some(self.random.below(MAX_OUTAGE_STEPS));
                Injection::Offline
            }
            46..50 => Injection::ClockBack {
                minutes: 1 + self.random.below(30),
            },
            50..54 => {
                Injection::ClearStorage(self.random.one_of(&[Cleared::Tasks, Cleared::Everything]))
            }
            54..59 if self.broken.is_none() => {
                self.broken = Some(self.random.below(MAX_OUTAGE_STEPS));
                let breakages = [Breakage::Refused, Breakage::Silent, Breakage::Full];
                Injection::BreakStorage(self.random.one_of(&breakages))
            }
            59..64 => Injection::KillService,
            64.. => Injection::Fault(self.fault()),
            _ => return None,
        })
    }

    /// Returns a tab that ends, often the leader.
    fn ending_tab(&mut self) -> Tab {
        self.tabs = (self.tabs - 1).max(1);
        if self.random.below(2) == 0 {
            Tab::Leader
        } else {
            self.tab()
        }
    }

    fn fault(&mut self) -> Rule {
        let paths = ["/v2/generate*", "/v2/status*", "/v2/response*", "/v2/*"];
        let mut path = self.random.one_of(&paths);
        let seconds = 2 + self.random.below(4);
        let fault = match self.random.below(12) {
            0 => refusal(429, Some(RetryAfter::Seconds(seconds))),
            1 => refusal(429, Some(RetryAfter::Date(seconds))),
            2 => refusal(429, None),
            3 => refusal(503, Some(RetryAfter::Seconds(seconds))),
            4 => refusal(500, None),
            5 => refusal(502, None),
            6 => Fault::DropBefore,
            7 => Fault::DropAfter,
            8 => Fault::NotJson,
            9 => Fault::Delay {
                time: Duration::from_millis(500 * seconds),
            },
            10 => {
                path = self
                    .random
                    .one_of(&["/v2/generate-batch", "/v2/status-batch"]);
                Fault::CutBatch { keep: 1 }
            }
            _ => {
                path = self
                    .random
                    .one_of(&["/v2/generate-batch", "/v2/status-batch"]);
                Fault::ReorderBatch
            }
        };
        Rule::next(1 + self.random.below(2) as u32, path, fault)
    }
}

fn refusal(status: u16, retry_after: Option<RetryAfter>) -> Fault {
    Fault::Status {
        status,
        retry_after,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const SEEDS: std::ops::Range<u64> = 0..200;

    #[test]
    fn same_seed_gives_same_plan() {
        assert_eq!(generate(7), generate(7));
        assert_ne!(generate(7), generate(8));
    }

    #[test]
    fn every_plan_has_all_tasks_and_injections() {
        for seed in SEEDS {
            let steps = generate(seed);
            let count = |is: fn(&Act) -> bool| steps.iter().filter(|step| is(&step.act)).count();
            assert_eq!(count(|act| matches!(act, Act::Submit(_))), TASKS);
            assert_eq!(count(|act| matches!(act, Act::Inject(_))), INJECTIONS);
        }
    }

    /// No page can be loaded while offline: such a plan would test the browser's error page.
    #[test]
    fn no_plan_loads_page_offline() {
        for seed in SEEDS {
            let (mut tabs, mut is_online) = (1, true);
            for step in generate(seed) {
                match step.act {
                    Act::Online => is_online = true,
                    Act::Inject(Injection::Offline) => is_online = false,
                    Act::Inject(Injection::Reload(_)) => assert!(is_online),
                    Act::Inject(Injection::OpenTab) => {
                        assert!(is_online);
                        tabs += 1;
                        assert!(tabs <= MAX_TABS);
                    }
                    Act::Inject(Injection::Crash(_) | Injection::Close(_)) => {
                        assert!(is_online || tabs > 1);
                        tabs = (tabs - 1).max(1);
                    }
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn plans_cover_all_injections() {
        let mut seen = BTreeSet::new();
        for seed in SEEDS {
            for step in generate(seed) {
                let text = format!("{:?}", step.act);
                let name = text.split(['(', ' ', '{']).nth(1).unwrap_or_default();
                seen.insert(name.to_owned());
            }
        }
        for name in [
            "Reload",
            "Crash",
            "Close",
            "OpenTab",
            "Offline",
            "ClockBack",
            "ClearStorage",
            "BreakStorage",
            "KillService",
            "Fault",
        ] {
            assert!(
                seen.iter().any(|seen| seen.starts_with(name)),
                "{name}: {seen:?}"
            );
        }
    }
}
