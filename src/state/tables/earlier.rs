//! Takes over the table that an earlier version of Atelier has left, which kept tables in `localStorage`.

use atelier_engine::derived_key;
use atelier_studio::compose::table::conflict::{Conflict, ConflictReason};
use leptos::prelude::*;

use super::KeptTable;
use super::local_text::LocalText;
use crate::browser::local;

/// Gives the text that an earlier version kept the table of a model in.
pub(super) fn text_of(model: &str) -> LocalText {
    LocalText::new(format!("atelier.table.{model}"))
}

impl KeptTable {
    /// Makes the rows that an earlier version has left the table, or puts them aside if there is one.
    pub(super) fn take_over(&'static self) {
        let Some(text) = self.earlier.read() else {
            return;
        };
        // It does not say when it was edited.
        let Some(earlier) = self.parse(&text, derived_key::hash_text(&text)) else {
            return;
        };
        self.earlier.take(Some(text));
        if earlier.looks_like(&self.table.read_untracked()) {
            self.earlier.forget();
        } else if self.table.read_untracked().is_empty() {
            self.table.set(earlier);
            self.mark_changed();
            self.write_soon();
        } else {
            self.earlier.let_go();
            self.put_aside.set(Some(Conflict {
                table: earlier,
                reason: ConflictReason::Earlier,
            }));
        }
    }

    /// Another tab may take what was left, or let go of it, for as long as the page lives.
    pub(super) fn follow_earlier(&'static self) {
        let key = self.earlier.key().to_owned();
        local::listen(key, || self.withdraw_earlier()).forget();
    }

    /// Another tab shows the rows that an earlier version has left, or has let go of them.
    fn withdraw_earlier(&self) {
        if self.earlier.read().is_none() && self.put_aside.reason() == Some(ConflictReason::Earlier)
        {
            self.put_aside.set(None);
        }
    }

    /// A person has chosen these rows, or does not want them.
    pub(super) fn settle_earlier(&self, reason: ConflictReason) {
        if reason == ConflictReason::Earlier {
            self.earlier.take(self.earlier.read());
            if !self.writing.sync().is_unstored() {
                self.earlier.forget();
            }
        }
    }
}
