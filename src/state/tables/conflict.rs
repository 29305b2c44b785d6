//! The rows that are set aside: see [`Conflict`].

use std::cell::RefCell;

use atelier_studio::compose::table::Table;
use atelier_studio::compose::table::conflict::{Conflict, ConflictReason};
use leptos::prelude::*;

use super::ModelTable;

#[derive(Default)]
pub(super) struct SetAside {
    conflict: RefCell<Option<Conflict>>,
    message: ArcRwSignal<Option<String>>,
}

impl SetAside {
    pub(super) fn set(&self, conflict: Option<Conflict>) {
        self.message
            .set(conflict.as_ref().map(Conflict::user_message));
        self.conflict.replace(conflict);
    }

    /// Returns why rows are set aside, if there are any.
    pub(super) fn reason(&self) -> Option<ConflictReason> {
        self.conflict
            .borrow()
            .as_ref()
            .map(|conflict| conflict.reason)
    }
}

impl ModelTable {
    /// Returns a signal of the message about the rows that are set aside.
    pub fn conflict_message(&self) -> ArcRwSignal<Option<String>> {
        self.set_aside.message.clone()
    }

    /// Exchanges the rows that are set aside with the shown rows.
    pub fn swap(&'static self) {
        let Some(conflict) = self.set_aside.conflict.take() else {
            return;
        };
        let table = self.table.get_untracked();
        self.table.set(conflict.table);
        self.set_aside.set((!table.is_empty()).then_some(Conflict {
            table,
            reason: ConflictReason::Chosen,
        }));
        self.mark_changed();
        self.settle_earlier(conflict.reason);
    }

    /// Discards the rows that are set aside.
    pub fn discard_conflict(&self) {
        if let Some(conflict) = self.set_aside.conflict.take() {
            self.set_aside.set(None);
            self.settle_earlier(conflict.reason);
        }
    }

    /// Sets these rows aside, unless they equal the shown ones.
    pub(super) fn set_aside(&self, table: Table, reason: ConflictReason) {
        let conflict = Conflict::detect(&self.table.read_untracked(), table, reason);
        if conflict.is_some() {
            self.set_aside.set(conflict);
        }
    }
}
