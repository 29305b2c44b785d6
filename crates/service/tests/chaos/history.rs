//! The history of a round: each call with its answer, what the service has stored, and what its model has run. The checker
//! decides from these records alone whether the service has kept its guarantees.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

/// What a record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Generate,
    Status,
    Response,
    File,
    Cancel,
    /// The row of a task in the database, at the end.
    Stored,
    /// The bytes that are counted for a user in the database, at the end.
    Usage,
    /// A start of the model's program.
    Execution,
    /// A stream of events, which has shown that a task has ended.
    Stream,
}

/// One attempt at a call, or one fact that was read at the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub client: String,
    /// The number of the call. All attempts and all entries of a batch have the same.
    pub call: u64,
    /// The number of earlier attempts.
    pub attempt: u32,
    /// The number of the `serve` process.
    pub server: usize,
    pub kind: Kind,
    /// The idempotency key.
    pub key: Option<String>,
    /// The task.
    pub id: Option<String>,
    /// Microseconds since the start of the round.
    pub sent: u64,
    pub answered: u64,
    pub answer: Answer,
    /// Whether the client has given up after this attempt.
    pub is_given_up: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Answer {
    Accepted,
    Unfinished,
    /// A client waits for the event about the task's end.
    Watched,
    Completed,
    Failed {
        error: String,
    },
    Canceled,
    Output {
        paths: Vec<String>,
    },
    File {
        path: String,
        bytes: u64,
        digest: String,
    },
    NotFound {
        what: String,
    },
    Refused {
        status: u16,
        error: String,
    },
    /// No complete answer was received.
    Lost {
        error: String,
    },
    /// The status of a stored task, and the size of its output files in bytes.
    Stored {
        status: String,
        bytes: i64,
    },
    /// The bytes that are counted for a user, and the sum of its tasks.
    Usage {
        counted: i64,
        sum: i64,
    },
    Executed,
}

impl Answer {
    /// Returns whether a client repeats the call.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Lost { .. } => true,
            Self::Refused { status, .. } => matches!(status, 408 | 425 | 429 | 500..=599),
            _ => false,
        }
    }

    /// Returns how the task has ended; `None` if the answer does not show it.
    fn outcome(&self) -> Option<&'static str> {
        match self {
            Self::Completed | Self::Output { .. } => Some("completed"),
            Self::Failed { .. } => Some("failed"),
            Self::Canceled => Some("canceled"),
            _ => None,
        }
    }
}

/// A broken guarantee.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Violation {
    /// One idempotency key has several tasks.
    TwoTasks { key: String, ids: Vec<String> },
    /// Several idempotency keys have one task.
    TwoKeys { id: String, keys: Vec<String> },
    /// An accepted task was unknown later.
    Forgotten { id: String },
    /// An accepted task is not in the database.
    NotStored { id: String },
    /// The database has a task that no client has submitted.
    NotSubmitted { id: String },
    /// An accepted task did not end.
    NeverEnded { id: String },
    /// A task has ended in several ways.
    TwoOutcomes { id: String, outcomes: Vec<String> },
    /// A task was unfinished after it had ended.
    TakenBack { id: String },
    /// A task failed, although its model does not fail.
    Failed { id: String, error: String },
    /// A task had different outputs.
    OutputChanged { id: String, outputs: Vec<String> },
    /// A file had different contents.
    FileChanged { path: String },
    /// A file of a completed task was missing.
    FileMissing { path: String },
    /// The stored size of a task is not the size of its files.
    WrongSize { id: String, stored: i64, files: i64 },
    /// The bytes that are counted for a user are not the sum of its tasks.
    WrongUsage {
        user: String,
        counted: i64,
        sum: i64,
    },
    /// Calls were answered with status 500, although the service's servers were only unavailable: clients don't repeat these.
    InternalErrors { kind: Kind, count: usize },
    /// A stream of events did not show that a task has ended.
    NotAnnounced { id: String },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// Returns all violations of the service's guarantees in a history.
pub fn check(records: &[Record]) -> Vec<Violation> {
    let mut violations = check_keys(records);
    let mut tasks: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
    for record in records {
        if let Some(id) = &record.id {
            tasks.entry(id).or_default().push(record);
        }
    }
    let is_read_at_end = records.iter().any(|record| record.kind == Kind::Stored);
    let mut unnamed = Vec::new();
    for (id, records) in tasks {
        let is_accepted = records
            .iter()
            .any(|record| record.answer == Answer::Accepted);
        if is_accepted {
            check_task(id, &records, is_read_at_end, &mut violations);
        } else {
            unnamed.push(id.to_owned());
        }
    }
    // The service may have accepted a task of a key whose client has received no answer.
    let unanswered = unanswered_keys(records);
    let excess = unnamed.into_iter().skip(unanswered);
    violations.extend(excess.map(|id| Violation::NotSubmitted { id }));
    violations.extend(check_files(records));
    let mut errors: BTreeMap<Kind, usize> = BTreeMap::new();
    for record in records {
        if matches!(record.answer, Answer::Refused { status: 500, .. }) {
            *errors.entry(record.kind).or_default() += 1;
        }
    }
    let errors = errors.into_iter();
    violations.extend(errors.map(|(kind, count)| Violation::InternalErrors { kind, count }));
    violations.extend(records.iter().filter_map(|record| match &record.answer {
        Answer::Usage { counted, sum } if counted != sum => Some(Violation::WrongUsage {
            user: record.client.clone(),
            counted: *counted,
            sum: *sum,
        }),
        _ => None,
    }));
    violations.sort();
    violations.dedup();
    violations
}

fn check_keys(records: &[Record]) -> Vec<Violation> {
    let mut ids: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut keys: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for record in records {
        if let (Answer::Accepted, Some(key), Some(id)) = (&record.answer, &record.key, &record.id) {
            ids.entry(key).or_default().insert(id);
            keys.entry(id).or_default().insert(key);
        }
    }
    let two_tasks = ids.into_iter().filter(|(_, ids)| ids.len() > 1);
    let two_tasks = two_tasks.map(|(key, ids)| Violation::TwoTasks {
        key: key.to_owned(),
        ids: ids.into_iter().map(str::to_owned).collect(),
    });
    let two_keys = keys.into_iter().filter(|(_, keys)| keys.len() > 1);
    let two_keys = two_keys.map(|(id, keys)| Violation::TwoKeys {
        id: id.to_owned(),
        keys: keys.into_iter().map(str::to_owned).collect(),
    });
    two_tasks.chain(two_keys).collect()
}

/// Returns the number of idempotency keys of which no client knows the task.
fn unanswered_keys(records: &[Record]) -> usize {
    let keys = |is_wanted: fn(&Record) -> bool| -> BTreeSet<&str> {
        let wanted = records.iter().filter(|record| is_wanted(record));
        wanted.filter_map(|record| record.key.as_deref()).collect()
    };
    let accepted = keys(|record| record.answer == Answer::Accepted);
    keys(|_| true).difference(&accepted).count()
}

fn check_task(
    id: &str,
    records: &[&Record],
    is_read_at_end: bool,
    violations: &mut Vec<Violation>,
) {
    let owned = || id.to_owned();
    let accepted = records
        .iter()
        .filter(|record| record.answer == Answer::Accepted);
    let accepted = accepted
        .map(|record| record.answered)
        .min()
        .unwrap_or_default();
    let is_unknown = |record: &&&Record| {
        matches!(record.kind, Kind::Status | Kind::Response | Kind::Cancel)
            && matches!(record.answer, Answer::NotFound { .. })
            && record.sent >= accepted
    };
    if records.iter().any(|record| is_unknown(&record)) {
        violations.push(Violation::Forgotten { id: owned() });
    }
    let stored = records.iter().find_map(|record| match &record.answer {
        Answer::Stored { bytes, .. } => Some(*bytes),
        _ => None,
    });
    if is_read_at_end && stored.is_none() {
        violations.push(Violation::NotStored { id: owned() });
    }

    let ends = || {
        records
            .iter()
            .filter(|record| record.answer.outcome().is_some())
    };
    let outcomes: BTreeSet<&str> = ends()
        .filter_map(|record| record.answer.outcome())
        .collect();
    if outcomes.is_empty() {
        violations.push(Violation::NeverEnded { id: owned() });
    } else if outcomes.len() > 1 {
        let outcomes = outcomes
            .iter()
            .map(|outcome| (*outcome).to_owned())
            .collect();
        violations.push(Violation::TwoOutcomes {
            id: owned(),
            outcomes,
        });
    }
    if let Some(Answer::Failed { error }) = ends()
        .map(|record| &record.answer)
        .find(|answer| matches!(answer, Answer::Failed { .. }))
    {
        let error = error.clone();
        violations.push(Violation::Failed { id: owned(), error });
    }
    // Calls that overlap may be answered in either order.
    let ended = ends()
        .map(|record| record.answered)
        .min()
        .unwrap_or(u64::MAX);
    let is_taken_back =
        |record: &&&Record| record.answer == Answer::Unfinished && record.sent > ended;
    if records.iter().any(|record| is_taken_back(&record)) {
        violations.push(Violation::TakenBack { id: owned() });
    }
    let outputs: BTreeSet<String> = records
        .iter()
        .filter_map(|record| match &record.answer {
            Answer::Output { paths } => Some(paths.join(" ")),
            _ => None,
        })
        .collect();
    if outputs.len() > 1 {
        let outputs = outputs.into_iter().collect();
        violations.push(Violation::OutputChanged {
            id: owned(),
            outputs,
        });
    }
    let sizes: BTreeMap<&str, u64> = records
        .iter()
        .filter_map(|record| match &record.answer {
            Answer::File { path, bytes, .. } => Some((path.as_str(), *bytes)),
            _ => None,
        })
        .collect();
    let files = sizes.values().sum::<u64>().cast_signed();
    if let Some(stored) = stored.filter(|stored| !sizes.is_empty() && *stored != files) {
        violations.push(Violation::WrongSize {
            id: owned(),
            stored,
            files,
        });
    }
    let has_stream = records.iter().any(|record| record.kind == Kind::Stream);
    let is_announced =
        |record: &&&Record| record.kind == Kind::Stream && record.answer.outcome().is_some();
    if has_stream && !records.iter().any(|record| is_announced(&record)) {
        violations.push(Violation::NotAnnounced { id: owned() });
    }
}

fn check_files(records: &[Record]) -> Vec<Violation> {
    let mut digests: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut violations = Vec::new();
    for record in records {
        match &record.answer {
            Answer::File { path, digest, .. } => {
                digests.entry(path).or_default().insert(digest);
            }
            Answer::NotFound { what } if record.kind == Kind::File => {
                violations.push(Violation::FileMissing { path: what.clone() });
            }
            _ => {}
        }
    }
    let changed = digests.into_iter().filter(|(_, digests)| digests.len() > 1);
    violations.extend(changed.map(|(path, _)| Violation::FileChanged {
        path: path.to_owned(),
    }));
    violations
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
