//! The table as it is stored: names and shapes do not change. A row that was sent stands apart from the
//! others, so that a version that knows nothing of sent rows does not send it again.

use atelier_contract::{Draft, Schema, json};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::earlier::{Earlier, SentBefore};
use super::{GridLabels, Row, Table};
use crate::{BatchKey, BatchPlace, Millis, TaskKey};

#[derive(Serialize, Deserialize)]
struct StoredTable {
    rows: Vec<Draft>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sent: Vec<SentRow>,
    added: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grid: Option<GridLabels>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sending: Vec<BatchKey>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    put_back: Vec<(TaskKey, Millis)>,
    /// The nonces of `rows`, in the same order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    nonces: Vec<u64>,
    /// What those of `rows` were that are to be sent once more, each with its place among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    earlier: Vec<(usize, BatchPlace)>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct SentRow {
    /// The place of the row among all rows.
    at: usize,
    #[serde(rename = "row")]
    draft: Draft,
    place: BatchPlace,
    #[serde(default, skip_serializing_if = "is_none_yet")]
    nonce: u64,
}

fn is_none_yet(nonce: &u64) -> bool {
    *nonce == 0
}

impl SentRow {
    pub fn of(at: usize, row: &Row) -> Option<Self> {
        let place = row.sent.clone()?;
        let draft = row.draft.clone();
        Some(Self {
            at,
            draft,
            place,
            nonce: row.nonce,
        })
    }
}

impl Table {
    /// Reads what [`Table::to_value`] wrote and checks it against today's schema.
    pub fn from_value(value: Value, schema: &Schema) -> Option<Self> {
        let stored: StoredTable = json::decode(value)?;
        let mut table = Self::default();
        table.append(stored.rows, schema).ok()?;
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
        for sent in stored.sent {
            let SentRow {
                at,
                draft,
                place,
                nonce,
            } = sent;
            let mut row = table.new_row(draft, schema, &SentBefore::default());
            row.nonce = nonce;
            row.sent = Some(place);
            table.rows.insert(at.min(table.rows.len()), row);
        }
        table.added = stored.added;
        table.grid = stored.grid;
        table.sending = stored.sending;
        table.put_back = stored.put_back;
        Some(table)
    }

    pub fn to_value(&self) -> Value {
        let unsent = self.rows.iter().filter(|row| row.sent.is_none());
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
        })
    }

    pub(super) fn earlier(&self) -> Vec<(usize, BatchPlace)> {
        let unsent = self.rows.iter().filter(|row| row.sent.is_none());
        let numbered = unsent.enumerate();
        let earlier = numbered.filter_map(|(at, row)| Some((at, row.earlier()?.clone())));
        earlier.collect()
    }

    /// Gives the nonces of the rows that are to be sent; empty if none was drawn yet.
    pub(super) fn nonces(&self) -> Vec<u64> {
        let unsent = self.rows.iter().filter(|row| row.sent.is_none());
        let nonces: Vec<u64> = unsent.map(|row| row.nonce).collect();
        match nonces.iter().all(is_none_yet) {
            true => Vec::new(),
            false => nonces,
        }
    }
}
