//! A ledger of submissions: compares what the user submitted with the calls sent and the final states.

use crate::fault::Call;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The user's submissions by prompt. Each task has a different prompt.
#[derive(Default)]
pub struct Ledger {
    /// How many times the user submitted each prompt, with Generate or Resubmit.
    pub asked: BTreeMap<String, usize>,
    /// Prompts whose tasks need not complete: they are dismissed or undone, or fail on purpose.
    pub exempt_prompts: BTreeSet<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
/// The result of [`Ledger::balance`].
pub struct Counts {
    submitted: usize,
    generate_requests: usize,
    completed: usize,
    lost: usize,
    duplicated: usize,
    early: usize,
}

impl Ledger {
    /// Records one submission of the prompt.
    pub fn ask(&mut self, prompt: &str) {
        *self.asked.entry(prompt.to_owned()).or_default() += 1;
    }

    /// Returns the prompts whose tasks must complete.
    pub fn expected(&self) -> impl Iterator<Item = &String> {
        let must_complete = |prompt: &&String| !self.exempt_prompts.contains(*prompt);
        self.asked.keys().filter(must_complete)
    }

    /// Compares the submissions with the calls that the proxy recorded and the states that the page shows.
    pub fn balance(&self, calls: &[Call], states: &BTreeMap<String, String>) -> Counts {
        let completed = |prompt: &&String| states.get(*prompt).is_some_and(|s| s == "Completed");
        let generate = || calls.iter().filter(|call| is_generate(call));
        // A request that was rejected with a 4xx status or `Retry-After` may be sent again. Any other request may have
        // been accepted.
        let is_refused = |call: &&Call| {
            call.not_before.is_some() || call.status.is_some_and(|s| (400..500).contains(&s))
        };
        let mut sent: BTreeMap<&String, usize> = BTreeMap::new();
        let mut keys = BTreeSet::new();
        for call in generate().filter(|call| !is_refused(call)) {
            for (prompt, key) in call.prompts.iter().zip(&call.keys) {
                // The service accepts an idempotency key only once.
                if key.is_empty() || keys.insert((prompt, key)) {
                    *sent.entry(prompt).or_default() += 1;
                }
            }
        }
        let excess = |(prompt, times): (&&String, &usize)| {
            times.saturating_sub(self.asked.get(*prompt).copied().unwrap_or(0))
        };
        Counts {
            submitted: self.asked.values().sum(),
            generate_requests: generate().map(|call| call.items).sum(),
            completed: self.expected().filter(completed).count(),
            lost: self.expected().filter(|prompt| !completed(prompt)).count(),
            duplicated: sent.iter().map(excess).sum(),
            early: early(calls, |_| true).len(),
        }
    }
}

impl Counts {
    pub fn is_clean(&self) -> bool {
        (self.lost, self.duplicated, self.early) == (0, 0, 0)
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

/// Returns the calls that a browser sent before the `Retry-After` time of a refusal that it had received
/// ([`crate::received_refusals`]). Ignores refusals that fail `is_remembered`.
pub fn early(calls: &[Call], is_remembered: impl Fn(&Call) -> bool) -> Vec<Call> {
    let refusals: Vec<(&Call, &String)> = calls
        .iter()
        .filter(|call| call.not_before.is_some() && is_remembered(call))
        .filter_map(|call| Some((call, call.mark.as_ref()?)))
        .collect();
    let is_early = |call: &&Call| {
        refusals.iter().any(|(refusal, id)| {
            call.is_api_call() && call.received.contains(id) && Some(call.at) < refusal.not_before
        })
    };
    calls.iter().filter(is_early).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn call_is_early_only_if_browser_received_the_refusal() {
        let call = |number: usize, at_s: u64, received: &[&str]| Call {
            mark: Some(number.to_string()),
            received: received.iter().map(ToString::to_string).collect(),
            ..Call::at("/v2/status", number, Duration::from_secs(at_s))
        };
        let refusal = Call {
            not_before: Some(Duration::from_secs(5)),
            ..call(1, 1, &[])
        };
        let calls = [
            refusal,
            call(2, 2, &[]),
            call(3, 4, &["1"]),
            call(4, 5, &["1"]),
        ];
        let found: Vec<usize> = early(&calls, |_| true)
            .iter()
            .map(|call| call.number)
            .collect();
        assert_eq!(found, [3]);
        assert_eq!(early(&calls, |refusal| refusal.number != 1).len(), 0);
    }
}
