//! Judges the result of a trial: no task may be lost, sent twice or stuck, and no call may be early.

use crate::Keys;
use atelier_end_to_end::fault::Call;
use atelier_end_to_end::ledger::{self, Ledger, is_generate};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

/// Losses that the page could not prevent, because the trial broke its storage.
#[derive(Default)]
pub struct Excuses {
    /// The periods in which the page reported that tasks were not stored, until a tab ended. Refusals from these
    /// periods are forgotten.
    pub forgotten: Vec<(Duration, Duration)>,
    /// Tasks that the page had reported as not stored when a tab ended.
    pub unsaved: BTreeSet<String>,
}

impl Excuses {
    /// Records that a tab ends while the page reports that it has not stored tasks since `since`. The page has stored
    /// the tasks that were accepted before that time; other tasks may be sent and lost.
    pub fn record_loss(&mut self, since: Duration, now: Duration, ledger: &Ledger, calls: &[Call]) {
        self.forgotten.push((since, now));
        let accepted: BTreeSet<&String> = calls
            .iter()
            .filter(|call| is_generate(call) && call.at < since && !call.accepted.is_empty())
            .flat_map(|call| &call.prompts)
            .collect();
        let unsaved = ledger
            .asked
            .keys()
            .filter(|prompt| !accepted.contains(prompt));
        self.unsaved.extend(unsaved.cloned());
    }

    /// Records that the only tab ends while the page reports that it has not stored its tasks again after storage was
    /// cleared. All tasks may be lost.
    pub fn record_total_loss(&mut self, now: Duration, ledger: &Ledger) {
        self.forgotten.push((Duration::ZERO, now));
        self.unsaved.extend(ledger.asked.keys().cloned());
    }

    fn is_forgotten(&self, refused: &Call) -> bool {
        let within =
            |(since, gone): &(Duration, Duration)| refused.at >= *since && refused.at <= *gone;
        self.forgotten.iter().any(within)
    }
}

#[derive(Debug, Default)]
/// The result of a trial.
pub struct Verdict {
    pub submitted: usize,
    pub calls: usize,
    pub completed: usize,
    /// Tasks that were lost or sent twice after the page had reported them as not stored.
    pub excused: usize,
    pub lost: Vec<String>,
    pub sent_twice: Vec<String>,
    pub early: Vec<Call>,
    pub unconfirmed: Vec<String>,
}

/// The data that a trial is judged by.
pub struct Evidence<'a> {
    pub keys: Keys,
    pub ledger: &'a Ledger,
    pub calls: &'a [Call],
    pub excuses: &'a Excuses,
    /// What the page shows at the end, after a reload.
    pub states: &'a BTreeMap<String, String>,
    /// The tasks that were Unconfirmed at the end, before the user resolved them.
    pub unconfirmed: &'a [String],
    /// The number of tasks in the service's database, by prompt.
    pub accepted: &'a BTreeMap<String, usize>,
}

pub fn judge(evidence: &Evidence) -> Verdict {
    let Evidence {
        keys,
        ledger,
        calls,
        excuses,
        states,
        unconfirmed,
        accepted,
    } = evidence;
    let mut verdict = Verdict {
        submitted: ledger.asked.values().sum(),
        calls: calls.iter().filter(|call| call.is_api_call()).count(),
        early: ledger::early(calls, |refused| !excuses.is_forgotten(refused)),
        ..Verdict::default()
    };
    for prompt in ledger.expected() {
        if states.get(prompt).is_some_and(|state| state == "Completed") {
            verdict.completed += 1;
        } else if excuses.unsaved.contains(prompt) {
            verdict.excused += 1;
        } else {
            verdict.lost.push(prompt.clone());
        }
    }
    for (prompt, tasks) in *accepted {
        if *tasks <= ledger.asked.get(prompt).copied().unwrap_or(0) {
            continue;
        }
        if *keys == Keys::Unknown && excuses.unsaved.contains(prompt) {
            verdict.excused += 1;
        } else {
            verdict.sent_twice.push(prompt.clone());
        }
    }
    if *keys == Keys::Supported {
        verdict.unconfirmed = unconfirmed.to_vec();
    } else {
        // Without keys, a task that was sent twice may have run twice, even if the service accepted it once.
        let sent = count_sent(calls).into_iter().filter(|(prompt, times)| {
            *times > ledger.asked.get(*prompt).copied().unwrap_or(0)
                && !excuses.unsaved.contains(*prompt)
        });
        verdict
            .sent_twice
            .extend(sent.map(|(prompt, _)| prompt.clone()));
    }
    verdict
}

/// Returns how many times each prompt was sent in a call that was not rejected.
fn count_sent(calls: &[Call]) -> BTreeMap<&String, usize> {
    let is_refused = |call: &&Call| {
        call.not_before.is_some() || call.status.is_some_and(|s| (400..500).contains(&s))
    };
    let mut sent = BTreeMap::new();
    let generate = calls.iter().filter(|call| is_generate(call));
    for prompt in generate
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
            && self.sent_twice.is_empty()
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
            sent_twice,
            early,
            unconfirmed,
        } = self;
        write!(
            f,
            "submitted {submitted}, calls {calls}, completed {completed}, excused {excused}, \
             lost {}, sent twice {}, early calls {}, left unconfirmed {}",
            lost.len(),
            sent_twice.len(),
            early.len(),
            unconfirmed.len()
        )?;
        if !self.is_clean() {
            write!(
                f,
                "; lost {lost:?}, sent twice {sent_twice:?}, early {early:#?}, left unconfirmed \
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
        accepted: &[(&str, usize)],
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
            accepted: &accepted
                .iter()
                .map(|(p, n)| ((*p).to_owned(), *n))
                .collect(),
        })
    }

    const DONE: [(&str, &str); 2] = [("a", "Completed"), ("b", "Completed")];

    #[test]
    fn missing_task_is_lost_unless_page_reported_it_unsaved() {
        let mut excuses = Excuses::default();
        let states = [("a", "Completed"), ("b", "Queued")];
        let lost = verdict(Keys::Supported, &[], &excuses, &states, &[]);
        assert_eq!(lost.lost, ["b"]);
        excuses.unsaved.insert("b".into());
        let excused = verdict(Keys::Supported, &[], &excuses, &states, &[]);
        assert!(excused.is_clean());
        assert_eq!((excused.completed, excused.excused), (1, 1));
    }

    #[test]
    fn task_accepted_before_storage_failure_is_never_excused() {
        let mut excuses = Excuses::default();
        let mut ledger = Ledger::default();
        ledger.ask("a");
        ledger.ask("b");
        let mut accepted = call(1, 10, "/v2/generate", &["a"]);
        accepted.accepted = vec!["1".into()];
        let [since, now] = [20, 30].map(Duration::from_millis);
        excuses.record_loss(since, now, &ledger, &[accepted]);
        assert_eq!(excuses.unsaved, BTreeSet::from(["b".to_owned()]));
    }

    #[test]
    fn database_and_calls_reveal_tasks_sent_twice() {
        let excuses = Excuses::default();
        let twice = verdict(Keys::Supported, &[], &excuses, &DONE, &[("a", 2), ("b", 1)]);
        assert_eq!(twice.sent_twice, ["a"]);
        let calls = [1, 2].map(|number| call(number, 10, "/v2/generate", &["b"]));
        let again = verdict(Keys::Supported, &calls, &excuses, &DONE, &[]);
        assert!(again.is_clean(), "the service accepts a key only once");
        let again = verdict(Keys::Unknown, &calls, &excuses, &DONE, &[]);
        assert_eq!(again.sent_twice, ["b"]);
    }

    #[test]
    fn forgotten_refusal_excuses_early_calls() {
        let mut refused = call(1, 1_000, "/v2/status", &[]);
        refused.status = Some(429);
        refused.not_before = Some(Duration::from_millis(5_000));
        refused.mark = Some("a".into());
        let mut later = call(2, 4_900, "/v2/status", &[]);
        later.received = vec!["a".into()];
        let calls = [refused, later];
        let mut excuses = Excuses::default();
        let early = verdict(Keys::Supported, &calls, &excuses, &DONE, &[]).early;
        assert_eq!(early.len(), 1);
        assert_eq!(early[0].number, 2);
        let [since, until] = [900, 1_300].map(Duration::from_millis);
        excuses.forgotten.push((since, until));
        let early = verdict(Keys::Supported, &calls, &excuses, &DONE, &[]).early;
        assert!(early.is_empty());
    }
}
