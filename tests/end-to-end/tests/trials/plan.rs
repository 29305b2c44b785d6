//! What will happen in a trial, drawn from its seed before it begins.

use crate::chance::Chance;
use atelier_end_to_end::fault::{Fault, RetryAfter, Rule};
use std::time::Duration;

pub const TASKS: usize = 60;
pub const INJECTIONS: usize = 100;
pub const MAX_TABS: usize = 3;

/// How many steps the network and the storage may be away.
const LONGEST_ABSENCE: u64 = 6;

/// The longest pause between two steps.
const PAUSE_MS: u64 = 700;

#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// How long nothing happens before it.
    pub pause_ms: u64,
    pub act: Act,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// A person submits the next task, in one of the open tabs.
    Submit(Tab),
    Inject(Injection),
    /// The network is back.
    Online,
    /// The storage works again.
    MendStorage,
}

/// One of the open tabs. Where it is the last one and goes, another one is opened before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tab {
    /// The one that was loaded first: it leads.
    Leader,
    /// Counted round.
    Number(usize),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Injection {
    Reload(Tab),
    Crash(Tab),
    /// Without a chance for the page to say anything.
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

/// What storage does from now on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Breakage {
    /// It can't be opened.
    Refused,
    /// It never says whether it is open.
    Silent,
    /// Nothing can be written.
    Full,
}

/// What a plan has to keep in mind while it is drawn.
struct Course {
    chance: Chance,
    tabs: usize,
    /// Steps until the network is back.
    offline: Option<u64>,
    /// Steps until storage works again.
    broken: Option<u64>,
}

pub fn draw(seed: u64) -> Vec<Step> {
    let mut course = Course {
        chance: Chance::new(seed),
        tabs: 1,
        offline: None,
        broken: None,
    };
    let (mut tasks, mut injections) = (TASKS, INJECTIONS);
    let mut steps = Vec::new();
    while tasks + injections > 0 {
        let pause_ms = course.chance.below(PAUSE_MS);
        let act = if is_over(&mut course.offline) {
            Act::Online
        } else if is_over(&mut course.broken) {
            Act::MendStorage
        } else if (course.chance.below((tasks + injections) as u64) as usize) < tasks {
            tasks -= 1;
            Act::Submit(course.tab())
        } else {
            injections -= 1;
            Act::Inject(course.injection())
        };
        steps.push(Step { pause_ms, act });
    }
    steps
}

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

impl Course {
    fn tab(&mut self) -> Tab {
        match self.chance.below(4) {
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

    /// `None` for what can't happen now: without a network no page can be loaded.
    fn try_injection(&mut self) -> Option<Injection> {
        let is_online = self.offline.is_none();
        Some(match self.chance.below(100) {
            0..12 if is_online => Injection::Reload(self.tab()),
            12..20 if is_online || self.tabs > 1 => Injection::Crash(self.leave()),
            20..27 if is_online || self.tabs > 1 => Injection::Close(self.leave()),
            27..40 if is_online && self.tabs < MAX_TABS => {
                self.tabs += 1;
                Injection::OpenTab
            }
            40..46 if is_online => {
                self.offline = Some(self.chance.below(LONGEST_ABSENCE));
                Injection::Offline
            }
            46..50 => Injection::ClockBack {
                minutes: 1 + self.chance.below(30),
            },
            50..54 => {
                Injection::ClearStorage(self.chance.one_of(&[Cleared::Tasks, Cleared::Everything]))
            }
            54..59 if self.broken.is_none() => {
                self.broken = Some(self.chance.below(LONGEST_ABSENCE));
                let breakages = [Breakage::Refused, Breakage::Silent, Breakage::Full];
                Injection::BreakStorage(self.chance.one_of(&breakages))
            }
            59..64 => Injection::KillService,
            64.. => Injection::Fault(self.fault()),
            _ => return None,
        })
    }

    /// A tab that goes: often the one that leads.
    fn leave(&mut self) -> Tab {
        self.tabs = (self.tabs - 1).max(1);
        if self.chance.below(2) == 0 {
            Tab::Leader
        } else {
            self.tab()
        }
    }

    fn fault(&mut self) -> Rule {
        let paths = ["/v2/generate*", "/v2/status*", "/v2/response*", "/v2/*"];
        let mut path = self.chance.one_of(&paths);
        let seconds = 2 + self.chance.below(4);
        let fault = match self.chance.below(12) {
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
                    .chance
                    .one_of(&["/v2/generate-batch", "/v2/status-batch"]);
                Fault::CutBatch { keep: 1 }
            }
            _ => {
                path = self
                    .chance
                    .one_of(&["/v2/generate-batch", "/v2/status-batch"]);
                Fault::ReorderBatch
            }
        };
        Rule::next(1 + self.chance.below(2) as u32, path, fault)
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
    fn a_seed_always_draws_the_same() {
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn every_plan_has_all_tasks_and_injections() {
        for seed in SEEDS {
            let steps = draw(seed);
            let count = |is: fn(&Act) -> bool| steps.iter().filter(|step| is(&step.act)).count();
            assert_eq!(count(|act| matches!(act, Act::Submit(_))), TASKS);
            assert_eq!(count(|act| matches!(act, Act::Inject(_))), INJECTIONS);
        }
    }

    /// Without a network no page can be loaded: such a plan would test the browser's error page.
    #[test]
    fn no_page_is_loaded_offline() {
        for seed in SEEDS {
            let (mut tabs, mut is_online) = (1, true);
            for step in draw(seed) {
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
    fn everything_is_drawn() {
        let mut seen = BTreeSet::new();
        for seed in SEEDS {
            for step in draw(seed) {
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
