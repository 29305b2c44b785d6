//! Saves rows in `localStorage` that were typed right before a page is closed: see [`UnsavedRows`].

use atelier_studio::compose::revision::StoredRevision;
use atelier_studio::compose::unsaved_rows::UnsavedRows;
use leptos::prelude::*;

use super::ModelTable;
use super::local_text::LocalText;

pub(super) fn text_of(model: &str) -> LocalText {
    LocalText::new(format!("atelier.table-left.{model}"))
}

impl ModelTable {
    /// Saves the table in `localStorage`, which writes at once. Returns whether the browser allows that.
    pub(super) fn save_locally(&self, table: &str) -> bool {
        let unsaved = UnsavedRows::new(self.writing.pending(), table.to_owned());
        self.unsaved.write(unsaved.to_text())
    }

    /// Deletes the saved table if the database contains it, too.
    pub(super) fn forget_if_stored(&self, stored: &StoredRevision) {
        let text = self.unsaved.read();
        let unsaved = text.as_deref().and_then(UnsavedRows::read);
        if unsaved.is_some_and(|unsaved| unsaved.base_revision(Some(stored)).is_none()) {
            self.unsaved.adopt(text);
            self.unsaved.forget();
        }
    }

    /// Shows the rows that a closed page saved but did not store in the database, and stores them.
    pub(super) fn restore_unsaved(&'static self, stored: Option<&StoredRevision>) {
        let Some(text) = self.unsaved.read() else {
            return;
        };
        let unsaved = UnsavedRows::read(&text);
        self.unsaved.adopt(Some(text));
        let found = unsaved.and_then(|unsaved| {
            let base = unsaved.base_revision(stored)?;
            let edited = unsaved.edited();
            Some((base, edited, self.parse(&unsaved.table, edited)?))
        });
        let Some((base, edited, table)) = found else {
            return self.unsaved.forget();
        };
        self.table.set(table);
        self.writing.update(|sync| sync.resume(base, edited));
        self.write_soon();
    }
}
