use atelier_contract::json::{self, Record};
use serde_json::Value;

use super::Table;
use super::stored::SentRow;

/// Serializes a table a few rows at a time, because thousands of rows at once would block typing.
#[derive(Debug)]
pub struct Writer {
    table: Table,
    next: usize,
    /// The JSON of the waiting rows written so far, separated by commas.
    rows: String,
    sent: String,
}

impl Writer {
    pub fn new(table: Table) -> Self {
        Self {
            table,
            next: 0,
            rows: String::new(),
            sent: String::new(),
        }
    }

    /// Writes up to `rows` more rows. Returns whether there are more.
    pub fn write(&mut self, rows: usize) -> bool {
        let rest = self.table.rows.get(self.next..).unwrap_or_default();
        for row in rest.iter().take(rows) {
            let (list, value) = match SentRow::of(self.next, row) {
                Some(sent) => (&mut self.sent, json::encode(&sent)),
                None => (&mut self.rows, row.draft.to_value()),
            };
            if !list.is_empty() {
                list.push(',');
            }
            list.push_str(&value.to_string());
            self.next += 1;
        }
        self.next < self.table.rows.len()
    }

    /// Returns the same text as [`Table::to_value`].
    pub fn finish(mut self) -> String {
        while self.write(usize::MAX) {}
        let mut rest = Record::new();
        let added = self.table.added.iter().map(String::as_str);
        rest.put("added", added.collect());
        rest.put_some("grid", self.table.grid.as_ref().map(json::encode));
        let (sending, put_back) = (&self.table.sending, &self.table.put_back);
        let some = |is_empty: bool, value: Value| (!is_empty).then_some(value);
        rest.put_some("sending", some(sending.is_empty(), json::encode(sending)));
        rest.put_some(
            "put_back",
            some(put_back.is_empty(), json::encode(put_back)),
        );
        let nonces = self.table.nonces();
        rest.put_some("nonces", some(nonces.is_empty(), json::encode(&nonces)));
        let earlier = self.table.earlier();
        rest.put_some("earlier", some(earlier.is_empty(), json::encode(&earlier)));
        let rest = rest.into_value().to_string();
        let sent = match self.sent.as_str() {
            "" => String::new(),
            sent => format!(r#","sent":[{sent}]"#),
        };
        let sources = match self.table.sources() {
            sources if sources.is_empty() => String::new(),
            sources => format!(r#","sources":{}"#, json::encode(&sources)),
        };
        format!(
            r#"{{"rows":[{}]{sent}{sources},{}"#,
            self.rows,
            rest.trim_start_matches('{')
        )
    }
}
