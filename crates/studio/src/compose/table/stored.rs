//! The stored form of the table. Names and types of its fields must not change. Rows that were sent or put aside are
//! stored separately, so that earlier versions of Atelier don't send them.

use atelier_contract::{Draft, Schema, json};
use atelier_engine::{BatchKey, BatchPlace, Millis, TaskKey};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::sent_before::{Earlier, SentBefore};
use super::{GridLabels, Row, Source, Table};

#[derive(Serialize, Deserialize)]
struct StoredTable {
    rows: Vec<Draft>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sent: Vec<SentRow>,
    /// The sources of `rows`, except [`Source::Other`], each with the row's index; see [`Source::code`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sources: Vec<(usize, usize)>,
    added: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grid: Option<GridLabels>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sending: Vec<BatchKey>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    put_back: Vec<(TaskKey, Millis)>,
    /// The nonces of `rows`, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    nonces: Vec<u64>,
    /// The earlier items of those `rows` that were sent before, each with the row's index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    earlier: Vec<(usize, BatchPlace)>,
}

/// A row that was sent or put aside. A row that was put aside is stored as sent with the batch [`ASIDE`], so that
/// versions that can't put rows aside preserve it and don't send it.
#[derive(Serialize, Deserialize)]
pub(super) struct SentRow {
    /// The index of the row among all rows.
    at: usize,
    #[serde(rename = "row")]
    draft: Draft,
    place: BatchPlace,
    #[serde(default, skip_serializing_if = "is_none_yet")]
    nonce: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<usize>,
    /// The earlier item of a row that was put aside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    earlier: Option<BatchPlace>,
}

/// The batch key of rows that were put aside. No batch has this key.
const ASIDE: &str = "aside";

fn is_none_yet(nonce: &u64) -> bool {
    *nonce == 0
}

impl SentRow {
    pub fn of(at: usize, row: &Row) -> Option<Self> {
        let aside = || BatchPlace {
            batch: BatchKey(ASIDE.to_owned()),
            index: at,
        };
        let place = match row.is_aside {
            true => aside(),
            false => row.sent.clone()?,
        };
        let earlier = row.earlier().filter(|_| row.is_aside);
        Some(Self {
            at,
            draft: row.draft.clone(),
            place,
            nonce: row.nonce,
            source: row.source.code(),
            earlier: earlier.cloned(),
        })
    }

    fn put_into(self, row: &mut Row) {
        row.nonce = self.nonce;
        row.source = Source::from_code(self.source);
        row.is_aside = self.place.batch.0 == ASIDE;
        match row.is_aside {
            true => row.earlier = self.earlier.map(|it| Earlier::new(it, row.draft.clone())),
            false => row.sent = Some(self.place),
        }
    }
}

impl Table {
    /// Reads the stored form and validates it against the current schema.
    pub fn from_value(value: Value, schema: &Schema) -> Option<Self> {
        let stored: StoredTable = json::decode(value)?;
        let mut table = Self::default();
        // No limit here: stored rows must not be lost.
        for draft in stored.rows {
            let row = table.new_row(draft, schema, &SentBefore::default());
            table.rows.push(row);
        }
        if stored.nonces.len() == table.rows.len() {
            for (row, nonce) in table.rows.iter_mut().zip(stored.nonces) {
                row.nonce = nonce;
            }
        }
        for (at, place) in stored.earlier {
            if let Some(row) = table.rows.get_mut(at) {
                row.earlier = Some(Earlier::new(place, row.draft.clone()));
            }
        }
        for (at, code) in stored.sources {
            if let Some(row) = table.rows.get_mut(at) {
                row.source = Source::from_code(Some(code));
            }
        }
        for sent in stored.sent {
            let at = sent.at.min(table.rows.len());
            let draft = sent.draft.clone();
            let mut row = table.new_row(draft, schema, &SentBefore::default());
            sent.put_into(&mut row);
            table.rows.insert(at, row);
        }
        table.added = stored.added;
        table.grid = stored.grid;
        table.sending = stored.sending;
        table.put_back = stored.put_back;
        Some(table)
    }

    /// Returns the stored form.
    pub fn to_value(&self) -> Value {
        let unsent = self.rows.iter().filter(|row| row.is_waiting());
        let numbered = self.rows.iter().enumerate();
        json::encode(&StoredTable {
            rows: unsent.map(|row| row.draft.clone()).collect(),
            sent: numbered
                .filter_map(|(at, row)| SentRow::of(at, row))
                .collect(),
            added: self.added.clone(),
            grid: self.grid.clone(),
            sending: self.sending.clone(),
            put_back: self.put_back.clone(),
            nonces: self.nonces(),
            earlier: self.earlier(),
            sources: self.sources(),
        })
    }

    pub(super) fn earlier(&self) -> Vec<(usize, BatchPlace)> {
        let unsent = self.rows.iter().filter(|row| row.is_waiting());
        let numbered = unsent.enumerate();
        let earlier = numbered.filter_map(|(at, row)| Some((at, row.earlier()?.clone())));
        earlier.collect()
    }

    pub(super) fn sources(&self) -> Vec<(usize, usize)> {
        let unsent = self.rows.iter().filter(|row| row.is_waiting());
        let numbered = unsent.enumerate();
        let sources = numbered.filter_map(|(at, row)| Some((at, row.source.code()?)));
        sources.collect()
    }

    /// Returns the nonces of the waiting rows; empty if none were drawn yet.
    pub(super) fn nonces(&self) -> Vec<u64> {
        let unsent = self.rows.iter().filter(|row| row.is_waiting());
        let nonces: Vec<u64> = unsent.map(|row| row.nonce).collect();
        match nonces.iter().all(is_none_yet) {
            true => Vec::new(),
            false => nonces,
        }
    }
}
