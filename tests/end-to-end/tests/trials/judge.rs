//! What came of a trial: nothing may be lost, paid twice, early or stuck.

use crate::Keys;
use atelier_end_to_end::fault::Call;
use atelier_end_to_end::ledger::{Ledger, is_generate};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

/// A call this short after a refusal had left when that came, and a tab that went this short after
/// it had not told anybody.
const UNDER_WAY: Duration = Duration::from_millis(500);

/// What a trial has done to the page that the page could not help.
#[derive(Default)]
pub struct Excuses {
    /// When a tab went or the network did: a refusal of that moment was not heard.
    pub gone: Vec<Duration>,
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

    fn is_unheard(&self, refused: &Call) -> bool {
        let soon = |gone: &Duration| *gone >= refused.at && *gone <= refused.at + UNDER_WAY;
        let within =
            |(since, gone): &(Duration, Duration)| refused.at >= *since && refused.at <= *gone;
        self.gone.iter().any(soon) || self.forgotten.iter().any(within)
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
        early: early(calls, excuses),
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

/// The calls that came while the service wanted none, by a refusal that was heard.
fn early(calls: &[Call], excuses: &Excuses) -> Vec<Call> {
    let refused: Vec<(&Call, Duration)> = calls
        .iter()
        .filter(|call| !excuses.is_unheard(call))
        .filter_map(|call| Some((call, call.not_before?)))
        .collect();
    let is_early = |call: &&Call| {
        refused.iter().any(|(refused, until)| {
            call.number > refused.number
                && call.is_v2()
                && call.at > refused.at + UNDER_WAY
                && call.at < *until
        })
    };
    calls.iter().filter(is_early).cloned().collect()
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
