//! The table of the rounds.

use std::collections::{BTreeMap, BTreeSet};

use super::history::{Answer, Kind, Record};

/// The counts of one round, or the sums of several.
#[derive(Debug, Default, Clone, Copy)]
pub struct Counts {
    pub calls: usize,
    /// The calls with more than one attempt.
    pub retried: usize,
    /// The calls that still failed after all retries.
    pub failed: usize,
    /// The tasks whose id a client has received.
    pub accepted: usize,
    pub completed: usize,
    pub canceled: usize,
    /// The starts of the model's program.
    pub executions: usize,
    /// The starts after a task's first one.
    pub repeated: usize,
    /// The responses with status 500.
    pub internal_errors: usize,
    /// The processes that have ended by themselves.
    pub exits: usize,
    pub violations: usize,
}

/// The names of the columns, and the value of each.
type Column = (&'static str, fn(&Counts) -> usize);

const COLUMNS: [Column; 11] = [
    ("calls", |counts| counts.calls),
    ("retried", |counts| counts.retried),
    ("failed", |counts| counts.failed),
    ("accepted", |counts| counts.accepted),
    ("completed", |counts| counts.completed),
    ("canceled", |counts| counts.canceled),
    ("executions", |counts| counts.executions),
    ("repeated", |counts| counts.repeated),
    ("500s", |counts| counts.internal_errors),
    ("exits", |counts| counts.exits),
    ("violations", |counts| counts.violations),
];

impl Counts {
    pub fn of(records: &[Record], exits: usize, violations: usize) -> Self {
        let is_call = |record: &&Record| {
            !matches!(
                record.kind,
                Kind::Stored | Kind::Usage | Kind::Execution | Kind::Stream
            )
        };
        let mut attempts: BTreeMap<u64, u32> = BTreeMap::new();
        for record in records.iter().filter(is_call) {
            let most = attempts.entry(record.call).or_default();
            *most = record.attempt.max(*most);
        }
        let distinct = |is_wanted: &dyn Fn(&Record) -> bool| {
            let wanted = records.iter().filter(|record| is_wanted(record));
            wanted
                .filter_map(|record| record.id.as_deref())
                .collect::<BTreeSet<_>>()
                .len()
        };
        let has_failed = |record: &Record| {
            record.is_given_up
                || matches!(record.answer, Answer::Refused { .. }) && !record.answer.is_retryable()
        };
        let failed = records.iter().filter(|record| has_failed(record));
        let executions = records
            .iter()
            .filter(|record| record.kind == Kind::Execution)
            .count();
        Self {
            calls: attempts.len(),
            retried: attempts.values().filter(|most| **most > 0).count(),
            failed: failed
                .map(|record| record.call)
                .collect::<BTreeSet<_>>()
                .len(),
            accepted: distinct(&|record| record.answer == Answer::Accepted),
            completed: distinct(&|record| record.answer == Answer::Completed),
            canceled: distinct(&|record| record.answer == Answer::Canceled),
            executions,
            repeated: executions - distinct(&|record| record.kind == Kind::Execution),
            internal_errors: records
                .iter()
                .filter(|record| matches!(record.answer, Answer::Refused { status: 500, .. }))
                .count(),
            exits,
            violations,
        }
    }

    pub fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.retried += other.retried;
        self.failed += other.failed;
        self.accepted += other.accepted;
        self.completed += other.completed;
        self.canceled += other.canceled;
        self.executions += other.executions;
        self.repeated += other.repeated;
        self.internal_errors += other.internal_errors;
        self.exits += other.exits;
        self.violations += other.violations;
    }
}

/// Returns the first line of the table.
pub fn header() -> String {
    let names = COLUMNS.iter().map(|(name, _)| format!("{name:>12}"));
    format!("{:<8}{:>20}{}", "round", "seed", names.collect::<String>())
}

pub fn line(round: &str, seed: &str, counts: &Counts) -> String {
    let values = COLUMNS
        .iter()
        .map(|(_, value)| format!("{:>12}", value(counts)));
    format!("{round:<8}{seed:>20}{}", values.collect::<String>())
}
