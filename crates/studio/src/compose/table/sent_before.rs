//! Recognizes waiting rows that were sent before. They are labelled, because sending them again is charged again.

use std::collections::{HashMap, HashSet};

use atelier_contract::{Draft, Entry, Schema};
use atelier_engine::BatchPlace;

use super::{Row, Source, Table};
use crate::compose::sweep::WrittenSweep;
use crate::form::seed;

/// An item that was sent, with its draft.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Earlier {
    place: BatchPlace,
    draft: Draft,
}

impl Earlier {
    pub fn new(place: BatchPlace, draft: Draft) -> Self {
        Self { place, draft }
    }

    /// Returns the item if this draft has the same inputs.
    pub fn place_of(&self, draft: &Draft) -> Option<&BatchPlace> {
        let is_same = self.draft == *draft || request_texts(&self.draft) == request_texts(draft);
        is_same.then_some(&self.place)
    }
}

/// Sent items, by their inputs.
#[derive(Debug, Default)]
pub(super) struct SentBefore(HashMap<Vec<String>, Earlier>);

impl SentBefore {
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let items = rows.into_iter().filter_map(Row::sent_as);
        let items = items.map(|(place, draft)| {
            let earlier = Earlier::new(place.clone(), draft.clone());
            (request_texts(draft), earlier)
        });
        Self(items.collect())
    }

    /// Returns the sent item with the same inputs.
    pub fn find(&self, draft: &Draft) -> Option<Earlier> {
        match self.0.is_empty() {
            true => None,
            false => self.0.get(&request_texts(draft)).cloned(),
        }
    }
}

/// Returns the inputs of a draft as texts, so that typed entries and JSON values are equal.
fn request_texts(draft: &Draft) -> Vec<String> {
    let entries = draft.iter();
    entries
        .flat_map(|(name, entry)| [name.to_owned(), entry.to_text()])
        .collect()
}

/// The rows that Generate sends.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToSend {
    pub drafts: Vec<Draft>,
    /// The indexes of the drafts that were sent before.
    pub sent_before: HashSet<usize>,
}

impl Row {
    /// Returns the item that the row became, now or earlier, and its draft.
    pub(super) fn sent_as(&self) -> Option<(&BatchPlace, &Draft)> {
        let sent = self.sent.as_ref().map(|place| (place, &self.draft));
        let earlier = self.earlier.as_ref();
        sent.or_else(|| earlier.map(|it| (&it.place, &it.draft)))
    }
}

impl Table {
    /// Returns the indexes of the sent rows that can be sent again. Rows that are waiting again already are excluded,
    /// and each item is included once.
    fn resendable_rows(&self) -> impl Iterator<Item = usize> {
        let waiting = || self.rows.iter().filter(|row| row.is_waiting());
        let mut places: HashSet<&BatchPlace> = waiting().filter_map(Row::earlier).collect();
        let texts: HashSet<_> = match self.sent() {
            0 => HashSet::new(),
            _ => waiting().map(Row::text).collect(),
        };
        let rows = self.rows.iter().enumerate();
        let absent = rows.filter(move |(_, row)| {
            let sent = row.sent.as_ref();
            sent.is_some_and(|place| places.insert(place))
                && (texts.is_empty() || !texts.contains(&row.text()))
        });
        absent.map(|(at, _)| at)
    }

    /// Adds the items of a batch to send them again, except those that are waiting again already. `sweep`: the sweep of
    /// all these items, if there is one. Returns the number of added rows.
    ///
    /// # Errors
    ///
    /// A message, see [`Table::append`]; the table is unchanged.
    pub fn add_again(
        &mut self,
        items: Vec<(BatchPlace, Draft)>,
        sweep: Option<&WrittenSweep>,
        schema: &Schema,
    ) -> Result<usize, String> {
        let waiting = self.rows.iter().filter(|row| row.is_waiting());
        let waiting: HashSet<_> = waiting.filter_map(Row::earlier).cloned().collect();
        let all = items.len();
        let is_new = |(place, _): &(BatchPlace, Draft)| !waiting.contains(place);
        let (places, drafts): (Vec<_>, Vec<_>) = items.into_iter().filter(is_new).unzip();
        let added = places.len();
        match sweep.filter(|_| added == all) {
            Some(sweep) => self.add_sweep(sweep, schema)?,
            None => {
                self.add(drafts, schema)?;
                self.set_last_sources(places.iter().rev().map(Source::from));
            }
        }
        for (row, place) in self.rows.iter_mut().rev().zip(places.into_iter().rev()) {
            row.earlier = Some(Earlier::new(place, row.draft.clone()));
        }
        Ok(added)
    }

    /// Returns the number of rows that [`Table::put_all_back`] would make waiting.
    pub fn put_back_count(&self) -> usize {
        self.resendable_rows().count()
    }

    /// Makes all sent rows waiting again. Returns the rows in their earlier state, for [`Table::undo_put_back`].
    pub fn put_all_back(&mut self) -> Vec<Row> {
        let places: Vec<usize> = self.resendable_rows().collect();
        let before = places.iter().map(|at| self.rows[*at].clone()).collect();
        for at in places {
            self.rows[at].put_back();
            self.grid = None;
        }
        before
    }

    /// Undoes [`Table::put_all_back`], except for rows that were changed or sent since.
    pub fn undo_put_back(&mut self, before: Vec<Row>) {
        for old in before {
            if let Some(at) = self.place(old.id)
                && self.rows[at].is_waiting()
                && self.rows[at].draft == old.draft
            {
                self.rows[at] = old;
                self.grid = None;
            }
        }
    }

    /// Replaces the seeds of the waiting rows. `fresh` maps old seeds to new ones.
    pub fn renew_seeds(&mut self, fresh: &HashMap<String, String>, schema: &Schema) {
        let seed = |row: &Row| {
            let new = fresh.get(&seed::text(&row.draft))?;
            Some((row.id, Entry::Text(new.clone())))
        };
        let rows = self.rows.iter().filter(|row| row.is_waiting());
        for (id, entry) in rows.filter_map(seed).collect::<Vec<_>>() {
            self.set_entry(id, seed::NAME, Some(entry), schema);
        }
    }

    /// Returns the drafts that Generate sends: the `offered` ones, and the rows that can be sent, unless the offered
    /// drafts replace them.
    pub fn with_offered(&self, offered: &[Draft], replaces: bool) -> ToSend {
        let before = SentBefore::of(&self.rows);
        let rows = self.to_send().filter(|_| !replaces);
        let rows = rows.map(|row| (&row.draft, row.earlier().is_some()));
        let offered = offered.iter().map(|draft| (draft, false));
        let mut all = ToSend::default();
        for (at, (draft, is_known)) in rows.chain(offered).enumerate() {
            if is_known || before.find(draft).is_some() {
                all.sent_before.insert(at);
            }
            all.drafts.push(draft.clone());
        }
        all
    }
}
