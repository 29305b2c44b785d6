//! What came of a trial: nothing may be lost, paid twice, early or stuck.

use crate::Keys;
use atelier_end_to_end::fault::Call;
use atelier_end_to_end::ledger::{self, Ledger, is_generate};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

/// What a trial has done to the page that the page could not help.
#[derive(Default)]
pub struct Excuses {
    /// From when to when tasks were not being kept, by the page's own word, until a tab went: what
    /// it was told meanwhile is forgotten.
    pub forgotten: Vec<(Duration, Duration)>,
    /// Tasks that the page could not keep, by its own word, when a tab went.
    pub unkept: BTreeSet<String>,
}

impl Excuses {
    /// A tab goes while the page says that it has not been able to keep tasks since then. What was
    /// accepted before stays known; the rest may be sent, and lost.
    pub fn forget(&mut self, since: Duration, now: Duration, ledger: &Ledger, calls: &[Call]) {
        self.forgotten.push((since, now));
        let accepted: BTreeSet<&String> = calls
            .iter()
            .filter(|call| is_generate(call) && call.at < since && !call.accepted.is_empty())
            .flat_map(|call| &call.prompts)
            .collect();
        let unkept = ledger
            .asked
            .keys()
            .filter(|prompt| !accepted.contains(prompt));
        self.unkept.extend(unkept.cloned());
    }

    /// The only tab goes while the page says that it has not been able to write everything again since
    /// storage was cleared: nothing is known any more.
    pub fn forget_all(&mut self, now: Duration, ledger: &Ledger) {
        self.forgotten.push((Duration::ZERO, now));
        self.unkept.extend(ledger.asked.keys().cloned());
    }

    fn is_forgotten(&self, refused: &Call) -> bool {
        let within =
            |(since, gone): &(Duration, Duration)| refused.at >= *since && refused.at <= *gone;
        self.forgotten.iter().any(within)
    }
}

#[derive(Debug, Default)]
pub struct Verdict {
    pub submitted: usize,
    pub calls: usize,
    pub completed: usize,
    /// Tasks that were lost, or may have been paid twice, as the page had said.
    pub excused: usize,
    pub lost: Vec<String>,
    pub paid_twice: Vec<String>,
    pub early: Vec<Call>,
    pub unconfirmed: Vec<String>,
}

/// What there is to be judged.
pub struct Evidence<'a> {
    pub keys: Keys,
    pub ledger: &'a Ledger,
    pub calls: &'a [Call],
    pub excuses: &'a Excuses,
    /// What the page shows at the end, after a reload.
    pub states: &'a BTreeMap<String, String>,
    /// What was Unconfirmed when everything had come to an end, before a person settled it.
    pub unconfirmed: &'a [String],
    /// How many tasks the service has, by its own books.
    pub taken: &'a BTreeMap<String, usize>,
}

pub fn judge(evidence: &Evidence) -> Verdict {
    let Evidence {
        keys,
        ledger,
        calls,
        excuses,
        states,
        unconfirmed,
        taken,
    } = evidence;
    let mut verdict = Verdict {
        submitted: ledger.asked.values().sum(),
        calls: calls.iter().filter(|call| call.is_v2()).count(),
        early: ledger::early(calls, |refused| !excuses.is_forgotten(refused)),
        ..Verdict::default()
    };
    for prompt in ledger.expected() {
        if states.get(prompt).is_some_and(|state| state == "Completed") {
            verdict.completed += 1;
        } else if excuses.unkept.contains(prompt) {
            verdict.excused += 1;
        } else {
            verdict.lost.push(prompt.clone());
        }
    }
    for (prompt, tasks) in *taken {
        if *tasks <= ledger.asked.get(prompt).copied().unwrap_or(0) {
            continue;
        }
        if *keys == Keys::Unknown && excuses.unkept.contains(prompt) {
            verdict.excused += 1;
        } else {
            verdict.paid_twice.push(prompt.clone());
        }
    }
    if *keys == Keys::Honoured {
        verdict.unconfirmed = unconfirmed.to_vec();
    } else {
        // Sent twice, it might have been paid twice, whatever the service made of it.
        let sent = sent(calls).into_iter().filter(|(prompt, times)| {
            *times > ledger.asked.get(*prompt).copied().unwrap_or(0)
                && !excuses.unkept.contains(*prompt)
        });
        verdict
            .paid_twice
            .extend(sent.map(|(prompt, _)| prompt.clone()));
    }
    verdict
}

/// How often each prompt was sent in a call that was not refused in so many words.
fn sent(calls: &[Call]) -> BTreeMap<&String, usize> {
    let is_refused = |call: &&Call| {
        call.not_before.is_some() || call.status.is_some_and(|s| (400..500).contains(&s))
    };
    let mut sent = BTreeMap::new();
    let taken = calls.iter().filter(|call| is_generate(call));
    for prompt in taken
        .filter(|call| !is_refused(call))
        .flat_map(|call| &call.prompts)
    {
        *sent.entry(prompt).or_default() += 1;
    }
    sent
}

impl Verdict {
    pub fn is_clean(&self) -> bool {
        self.lost.is_empty()
            && self.paid_twice.is_empty()
            && self.early.is_empty()
            && self.unconfirmed.is_empty()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self {
            submitted,
            calls,
            completed,
            excused,
            lost,
            paid_twice,
            early,
            unconfirmed,
        } = self;
        write!(
            f,
            "submitted {submitted}, calls {calls}, completed {completed}, not kept as said {excused}, \
             lost {}, paid twice {}, early calls {}, left to a person {}",
            lost.len(),
            paid_twice.len(),
            early.len(),
            unconfirmed.len()
        )?;
        if !self.is_clean() {
            write!(
                f,
                "; lost {lost:?}, paid twice {paid_twice:?}, early {early:#?}, left to a person \
                 {unconfirmed:?}"
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(number: usize, at_ms: u64, path: &str, prompts: &[&str]) -> Call {
        Call {
            prompts: prompts.iter().map(ToString::to_string).collect(),
            status: Some(200),
            ..Call::at(path, number, Duration::from_millis(at_ms))
        }
    }

    fn verdict(
        keys: Keys,
        calls: &[Call],
        excuses: &Excuses,
        states: &[(&str, &str)],
        taken: &[(&str, usize)],
    ) -> Verdict {
        let mut ledger = Ledger::default();
        ledger.ask("a");
        ledger.ask("b");
        let text = |pair: &(&str, &str)| (pair.0.to_owned(), pair.1.to_owned());
        judge(&Evidence {
            keys,
            ledger: &ledger,
            calls,
            excuses,
            states: &states.iter().map(text).collect(),
            unconfirmed: &[],
            taken: &taken.iter().map(|(p, n)| ((*p).to_owned(), *n)).collect(),
        })
    }

    const DONE: [(&str, &str); 2] = [("a", "Completed"), ("b", "Completed")];

    #[test]
    fn what_is_not_there_is_lost_unless_the_page_had_said_so() {
        let mut excuses = Excuses::default();
        let states = [("a", "Completed"), ("b", "Queued")];
        let lost = verdict(Keys::Honoured, &[], &excuses, &states, &[]);
        assert_eq!(lost.lost, ["b"]);
        excuses.unkept.insert("b".into());
        let excused = verdict(Keys::Honoured, &[], &excuses, &states, &[]);
        assert!(excused.is_clean());
        assert_eq!((excused.completed, excused.excused), (1, 1));
    }

    #[test]
    fn what_was_accepted_before_is_never_excused() {
        let mut excuses = Excuses::default();
        let mut ledger = Ledger::default();
        ledger.ask("a");
        ledger.ask("b");
        let mut accepted = call(1, 10, "/v2/generate", &["a"]);
        accepted.accepted = vec!["1".into()];
        let [since, now] = [20, 30].map(Duration::from_millis);
        excuses.forget(since, now, &ledger, &[accepted]);
        assert_eq!(excuses.unkept, BTreeSet::from(["b".to_owned()]));
    }

    #[test]
    fn the_services_books_and_the_calls_tell_what_was_paid_twice() {
        let excuses = Excuses::default();
        let twice = verdict(Keys::Honoured, &[], &excuses, &DONE, &[("a", 2), ("b", 1)]);
        assert_eq!(twice.paid_twice, ["a"]);
        let calls = [1, 2].map(|number| call(number, 10, "/v2/generate", &["b"]));
        let again = verdict(Keys::Honoured, &calls, &excuses, &DONE, &[]);
        assert!(again.is_clean(), "the service takes a key once");
        let again = verdict(Keys::Unknown, &calls, &excuses, &DONE, &[]);
        assert_eq!(again.paid_twice, ["b"]);
    }

    #[test]
    fn a_refusal_that_was_forgotten_excuses_early_calls() {
        let mut refused = call(1, 1_000, "/v2/status", &[]);
        refused.status = Some(429);
        refused.not_before = Some(Duration::from_millis(5_000));
        refused.mark = Some("a".into());
        let mut later = call(2, 4_900, "/v2/status", &[]);
        later.heard = vec!["a".into()];
        let calls = [refused, later];
        let mut excuses = Excuses::default();
        let early = verdict(Keys::Honoured, &calls, &excuses, &DONE, &[]).early;
        assert_eq!(early.len(), 1);
        assert_eq!(early[0].number, 2);
        let [since, until] = [900, 1_300].map(Duration::from_millis);
        excuses.forgotten.push((since, until));
        let early = verdict(Keys::Honoured, &calls, &excuses, &DONE, &[]).early;
        assert!(early.is_empty());
    }
}
