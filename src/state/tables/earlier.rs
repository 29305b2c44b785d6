//! Imports a table that an earlier version of Atelier stored in `localStorage`.

use atelier_engine::derived_key;
use atelier_studio::compose::table::conflict::{Conflict, ConflictReason};
use leptos::prelude::*;

use super::ModelTable;
use super::local_text::LocalText;
use crate::browser::local;

/// Returns the entry in which an earlier version stored a model's table.
pub(super) fn text_of(model: &str) -> LocalText {
    LocalText::new(format!("atelier.table.{model}"))
}

impl ModelTable {
    /// Shows the rows of an earlier version, or sets them aside if there are others.
    pub(super) fn import_earlier(&'static self) {
        let Some(text) = self.earlier.read() else {
            return;
        };
        // An earlier version stored no time of the last edit.
        let Some(earlier) = self.parse(&text, derived_key::hash_text(&text)) else {
            return;
        };
        self.earlier.adopt(Some(text));
        if earlier.looks_like(&self.table.read_untracked()) {
            self.earlier.forget();
        } else if self.table.read_untracked().is_empty() {
            self.table.set(earlier);
            self.mark_changed();
            self.write_soon();
        } else {
            self.earlier.release();
            self.set_aside.set(Some(Conflict {
                table: earlier,
                reason: ConflictReason::Earlier,
            }));
        }
    }

    /// Notices when another tab imports or discards the rows of the earlier version, for as long as the page is open.
    pub(super) fn watch_earlier(&'static self) {
        let key = self.earlier.key().to_owned();
        local::listen(key, || self.withdraw_earlier()).forget();
    }

    /// Discards the rows that are set aside, if another tab has imported or discarded them.
    fn withdraw_earlier(&self) {
        if self.earlier.read().is_none() && self.set_aside.reason() == Some(ConflictReason::Earlier)
        {
            self.set_aside.set(None);
        }
    }

    /// Deletes the rows of the earlier version, after the user has chosen or discarded them.
    pub(super) fn settle_earlier(&self, reason: ConflictReason) {
        if reason == ConflictReason::Earlier {
            self.earlier.adopt(self.earlier.read());
            if !self.writing.sync().is_unstored() {
                self.earlier.forget();
            }
        }
    }
}
