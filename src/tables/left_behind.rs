//! What was typed right before a page is closed: see [`LeftBehind`].

use atelier_engine::compose::left_behind::LeftBehind;
use atelier_engine::compose::revision::Stored;
use leptos::prelude::*;

use super::KeptTable;
use crate::browser::local::LocalStore;

impl KeptTable {
    fn left_place(&self) -> String {
        format!("atelier.table-left.{}", self.model)
    }

    pub(super) fn leave_behind(&self, table: &str) {
        let text = LeftBehind::new(self.wanted(), table.to_owned()).to_text();
        // Refused, it is in the database's hands alone.
        if LocalStore::Browser.write(&self.left_place(), &text) {
            self.left_behind.replace(Some(text));
        }
    }

    /// It is not needed where it was stored after all.
    pub(super) fn settle_left_behind(&self, stored: &Stored) {
        let text = LocalStore::Browser.read(&self.left_place());
        let left = text.as_deref().and_then(LeftBehind::read);
        if left.is_some_and(|left| left.base_beside(Some(stored)).is_none()) {
            self.left_behind.replace(text);
            self.forget_left_behind();
        }
    }

    /// What a page of before has left behind and could not store is the table, and stored now.
    pub(super) fn take_up_left_behind(&'static self, stored: Option<&Stored>) {
        let Some(text) = LocalStore::Browser.read(&self.left_place()) else {
            return;
        };
        let left = LeftBehind::read(&text);
        self.left_behind.replace(Some(text));
        let found = left.and_then(|left| {
            let base = left.base_beside(stored)?;
            Some((base, left.edited(), self.parse(&left.table)?))
        });
        let Some((base, edited, table)) = found else {
            return self.forget_left_behind();
        };
        self.table.set(table);
        self.base.set(base);
        self.changes.set(self.changes.get() + 1);
        self.edited.set(edited);
        self.write_soon();
    }

    /// It is stored.
    pub(super) fn forget_left_behind(&self) {
        let place = self.left_place();
        // Another tab may have left something since.
        let known = self.left_behind.take();
        if known.is_some() && LocalStore::Browser.read(&place) == known {
            LocalStore::Browser.remove(&place);
        }
    }
}
