//! The table in which a batch is composed: a row per item, each checked as it changes.

use std::collections::HashSet;

use atelier_contract::json::{self, Record};
use atelier_contract::{Draft, Entry, Problem, Schema};
use serde_json::Value;

use super::prompts::{line, prompts};
use super::sweep::{self, Axis, Combine, GridLabels};
use super::{MAX_ROWS, columns};
use crate::seed::{self, Seeded};
use crate::{BatchKey, BatchPlace};

pub use writer::Writer;

/// One item to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Tells it from the others, whatever moves.
    pub id: u64,
    pub draft: Draft,
    /// Why it can't be sent; empty if it can.
    pub problems: Vec<Problem>,
    /// What became of it. It stays in the table, and is not sent again by itself.
    pub sent: Option<BatchPlace>,
}

/// Rows, and what a person made of the columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    rows: Vec<Row>,
    /// Columns that are shown though no row has anything in them.
    added: Vec<String>,
    /// The sweep that the rows are, as long as they are exactly that.
    grid: Option<GridLabels>,
    next_id: u64,
}

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

    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The row of this id and where it stands.
    pub fn row(&self, id: u64) -> Option<(usize, &Row)> {
        let at = self.place(id)?;
        Some((at, &self.rows[at]))
    }

    /// Rows that can be sent, and are not yet.
    pub fn good(&self) -> usize {
        let unsent = self.rows.iter().filter(|row| row.sent.is_none());
        unsent.filter(|row| row.problems.is_empty()).count()
    }

    /// Rows that can't be sent, each with where it stands.
    pub fn bad(&self) -> impl Iterator<Item = (usize, &Row)> {
        let rows = self.rows.iter().enumerate();
        rows.filter(|(_, row)| row.sent.is_none() && !row.problems.is_empty())
    }

    /// Rows that were sent as they stand here.
    pub fn sent(&self) -> usize {
        self.rows.iter().filter(|row| row.sent.is_some()).count()
    }

    /// Those that the table does not have yet, sent or not.
    pub fn unknown(&self, drafts: &[Draft]) -> Vec<Draft> {
        let text = |draft: &Draft| draft.to_value().to_string();
        let known: HashSet<String> = self.rows.iter().map(|row| text(&row.draft)).collect();
        let is_new = |draft: &&Draft| !known.contains(&text(draft));
        drafts.iter().filter(is_new).cloned().collect()
    }

    /// Where the rows stand that are shown: what was sent steps aside, unless a person wants to see it.
    pub fn shown(&self, with_sent: bool) -> Vec<usize> {
        let is_shown = |at: &usize| with_sent || self.rows[*at].sent.is_none();
        (0..self.rows.len()).filter(is_shown).collect()
    }

    /// The parameters that have a column among the rows that are shown.
    pub fn columns(&self, schema: &Schema, with_sent: bool) -> Vec<String> {
        let shown = self
            .rows
            .iter()
            .filter(|row| with_sent || row.sent.is_none());
        let mut shown = columns(shown.map(|row| &row.draft), schema);
        for name in &self.added {
            if !shown.contains(name) {
                shown.push(name.clone());
            }
        }
        shown
    }

    pub fn add_column(&mut self, name: &str) {
        if !self.added.iter().any(|added| added == name) {
            self.added.push(name.to_owned());
        }
    }

    /// Takes a parameter out of every row.
    pub fn drop_column(&mut self, name: &str, schema: &Schema) {
        self.added.retain(|added| added != name);
        self.unless_swept(name);
        for row in &mut self.rows {
            if row.draft.get(name).is_some() {
                row.sent = None;
            }
            row.draft.reset(name);
            row.problems = problems(&row.draft, schema);
        }
    }

    /// Puts rows behind those that are there. Refused, with a sentence, if they are too many.
    pub fn append(&mut self, drafts: Vec<Draft>, schema: &Schema) -> Result<(), String> {
        self.make_room(drafts.len())?;
        self.grid = None;
        for draft in drafts {
            let row = self.new_row(draft, schema);
            self.rows.push(row);
        }
        Ok(())
    }

    /// A parameter of all rows as lines of a text; rows that have nothing there have no line.
    pub fn lines(&self, parameter: &str) -> Vec<String> {
        self.lined(parameter).map(|(_, line)| line).collect()
    }

    fn lined(&self, parameter: &str) -> impl Iterator<Item = (usize, String)> {
        let line_of = move |row: &Row| Some(line(&row.draft.get(parameter)?.to_text()));
        let lines = self.rows.iter().map(line_of).enumerate();
        lines.filter_map(|(at, line)| Some((at, line.filter(|line| !line.is_empty())?)))
    }

    /// Makes [`Table::lines`] those of `text`. Rows whose line stays are left alone; one whose line
    /// changes keeps its other parameters; a new one has those of `base`. Refused, with a
    /// sentence, if they are too many.
    pub fn set_lines(
        &mut self,
        parameter: &str,
        text: &str,
        base: &Draft,
        schema: &Schema,
    ) -> Result<(), String> {
        let new: Vec<&str> = prompts(text).collect();
        let old: Vec<(usize, String)> = self.lined(parameter).collect();
        let same = |(old, new): &(&(usize, String), &&str)| old.1 == **new;
        let before = old.iter().zip(&new).take_while(same).count();
        let rest = (old.iter().skip(before).rev()).zip(new.iter().skip(before).rev());
        let after = rest.take_while(same).count();
        let old_part = &old[before..old.len() - after];
        let new_part = &new[before..new.len() - after];
        if old_part.is_empty() && new_part.is_empty() {
            return Ok(());
        }
        let count = self.rows.len() + new_part.len() - old_part.len().min(new_part.len());
        if count > MAX_ROWS {
            return Err(too_many(count));
        }
        self.unless_swept(parameter);
        for ((at, _), line) in old_part.iter().zip(new_part) {
            let row = &mut self.rows[*at];
            row.draft.set(parameter, Entry::Text((*line).to_owned()));
            row.problems = problems(&row.draft, schema);
            row.sent = None;
        }
        let shared = old_part.len().min(new_part.len());
        if old_part.len() != new_part.len() {
            self.grid = None;
        }
        for (at, _) in old_part[shared..].iter().rev() {
            self.rows.remove(*at);
        }
        let last = old[..before + shared].last().map(|(at, _)| at + 1);
        let place = last
            .or(old.first().map(|(at, _)| *at))
            .unwrap_or(self.rows.len());
        let rows: Vec<Row> = new_part[shared..]
            .iter()
            .map(|line| {
                let mut draft = base.clone();
                draft.set(parameter, Entry::Text((*line).to_owned()));
                self.new_row(draft, schema)
            })
            .collect();
        self.rows.splice(place..place, rows);
        Ok(())
    }

    /// Puts the rows of a sweep behind those that are there; see [`sweep::rows`]. Where they alone are
    /// yet to be sent, they are remembered as a grid.
    pub fn append_sweep(
        &mut self,
        base: &Draft,
        axes: &[Axis],
        combine: Combine,
        schema: &Schema,
    ) -> Result<(), String> {
        let rows = sweep::rows(base, axes, combine)?;
        let cells: Vec<usize> = (0..rows.len()).collect();
        let is_alone = self.rows.iter().all(|row| row.sent.is_some());
        self.append(rows, schema)?;
        if is_alone {
            self.grid = GridLabels::new(axes, combine, &cells);
        }
        Ok(())
    }

    /// Changes one cell; `None` leaves the parameter untouched.
    pub fn set(&mut self, id: u64, name: &str, entry: Option<Entry>, schema: &Schema) {
        let Some(at) = self.place(id) else {
            return;
        };
        self.unless_swept(name);
        let row = &mut self.rows[at];
        match entry {
            Some(entry) => row.draft.set(name, entry),
            None => row.draft.reset(name),
        }
        row.problems = problems(&row.draft, schema);
        // It is another one now.
        if row.sent.take().is_some() {
            self.grid = None;
        }
    }

    pub fn remove(&mut self, id: u64) {
        self.grid = None;
        self.rows.retain(|row| row.id != id);
    }

    /// A person wants a row that was sent to be sent once more.
    pub fn send_again(&mut self, id: u64) {
        if let Some(at) = self.place(id) {
            self.rows[at].sent = None;
            self.grid = None;
        }
    }

    /// A person wants all that was sent to be sent once more.
    pub fn send_all_again(&mut self) {
        for row in &mut self.rows {
            if row.sent.take().is_some() {
                self.grid = None;
            }
        }
    }

    /// Takes out what was sent.
    pub fn clear_sent(&mut self) {
        self.rows.retain(|row| row.sent.is_none());
    }

    /// What was not sent after all is to be sent again: as it was typed where its row is still here,
    /// else as a new row.
    pub fn take_back(
        &mut self,
        items: Vec<(BatchPlace, Draft)>,
        schema: &Schema,
    ) -> Result<(), String> {
        let mut gone = Vec::new();
        for (place, draft) in items {
            let row = self
                .rows
                .iter_mut()
                .find(|row| row.sent.as_ref() == Some(&place));
            match row {
                Some(row) => row.sent = None,
                None => gone.push(draft),
            }
        }
        self.grid = None;
        self.append(gone, schema)
    }

    /// Puts the same row once more below itself.
    pub fn duplicate(&mut self, id: u64, schema: &Schema) {
        if let Some(at) = self.place(id)
            && self.rows.len() < MAX_ROWS
        {
            self.grid = None;
            let row = self.new_row(self.rows[at].draft.clone(), schema);
            self.rows.insert(at + 1, row);
        }
    }

    /// Empties the table; ids are not used again.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.added.clear();
        self.grid = None;
    }

    /// The rows that can be sent, in order, with the grid that they fill. From now on they count as
    /// sent, as items of this batch. A seed that was left alone is drawn from `random`.
    pub fn send_good(
        &mut self,
        batch: &BatchKey,
        schema: &Schema,
        send_defaults: bool,
        random: &mut dyn FnMut() -> u64,
    ) -> (Vec<Seeded>, Option<GridLabels>) {
        let mut inputs = Vec::new();
        let mut sent = Vec::new();
        let unsent = self.rows.iter_mut().filter(|row| row.sent.is_none());
        for (at, row) in unsent.enumerate() {
            let settled = seed::settled(&row.draft, schema, random());
            match schema.validate(&settled, send_defaults) {
                Ok(input) => {
                    row.sent = Some(BatchPlace {
                        batch: batch.clone(),
                        index: inputs.len(),
                    });
                    inputs.push(Seeded {
                        input,
                        is_chosen: seed::entry(&row.draft, schema).is_some(),
                    });
                    sent.push(at);
                }
                Err(problems) => row.problems = problems,
            }
        }
        let grid = self.grid.take().map(|grid| GridLabels {
            cells: sent,
            ..grid
        });
        (inputs, grid)
    }

    fn new_row(&mut self, draft: Draft, schema: &Schema) -> Row {
        self.next_id += 1;
        Row {
            id: self.next_id,
            problems: problems(&draft, schema),
            draft,
            sent: None,
        }
    }

    /// Refused, with a sentence, where so many more rows are too many. What was sent makes way.
    fn make_room(&mut self, more: usize) -> Result<(), String> {
        let count = self.rows.len() - self.sent() + more;
        if count > MAX_ROWS {
            return Err(too_many(count));
        }
        if self.rows.len() + more > MAX_ROWS {
            self.clear_sent();
        }
        Ok(())
    }

    /// A grid whose labels are no longer true is none.
    fn unless_swept(&mut self, name: &str) {
        let is_axis =
            |grid: &GridLabels| grid.rows.parameter == name || grid.columns.parameter == name;
        if self.grid.as_ref().is_some_and(is_axis) {
            self.grid = None;
        }
    }

    fn place(&self, id: u64) -> Option<usize> {
        self.rows.iter().position(|row| row.id == id)
    }
}

fn too_many(count: usize) -> String {
    format!("These would be {count} rows; a batch has at most {MAX_ROWS}.")
}

/// A row that was sent, as it is stored: apart from the others, so that a version that knows nothing of
/// sent rows does not send it again.
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

fn sent_row(at: usize, row: &Row) -> Option<Value> {
    let place = row.sent.as_ref()?;
    let mut record = Record::new();
    record.put("at", at.into());
    record.put("row", row.draft.to_value());
    record.put("place", json::encode(place));
    Some(record.into_value())
}

fn problems(draft: &Draft, schema: &Schema) -> Vec<Problem> {
    schema.validate(draft, false).err().unwrap_or_default()
}

mod writer;

#[cfg(test)]
mod tests;
