//! The table as it is stored. A row that was sent stands apart from the others, so that a version that knows
//! nothing of sent rows does not send it again.

use atelier_contract::json::{self, Record};
use atelier_contract::{Draft, Schema};
use serde_json::Value;

use super::{Row, Table};
use crate::BatchPlace;

impl Table {
    /// Reads what [`Table::to_value`] wrote and checks it against today's schema.
    pub fn from_value(value: Value, schema: &Schema) -> Option<Self> {
        let mut record = Record::read(value)?;
        let mut table = Self::default();
        table
            .append(json::list(record.take("rows")?, Draft::from_value)?, schema)
            .ok()?;
        let sent = record.optional("sent", |sent| json::list(sent, SentRow::from_value))?;
        for SentRow { at, draft, place } in sent.unwrap_or_default() {
            let mut row = table.new_row(draft, schema);
            row.sent = Some(place);
            table.rows.insert(at.min(table.rows.len()), row);
        }
        table.added = json::list(record.take("added")?, json::text)?;
        table.grid = record.optional("grid", json::decode)?;
        Some(table)
    }

    pub fn to_value(&self) -> Value {
        let unsent = self.rows.iter().filter(|row| row.sent.is_none());
        let rows = unsent.map(|row| row.draft.to_value()).collect();
        let sent: Vec<Value> = (self.rows.iter().enumerate())
            .filter_map(|(at, row)| sent_row(at, row))
            .collect();
        let added = self.added.iter().map(|name| name.as_str().into()).collect();
        let mut record = Record::new();
        record.put("rows", Value::Array(rows));
        if !sent.is_empty() {
            record.put("sent", Value::Array(sent));
        }
        record.put("added", Value::Array(added));
        record.put_some("grid", self.grid.as_ref().map(json::encode));
        record.into_value()
    }
}

struct SentRow {
    at: usize,
    draft: Draft,
    place: BatchPlace,
}

impl SentRow {
    fn from_value(value: Value) -> Option<Self> {
        let mut record = Record::read(value)?;
        Some(Self {
            at: record.index("at")?,
            draft: Draft::from_value(record.take("row")?)?,
            place: json::decode(record.take("place")?)?,
        })
    }
}

pub(super) fn sent_row(at: usize, row: &Row) -> Option<Value> {
    let place = row.sent.as_ref()?;
    let mut record = Record::new();
    record.put("at", at.into());
    record.put("row", row.draft.to_value());
    record.put("place", json::encode(place));
    Some(record.into_value())
}
