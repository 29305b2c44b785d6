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
    /// The same in all tabs, and unique to the row; 0 until one is drawn.
    nonce: u64,
    pub draft: Draft,
    /// Why the row can't be sent; empty if it can.
    pub problems: Vec<Problem>,
    /// The item that the row became. A row that was sent stays in the table and is not sent again automatically.
    pub sent: Option<BatchPlace>,
    /// The item that the row was before, with the draft of that time.
    earlier: Option<Earlier>,
    pub source: Source,
    /// The user has put it aside: it is neither shown nor sent until it is brought back.
    is_aside: bool,
}

impl Row {
    /// Whether the row is shown and will be sent.
    pub fn is_waiting(&self) -> bool {
        self.sent.is_none() && !self.is_aside
    }

    /// Whether all its entries are blank. Such a row is not counted as a mistake.
    pub fn is_blank(&self) -> bool {
        let mut entries = self.draft.iter();
        entries.all(|(_, entry)| entry.to_text().trim().is_empty())
    }

    /// Returns the key of the task that the row becomes as it is now. A tab that does not know yet that another tab has
    /// sent the row derives the same key, and sends nothing.
    fn task_key(&self) -> TaskKey {
        TaskKey::of_row(self.nonce, &self.draft.to_value().to_string())
    }

    /// Makes the row waiting again; it becomes another task.
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

    /// Returns the item that the row was, if the row still requests the same.
    pub fn earlier(&self) -> Option<&BatchPlace> {
        self.earlier.as_ref()?.place_of(&self.draft)
    }

    /// Returns a text that is equal for rows that request the same.
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
    /// The sweep that the rows come from, as long as they are exactly its rows.
    grid: Option<GridLabels>,
    next_id: u64,
    addition: Option<Addition>,
    removal: Option<Arc<Removal>>,
    /// How often rows were removed.
    removals: u64,
    /// Batches whose rows count as sent although their tasks may not be stored yet.
    sending: Vec<BatchKey>,
    /// The tasks that were returned to the table last, each with its creation time, so that no tab returns them twice.
    put_back: Vec<(TaskKey, Millis)>,
}

impl Table {
    /// Gives new rows their nonces. Call it after each change.
    pub fn draw_nonces(&mut self, random: &mut dyn FnMut() -> u64) {
        for row in self.rows.iter_mut().filter(|row| row.nonce == 0) {
            row.nonce = random();
        }
    }

    /// Derives nonces for rows that were stored by a version without nonces: the same ones in each tab.
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

    /// Whether there is a row, sent or not, that was not put aside.
    pub fn has_rows(&self) -> bool {
        self.rows.iter().any(|row| !row.is_aside)
    }

    /// Returns the row with this id and its index.
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
            row.problems = problems(&row.draft, schema);
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
        // Rows that are removed to make space were sent, too.
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

    /// Changes one cell; `None` removes the entry. The column stays even if the new value needs none, because the user is
    /// typing there.
    pub fn set(&mut self, id: u64, name: &str, entry: Option<Entry>, schema: &Schema) {
        self.set_entry(id, name, entry, schema);
        let holds = |columns: Vec<String>| columns.iter().any(|column| column == name);
        let own = self.row(id).map(|(_, row)| &row.draft);
        // Most columns are shown because of the new value.
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
        // A row that changes is a new item.
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

    /// Removes a row; see [`Table::undo_removal`].
    pub fn remove(&mut self, id: u64) {
        self.take_out(|row| row.id == id);
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

    /// Removes all rows except those that were put aside. Ids are not reused.
    pub fn clear(&mut self) {
        self.take_out(|row| !row.is_aside);
        self.added.clear();
    }

    fn new_row(&mut self, mut draft: Draft, schema: &Schema, before: &SentBefore) -> Row {
        // Rows are stored, so they must not contain secrets.
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

fn problems(draft: &Draft, schema: &Schema) -> Vec<Problem> {
    schema.validate(draft, false).err().unwrap_or_default()
}

#[cfg(test)]
mod tests;
