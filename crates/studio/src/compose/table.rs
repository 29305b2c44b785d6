//! The table in which a batch is composed: a row per item, each checked as it changes.

use std::sync::Arc;

use atelier_contract::{Draft, Entry, Problem, Schema};
use atelier_engine::derived_key::{next_nonce, stored_nonce};
use atelier_engine::{BatchKey, BatchPlace, Millis, TaskKey};

use super::sweep::{self, Axis, Combine, GridLabels};
use super::{MAX_ROWS, columns};

mod addition;
pub mod conflict;
mod distinction;
mod lines;
mod numbering;
mod only_new;
mod queued;
mod removal;
mod sending;
mod sent_before;
pub mod shared_inputs;
mod source;
mod stash;
mod stored;
mod writer;

use addition::Addition;
pub use lines::LinesBefore;
pub use numbering::{BadRow, cell_label};
pub use only_new::MadeRow;
pub use queued::QueuedPlaces;
pub use removal::Place;
use removal::Removal;
pub use sending::{Item, KnownPlace, SentRows, TakenBack};
pub use sent_before::ToSend;
use sent_before::{Earlier, SentBefore};
pub use source::Source;
pub use writer::Writer;

/// One item to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Tells it from the others, whatever moves.
    pub id: u64,
    /// The same in all tabs, and of no other row; 0 as long as none was drawn.
    nonce: u64,
    pub draft: Draft,
    /// Why it can't be sent; empty if it can.
    pub problems: Vec<Problem>,
    /// The item that the row has become. A row that was sent stays in the table, and is not sent again by itself.
    pub sent: Option<BatchPlace>,
    /// What it was sent as before, whatever stands in it now.
    earlier: Option<Earlier>,
    pub source: Source,
    /// A person has put it aside: it is neither shown nor sent until it is brought back.
    is_aside: bool,
}

impl Row {
    /// It is shown, and to be sent.
    pub fn is_waiting(&self) -> bool {
        self.sent.is_none() && !self.is_aside
    }

    /// Nothing stands in it: it is yet to be filled in, and that is no mistake.
    pub fn is_blank(&self) -> bool {
        let mut entries = self.draft.iter();
        entries.all(|(_, entry)| entry.to_text().trim().is_empty())
    }

    /// The key of the task that it becomes as it stands here: a tab that has not heard yet that another one has sent
    /// it gives it the same one, and sends nothing.
    fn task_key(&self) -> TaskKey {
        TaskKey::of_row(self.nonce, &self.draft.to_value().to_string())
    }

    /// It is to be sent once more, as another task.
    fn unsend(&mut self) {
        if self.sent.take().is_some() {
            self.nonce = next_nonce(self.nonce);
        }
    }

    /// As [`Row::unsend`], and it goes on saying that it was sent.
    fn put_back(&mut self) {
        if let Some(place) = self.sent.clone() {
            self.earlier = Some(Earlier::new(place, self.draft.clone()));
        }
        self.unsend();
    }

    /// The item that the same row was before, as it stands here: it is to be sent once more.
    pub fn earlier(&self) -> Option<&BatchPlace> {
        self.earlier.as_ref()?.place_of(&self.draft)
    }

    /// What tells it from rows that ask for something else.
    fn text(&self) -> String {
        text(&self.draft)
    }
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
    addition: Option<Addition>,
    removal: Option<Arc<Removal>>,
    /// How often rows were taken out.
    removals: u64,
    /// Batches whose rows count as sent though it is not known yet whether their tasks are stored.
    sending: Vec<BatchKey>,
    /// The tasks that were put back last, each with the time of its creation. No tab puts them back again.
    put_back: Vec<(TaskKey, Millis)>,
}

impl Table {
    /// Gives the rows that have none yet their nonces. To be called after each change.
    pub fn draw_nonces(&mut self, random: &mut dyn FnMut() -> u64) {
        for row in self.rows.iter_mut().filter(|row| row.nonce == 0) {
            row.nonce = random();
        }
    }

    /// The same for rows that a version has stored which knows of none: each tab comes to the same ones.
    pub fn derive_nonces(&mut self, model: &str, edited: Millis) {
        for (at, row) in self.rows.iter_mut().enumerate() {
            if row.nonce == 0 {
                row.nonce = stored_nonce(model, edited, at);
            }
        }
    }

    /// Whether a person would see the same in both.
    pub fn looks_like(&self, other: &Self) -> bool {
        let rows = |table: &Self| {
            let rows = table.rows.iter();
            let rows = rows.map(|row| (row.draft.clone(), row.sent.clone(), row.is_aside));
            rows.collect::<Vec<_>>()
        };
        rows(self) == rows(other) && self.added == other.added && self.grid == other.grid
    }

    /// Gives all rows in their order, also those that were sent.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Any row, sent or not, that was not put aside.
    pub fn has_rows(&self) -> bool {
        self.rows.iter().any(|row| !row.is_aside)
    }

    /// The row of this id and where it stands.
    pub fn row(&self, id: u64) -> Option<(usize, &Row)> {
        let at = self.place(id)?;
        Some((at, &self.rows[at]))
    }

    /// What waits in it to be sent.
    pub fn waiting(&self) -> Vec<Draft> {
        let waiting = self.rows.iter().filter(|row| row.is_waiting());
        waiting.map(|row| row.draft.clone()).collect()
    }

    /// Whether these wait in it, and nothing else.
    pub fn waits_as(&self, drafts: &[Draft]) -> bool {
        let waiting = self.rows.iter().filter(|row| row.is_waiting());
        waiting.map(|row| &row.draft).eq(drafts)
    }

    /// Gives the places of the rows that are shown: those that wait to be sent. What was sent is history.
    pub fn shown(&self) -> Vec<usize> {
        let is_shown = |at: &usize| self.rows[*at].is_waiting();
        (0..self.rows.len()).filter(is_shown).collect()
    }

    /// The parameters that have a column among the rows that are shown.
    pub fn columns(&self, schema: &Schema) -> Vec<String> {
        let shown = self.rows.iter().filter(|row| row.is_waiting());
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

    /// Takes a parameter out of every row that is to be sent.
    pub fn drop_column(&mut self, name: &str, schema: &Schema) {
        self.added.retain(|added| added != name);
        self.unless_swept(name);
        for row in self.rows.iter_mut().filter(|row| row.is_waiting()) {
            row.draft.reset(name);
            row.problems = problems(&row.draft, schema);
        }
    }

    /// Whether [`Table::drop_column`] would take anything out.
    pub fn can_drop(&self, name: &str) -> bool {
        let mut unsent = self.rows.iter().filter(|row| row.is_waiting());
        self.added.iter().any(|added| added == name)
            || unsent.any(|row| row.draft.get(name).is_some())
    }

    /// Puts rows behind those that are there. Refused, with a sentence, if they are too many.
    ///
    /// # Errors
    ///
    /// The sentence; the table stays as it was.
    pub fn append(&mut self, drafts: Vec<Draft>, schema: &Schema) -> Result<(), String> {
        // What makes room was sent as well.
        let before = SentBefore::of(&self.rows);
        self.make_room(drafts.len())?;
        self.grid = None;
        self.addition = None;
        for draft in drafts {
            let row = self.new_row(draft, schema, &before);
            self.rows.push(row);
        }
        Ok(())
    }

    /// Puts the rows of a sweep behind those that are there; see [`sweep::rows`]. Where they alone are
    /// yet to be sent, they are remembered as a grid.
    ///
    /// # Errors
    ///
    /// A sentence, see [`sweep::rows`] and [`Table::append`]; the table stays as it was.
    pub fn append_sweep(
        &mut self,
        base: &Draft,
        axes: &[Axis],
        combine: Combine,
        schema: &Schema,
    ) -> Result<(), String> {
        let rows = sweep::rows(base, axes, combine)?;
        let cells: Vec<usize> = (0..rows.len()).collect();
        let is_alone = self.unsent() == 0;
        self.append(rows, schema)?;
        if is_alone {
            self.grid = GridLabels::new(axes, combine, &cells);
        }
        Ok(())
    }

    /// Changes one cell; `None` leaves the parameter untouched. Its column stays, whatever stands in it now: a person
    /// writes there.
    pub fn set(&mut self, id: u64, name: &str, entry: Option<Entry>, schema: &Schema) {
        self.put(id, name, entry, schema);
        let holds = |columns: Vec<String>| columns.iter().any(|column| column == name);
        let own = self.row(id).map(|(_, row)| &row.draft);
        // Most are shown for what stands in them now.
        if !holds(columns(own.into_iter(), schema)) && !holds(self.columns(schema)) {
            self.add_column(name);
        }
    }

    fn put(&mut self, id: u64, name: &str, entry: Option<Entry>, schema: &Schema) {
        let Some(at) = self.place(id) else {
            return;
        };
        self.unless_swept(name);
        let row = &mut self.rows[at];
        // It is a different row now.
        if row.sent.is_some() {
            row.put_back();
            self.grid = None;
        }
        match entry {
            Some(entry) => row.draft.set(name, entry),
            None => row.draft.reset(name),
        }
        row.problems = problems(&row.draft, schema);
    }

    pub fn remove(&mut self, id: u64) {
        self.take_out(|row| row.id == id);
    }

    /// Puts the same row once more below itself.
    pub fn duplicate(&mut self, id: u64, schema: &Schema) {
        if let Some(at) = self.place(id)
            && self.rows.len() < MAX_ROWS
        {
            self.grid = None;
            let before = SentBefore::of(&self.rows[at..=at]);
            let mut row = self.new_row(self.rows[at].draft.clone(), schema, &before);
            if self.rows[at].source == Source::Line {
                row.source = Source::Line;
            }
            self.rows.insert(at + 1, row);
        }
    }

    /// Empties the table; ids are not used again.
    pub fn clear(&mut self) {
        self.take_out(|row| !row.is_aside);
        self.added.clear();
    }

    fn new_row(&mut self, mut draft: Draft, schema: &Schema, before: &SentBefore) -> Row {
        // Rows are stored.
        schema.take_secrets(&mut draft);
        self.next_id += 1;
        Row {
            id: self.next_id,
            nonce: 0,
            problems: problems(&draft, schema),
            sent: None,
            earlier: before.find(&draft),
            source: Source::default(),
            is_aside: false,
            draft,
        }
    }

    /// Refused, with a sentence, where so many more rows are too many. What was sent is removed first.
    fn make_room(&mut self, more: usize) -> Result<(), String> {
        let count = self.unsent() + more;
        if count > MAX_ROWS {
            return Err(too_many(count));
        }
        if self.rows.len() + more > MAX_ROWS {
            self.rows.retain(|row| row.sent.is_none());
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

fn text(draft: &Draft) -> String {
    draft.to_value().to_string()
}

fn problems(draft: &Draft, schema: &Schema) -> Vec<Problem> {
    schema.validate(draft, false).err().unwrap_or_default()
}

#[cfg(test)]
mod tests;
