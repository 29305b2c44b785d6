//! The table in which a batch is composed. Each row becomes an item, and is validated whenever it changes.

use std::sync::Arc;

use atelier_contract::{Draft, Entry, Problem, Schema};
use atelier_engine::derived_key::{next_nonce, stored_nonce};
use atelier_engine::{BatchKey, BatchPlace, Millis, TaskKey};

use super::sweep::{self, Axis, Combine, GridLabels};
use super::{MAX_ROWS, columns};

mod addition;
pub mod conflict;
mod distinction;
pub mod files;
mod lines;
mod numbering;
mod only_new;
pub mod paste;
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
use files::{FileStates, problems};
pub use lines::LinesSnapshot;
pub use numbering::{BadRow, cell_label};
pub use only_new::DuplicateRow;
pub use queued::QueuedPlaces;
pub use removal::Placement;
use removal::Removal;
pub use sending::{FindPlace, Item, ReturnedItem, SentRows};
pub use sent_before::ToSend;
use sent_before::{Earlier, SentBefore};
pub use source::Source;
pub use writer::Writer;

/// A row of the table: a future item of the batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Identifies the row in this tab; it never changes.
    pub id: u64,
    /// A random number that identifies the row in all tabs; 0 until it is drawn.
    nonce: u64,
    pub draft: Draft,
    /// Why the row can't be sent; empty if it can.
    pub problems: Vec<Problem>,
    /// The item that the row became; `None` if the row was not sent. A sent row stays in the table and is not sent
    /// again automatically.
    pub sent: Option<BatchPlace>,
    /// The item that the row became when it was sent before, with the draft of that time.
    earlier: Option<Earlier>,
    pub source: Source,
    /// Whether the user has put the row aside. It is neither shown nor sent until it is brought back.
    is_aside: bool,
}

impl Row {
    /// Whether the row is shown and will be sent.
    pub fn is_waiting(&self) -> bool {
        self.sent.is_none() && !self.is_aside
    }

    /// Whether all entries are blank. A blank row is not reported as invalid.
    pub fn is_blank(&self) -> bool {
        let mut entries = self.draft.iter();
        entries.all(|(_, entry)| entry.to_text().trim().is_empty())
    }

    /// Returns the key of the task that the row would become now. All tabs derive the same key, so a tab that was not
    /// notified that another tab has sent the row doesn't send it again.
    fn task_key(&self) -> TaskKey {
        TaskKey::of_row(self.nonce, &self.draft.to_value().to_string())
    }

    /// Makes the row waiting again. Sending it creates a new task.
    fn unsend(&mut self) {
        if self.sent.take().is_some() {
            self.nonce = next_nonce(self.nonce);
        }
    }

    /// Like [`Row::unsend`], and remembers that the row was sent.
    fn put_back(&mut self) {
        if let Some(place) = self.sent.clone() {
            self.earlier = Some(Earlier::new(place, self.draft.clone()));
        }
        self.unsend();
    }

    /// Returns the item that the row became before, if the row still has the same inputs.
    pub fn earlier(&self) -> Option<&BatchPlace> {
        self.earlier.as_ref()?.place_of(&self.draft)
    }

    /// Returns a text that is equal for rows with the same draft.
    fn text(&self) -> String {
        text(&self.draft)
    }
}

/// The rows of a batch, and the columns that the user has added.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    rows: Vec<Row>,
    /// Columns that are shown even if no row has a value there.
    added: Vec<String>,
    /// The grid of the sweep, as long as the waiting rows are exactly those of the sweep.
    grid: Option<GridLabels>,
    next_id: u64,
    addition: Option<Addition>,
    removal: Option<Arc<Removal>>,
    /// The number of removals so far.
    removals: u64,
    /// Batches whose rows count as sent although their tasks may not be stored yet.
    sending: Vec<BatchKey>,
    /// The tasks whose items were last returned to the table, each with its creation time, so that no tab returns an
    /// item twice.
    put_back: Vec<(TaskKey, Millis)>,
    /// The files of this tab that are not uploaded; not stored.
    files: FileStates,
}

impl Table {
    /// Draws nonces for new rows. Must be called after each change.
    pub fn draw_nonces(&mut self, random: &mut dyn FnMut() -> u64) {
        for row in self.rows.iter_mut().filter(|row| row.nonce == 0) {
            row.nonce = random();
        }
    }

    /// Derives nonces for rows that were stored by a version without nonces. All tabs derive the same ones.
    pub fn derive_nonces(&mut self, model: &str, edited: Millis) {
        for (at, row) in self.rows.iter_mut().enumerate() {
            if row.nonce == 0 {
                row.nonce = stored_nonce(model, edited, at);
            }
        }
    }

    /// Whether both tables look the same to the user.
    pub fn looks_like(&self, other: &Self) -> bool {
        let rows = |table: &Self| {
            let rows = table.rows.iter();
            let rows = rows.map(|row| (row.draft.clone(), row.sent.clone(), row.is_aside));
            rows.collect::<Vec<_>>()
        };
        rows(self) == rows(other) && self.added == other.added && self.grid == other.grid
    }

    /// Returns all rows in order, including those that were sent.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether there is a row that was not put aside, sent or not.
    pub fn has_rows(&self) -> bool {
        self.rows.iter().any(|row| !row.is_aside)
    }

    /// Returns the index of the row with this id, and the row.
    pub fn row(&self, id: u64) -> Option<(usize, &Row)> {
        let at = self.place(id)?;
        Some((at, &self.rows[at]))
    }

    /// Returns the drafts that are waiting to be sent.
    pub fn waiting(&self) -> Vec<Draft> {
        let waiting = self.rows.iter().filter(|row| row.is_waiting());
        waiting.map(|row| row.draft.clone()).collect()
    }

    /// Whether exactly these drafts are waiting.
    pub fn is_waiting_for(&self, drafts: &[Draft]) -> bool {
        let waiting = self.rows.iter().filter(|row| row.is_waiting());
        waiting.map(|row| &row.draft).eq(drafts)
    }

    /// Returns the indexes of the rows that are shown: those that are waiting to be sent.
    pub fn shown(&self) -> Vec<usize> {
        let is_shown = |at: &usize| self.rows[*at].is_waiting();
        (0..self.rows.len()).filter(is_shown).collect()
    }

    /// Returns the parameters that have a column, in order.
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

    /// Adds a column, even if no row has a value there.
    pub fn add_column(&mut self, name: &str) {
        if !self.added.iter().any(|added| added == name) {
            self.added.push(name.to_owned());
        }
    }

    /// Removes a parameter from every row that is waiting.
    pub fn drop_column(&mut self, name: &str, schema: &Schema) {
        self.added.retain(|added| added != name);
        self.drop_grid_of(name);
        for row in self.rows.iter_mut().filter(|row| row.is_waiting()) {
            row.draft.reset(name);
            row.problems = problems(&row.draft, schema, &self.files);
        }
    }

    /// Whether [`Table::drop_column`] would change anything.
    pub fn can_drop(&self, name: &str) -> bool {
        let mut unsent = self.rows.iter().filter(|row| row.is_waiting());
        self.added.iter().any(|added| added == name)
            || unsent.any(|row| row.draft.get(name).is_some())
    }

    /// Appends rows.
    ///
    /// # Errors
    ///
    /// A message if there are too many rows; the table is unchanged.
    pub fn append(&mut self, drafts: Vec<Draft>, schema: &Schema) -> Result<(), String> {
        // `make_space` may remove sent rows, so remember them first.
        let before = SentBefore::of(&self.rows);
        self.make_space(drafts.len())?;
        self.grid = None;
        self.addition = None;
        for draft in drafts {
            let row = self.new_row(draft, schema, &before);
            self.rows.push(row);
        }
        Ok(())
    }

    /// Appends the rows of a sweep; see [`sweep::rows`]. If no other rows are waiting, the table remembers the grid.
    ///
    /// # Errors
    ///
    /// A message, see [`sweep::rows`] and [`Table::append`]; the table is unchanged.
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

    /// Changes one cell; `None` removes the entry. The column stays even if the new value doesn't require one, because
    /// the user is typing there.
    pub fn set(&mut self, id: u64, name: &str, entry: Option<Entry>, schema: &Schema) {
        self.set_entry(id, name, entry, schema);
        let holds = |columns: Vec<String>| columns.iter().any(|column| column == name);
        let own = self.row(id).map(|(_, row)| &row.draft);
        // Check this row first: in most cases, its new value requires the column.
        if !holds(columns(own.into_iter(), schema)) && !holds(self.columns(schema)) {
            self.add_column(name);
        }
    }

    fn set_entry(&mut self, id: u64, name: &str, entry: Option<Entry>, schema: &Schema) {
        let Some(at) = self.place(id) else {
            return;
        };
        self.drop_grid_of(name);
        let row = &mut self.rows[at];
        // A sent row that is changed becomes a new item.
        if row.sent.is_some() {
            row.put_back();
            self.grid = None;
        }
        match entry {
            Some(entry) => row.draft.set(name, entry),
            None => row.draft.reset(name),
        }
        row.problems = problems(&row.draft, schema, &self.files);
    }

    /// Removes a row; see [`Table::undo_removal`].
    pub fn remove(&mut self, id: u64) {
        self.remove_where(|row| row.id == id);
    }

    /// Inserts a copy of the row below it.
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

    /// Removes all rows except those that were put aside. Their ids are not reused.
    pub fn clear(&mut self) {
        self.remove_where(|row| !row.is_aside);
        self.added.clear();
    }

    fn new_row(&mut self, mut draft: Draft, schema: &Schema, before: &SentBefore) -> Row {
        // Rows are stored, so they must not contain secrets.
        schema.take_secrets(&mut draft);
        self.next_id += 1;
        Row {
            id: self.next_id,
            nonce: 0,
            problems: problems(&draft, schema, &self.files),
            sent: None,
            earlier: before.find(&draft),
            source: Source::default(),
            is_aside: false,
            draft,
        }
    }

    /// Makes space for `more` rows by removing sent ones, or returns a message if there would be too many.
    fn make_space(&mut self, more: usize) -> Result<(), String> {
        let count = self.unsent() + more;
        if count > MAX_ROWS {
            return Err(too_many(count));
        }
        if self.rows.len() + more > MAX_ROWS {
            self.rows.retain(|row| row.sent.is_none());
        }
        Ok(())
    }

    /// Removes the grid if the parameter is one of its axes, because its labels would be wrong.
    fn drop_grid_of(&mut self, name: &str) {
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

#[cfg(test)]
mod tests;
