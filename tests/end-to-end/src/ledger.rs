//! What was asked for, what was sent, and what came of it.

use crate::fault::Call;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::Write;
use std::ops::AddAssign;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

static TOTAL: Mutex<(usize, Counts)> = Mutex::new((0, Counts::NONE));

/// A call this short after a refusal had left when that came.
const UNDER_WAY: Duration = Duration::from_millis(300);

/// What the person did: by the prompt, which is another one for each task.
#[derive(Default)]
pub struct Ledger {
    /// How often a person asked for it: Generate, and each Resubmit.
    pub asked: BTreeMap<String, usize>,
    /// What need not complete: a person dismissed it or took it back, or it fails on purpose.
    pub given_up: BTreeSet<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counts {
    submitted: usize,
    generate_requests: usize,
    completed: usize,
    lost: usize,
    duplicated: usize,
    early: usize,
}

impl Ledger {
    pub fn ask(&mut self, prompt: &str) {
        *self.asked.entry(prompt.to_owned()).or_default() += 1;
    }

    /// The prompts whose tasks have to be there.
    pub fn expected(&self) -> impl Iterator<Item = &String> {
        let kept = |prompt: &&String| !self.given_up.contains(*prompt);
        self.asked.keys().filter(kept)
    }

    /// Compares what was asked for with what the proxy saw and the states that the page shows.
    pub fn balance(&self, calls: &[Call], states: &BTreeMap<String, String>) -> Counts {
        let completed = |prompt: &&String| states.get(*prompt).is_some_and(|s| s == "Completed");
        let generate = || calls.iter().filter(|call| is_generate(call));
        // Refused in so many words, a request was not taken: it may be sent again. Any other may
        // have reached the service.
        let is_refused = |call: &&Call| {
            call.not_before.is_some() || call.status.is_some_and(|s| (400..500).contains(&s))
        };
        let mut sent: BTreeMap<&String, usize> = BTreeMap::new();
        let mut keys = BTreeSet::new();
        for call in generate().filter(|call| !is_refused(call)) {
            for (prompt, key) in call.prompts.iter().zip(&call.keys) {
                // The service takes a key once, however often it comes.
                if key.is_empty() || keys.insert((prompt, key)) {
                    *sent.entry(prompt).or_default() += 1;
                }
            }
        }
        let too_often = |(prompt, times): (&&String, &usize)| {
            times.saturating_sub(self.asked.get(*prompt).copied().unwrap_or(0))
        };
        Counts {
            submitted: self.asked.values().sum(),
            generate_requests: generate().map(|call| call.items).sum(),
            completed: self.expected().filter(completed).count(),
            lost: self.expected().filter(|prompt| !completed(prompt)).count(),
            duplicated: sent.iter().map(too_often).sum(),
            early: heedless(calls).len(),
        }
    }
}

impl Counts {
    const NONE: Self = Self {
        submitted: 0,
        generate_requests: 0,
        completed: 0,
        lost: 0,
        duplicated: 0,
        early: 0,
    };

    pub fn is_clean(&self) -> bool {
        (self.lost, self.duplicated, self.early) == (0, 0, 0)
    }

    /// Adds these counts to those of the other tests of this program. When the last of them, of
    /// `tests`, is done, the sum is printed.
    pub fn enter(self, tests: usize) {
        let mut total = TOTAL.lock().unwrap_or_else(PoisonError::into_inner);
        total.0 += 1;
        total.1 += self;
        if total.0 == tests {
            // Not `println!`: its output is shown of failing tests only.
            let _ = writeln!(std::io::stdout(), "\n{}", total.1);
        }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.submitted += other.submitted;
        self.generate_requests += other.generate_requests;
        self.completed += other.completed;
        self.lost += other.lost;
        self.duplicated += other.duplicated;
        self.early += other.early;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self {
            submitted,
            generate_requests,
            completed,
            lost,
            duplicated,
            early,
        } = self;
        write!(
            f,
            "submitted {submitted}, generate requests {generate_requests}, completed {completed}, \
             lost {lost}, duplicated {duplicated}, calls before Retry-After {early}"
        )
    }
}

pub fn is_generate(call: &Call) -> bool {
    call.path.starts_with("/v2/generate")
}

/// The calls that came while the service wanted none, later than `under_way` after it said so.
pub fn early(calls: &[Call], under_way: Duration) -> Vec<Call> {
    early_after(calls, under_way, |_, _| true)
}

/// Those of them whose browser had heard that, as far as it says.
fn heedless(calls: &[Call]) -> Vec<Call> {
    early_after(calls, UNDER_WAY, |refused, call| {
        match (&refused.mark, &call.mark) {
            (Some(refused), Some(_)) => call.heard.contains(refused),
            _ => true,
        }
    })
}

fn early_after(
    calls: &[Call],
    under_way: Duration,
    is_known: impl Fn(&Call, &Call) -> bool,
) -> Vec<Call> {
    let is_soon_after =
        |refused: &Call, call: &Call| call.at >= refused.at && call.at <= refused.at + under_way;
    // A page that was left in that moment did not hear it, and the next one cannot know. It makes
    // its calls until the next one has taken its place; the first thing which that one asks for is
    // the list of models.
    let is_heard = |refused: &&Call| {
        let mut left = calls.iter().filter(|call| is_page(call));
        !left.any(|page| {
            let next = calls
                .iter()
                .find(|call| call.number > page.number && call.path == "/api/models");
            let was_there = next.is_some_and(|next| next.at < refused.at);
            is_soon_after(refused, page) || (page.at < refused.at && !was_there)
        })
    };
    let refused: Vec<&Call> = calls.iter().filter(is_heard).collect();
    let is_early = |call: &&Call| {
        refused.iter().any(|refused| {
            refused.not_before.is_some_and(|until| {
                call.is_v2()
                    && call.number > refused.number
                    && !is_soon_after(refused, call)
                    && call.at < until
                    && is_known(refused, call)
            })
        })
    };
    calls.iter().filter(is_early).cloned().collect()
}

/// The load of a page, by one of the addresses that the tests open.
fn is_page(call: &Call) -> bool {
    call.path == "/tasks" || call.path.starts_with("/models/")
}
