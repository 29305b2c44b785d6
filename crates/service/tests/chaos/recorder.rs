//! Writes the records of a round, each as a line of JSON.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::history::{Answer, Kind, Record};

pub struct Recorder {
    start: Instant,
    calls: AtomicU64,
    records: Mutex<(Vec<Record>, BufWriter<File>)>,
}

impl Recorder {
    pub fn create(file: &Path) -> Self {
        let file = BufWriter::new(File::create(file).unwrap());
        Self {
            start: Instant::now(),
            calls: AtomicU64::new(0),
            records: Mutex::new((Vec::new(), file)),
        }
    }

    /// Returns the microseconds since the start of the round.
    pub fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap()
    }

    /// Returns the number of a new call.
    pub fn next_call(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed)
    }

    pub fn add(&self, record: Record) {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let line = serde_json::to_string(&record).unwrap();
        writeln!(records.1, "{line}").unwrap();
        records.0.push(record);
    }

    /// Adds a fact that is no answer to a call.
    pub fn add_fact(&self, client: &str, kind: Kind, id: Option<String>, answer: Answer) {
        let now = self.now();
        self.add(Record {
            client: client.to_owned(),
            call: self.next_call(),
            attempt: 0,
            server: 0,
            kind,
            key: None,
            id,
            sent: now,
            answered: now,
            answer,
            is_given_up: false,
        });
    }

    /// Returns all records so far.
    pub fn records(&self) -> Vec<Record> {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        records.1.flush().unwrap();
        records.0.clone()
    }
}
