//! What was asked for, what was sent, and what came of it.

use crate::fault::Call;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

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

/// The calls that left before the time that a refusal named, by a browser that had received that refusal
/// ([`crate::hearing`]), of those that it can be expected to remember.
pub fn early(calls: &[Call], is_remembered: impl Fn(&Call) -> bool) -> Vec<Call> {
    let refusals: Vec<(&Call, &String)> = calls
        .iter()
        .filter(|call| call.not_before.is_some() && is_remembered(call))
        .filter_map(|call| Some((call, call.mark.as_ref()?)))
        .collect();
    let is_early = |call: &&Call| {
        refusals.iter().any(|(refusal, mark)| {
            call.is_v2() && call.heard.contains(mark) && Some(call.at) < refusal.not_before
        })
    };
    calls.iter().filter(is_early).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_call_is_early_only_after_its_browser_received_the_refusal() {
        let call = |number: usize, at_s: u64, heard: &[&str]| Call {
            mark: Some(number.to_string()),
            heard: heard.iter().map(ToString::to_string).collect(),
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
