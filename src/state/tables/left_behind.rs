//! Saves what was typed right before a page is closed: see [`UnsavedRows`].

use atelier_studio::compose::revision::StoredRevision;
use atelier_studio::compose::unsaved_rows::UnsavedRows;
use leptos::prelude::*;

use super::KeptTable;
use super::local_text::LocalText;

pub(super) fn text_of(model: &str) -> LocalText {
    LocalText::new(format!("atelier.table-left.{model}"))
}

impl KeptTable {
    /// Whether it is left behind. If the browser refuses, only the database can keep it.
    pub(super) fn leave_behind(&self, table: &str) -> bool {
        let left = UnsavedRows::new(self.writing.pending(), table.to_owned());
        self.left_behind.write(left.to_text())
    }

    /// It is not needed where it was stored after all.
    pub(super) fn settle_left_behind(&self, stored: &StoredRevision) {
        let text = self.left_behind.read();
        let left = text.as_deref().and_then(UnsavedRows::read);
        if left.is_some_and(|left| left.base_revision(Some(stored)).is_none()) {
            self.left_behind.take(text);
            self.left_behind.forget();
        }
    }

    /// Makes the rows that a closed page has left behind and could not store the table, and stores them now.
    pub(super) fn take_up_left_behind(&'static self, stored: Option<&StoredRevision>) {
        let Some(text) = self.left_behind.read() else {
            return;
        };
        let left = UnsavedRows::read(&text);
        self.left_behind.take(Some(text));
        let found = left.and_then(|left| {
            let base = left.base_revision(stored)?;
            let edited = left.edited();
            Some((base, edited, self.parse(&left.table, edited)?))
        });
        let Some((base, edited, table)) = found else {
            return self.left_behind.forget();
        };
        self.table.set(table);
        self.writing.update(|sync| sync.resume(base, edited));
        self.write_soon();
    }
}
