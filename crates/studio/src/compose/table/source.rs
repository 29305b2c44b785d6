//! Records the origin of each row of a table.

use std::collections::HashSet;

use atelier_contract::{Draft, Schema};
use atelier_engine::BatchPlace;

use super::{Row, Table, text};

/// The origin of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Source {
    /// A sweep, the gallery, a batch that is edited again, or a version of Atelier that did not record the origin.
    #[default]
    Other,
    /// A line of prompts, or a row that was added manually.
    Line,
    /// The row with this number of an imported table, or the item with this number of a batch that is edited again,
    /// from 1.
    File(usize),
}

impl Source {
    fn of_file(number: usize) -> Self {
        match number {
            0 => Self::Other,
            number => Self::File(number),
        }
    }

    /// Returns the stored form.
    pub(super) fn code(self) -> Option<usize> {
        match self {
            Self::Other => None,
            Self::Line => Some(0),
            Self::File(row) => Some(row),
        }
    }

    pub(super) fn from_code(code: Option<usize>) -> Self {
        match code {
            None => Self::Other,
            Some(0) => Self::Line,
            Some(row) => Self::File(row),
        }
    }
}

impl From<&BatchPlace> for Source {
    /// Returns the source of a row for an item that returns to the table. It preserves the item's number.
    fn from(place: &BatchPlace) -> Self {
        Self::File(place.index + 1)
    }
}

impl Table {
    /// Appends rows of an imported table, each with its number in the file.
    ///
    /// # Errors
    ///
    /// A message, see [`Table::append`]; the table is unchanged.
    pub fn append_imported(
        &mut self,
        rows: Vec<(usize, Draft)>,
        schema: &Schema,
    ) -> Result<(), String> {
        let (numbers, drafts): (Vec<usize>, Vec<Draft>) = rows.into_iter().unzip();
        self.append(drafts, schema)?;
        self.set_last_sources(numbers.into_iter().rev().map(Source::of_file));
        Ok(())
    }

    /// Appends a row that the user fills in.
    ///
    /// # Errors
    ///
    /// A message, see [`Table::append`]; the table is unchanged.
    pub fn add_row(&mut self, draft: Draft, schema: &Schema) -> Result<(), String> {
        self.append(vec![draft], schema)?;
        self.set_last_sources([Source::Line]);
        Ok(())
    }

    /// Sets the sources of the last rows, from the last one upwards.
    pub(super) fn set_last_sources(&mut self, sources: impl IntoIterator<Item = Source>) {
        for (row, source) in self.rows.iter_mut().rev().zip(sources) {
            row.source = source;
        }
    }

    /// Returns the drafts for which the table has no row, sent or not.
    pub fn unknown(&self, drafts: &[Draft]) -> Vec<Draft> {
        let is_new = self.is_unknown();
        let new = drafts.iter().filter(|draft| is_new(draft));
        new.cloned().collect()
    }

    fn is_unknown(&self) -> impl Fn(&Draft) -> bool + use<> {
        let known_rows = self.rows.iter().filter(|row| !row.is_aside);
        let known: HashSet<String> = known_rows.map(Row::text).collect();
        move |draft| !known.contains(&text(draft))
    }

    /// Returns the imported rows for which the table has no row, sent or not.
    pub fn unknown_imported(&self, mut rows: Vec<(usize, Draft)>) -> Vec<(usize, Draft)> {
        let is_new = self.is_unknown();
        rows.retain(|(_, draft)| is_new(draft));
        rows
    }
}
