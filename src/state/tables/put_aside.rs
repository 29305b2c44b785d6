//! The rows that were put aside: see [`Conflict`].

use std::cell::RefCell;

use atelier_studio::compose::table::Table;
use atelier_studio::compose::table::conflict::{Conflict, ConflictReason};
use leptos::prelude::*;

use super::KeptTable;

#[derive(Default)]
pub(super) struct PutAside {
    conflict: RefCell<Option<Conflict>>,
    message: ArcRwSignal<Option<String>>,
}

impl PutAside {
    pub(super) fn set(&self, conflict: Option<Conflict>) {
        self.message
            .set(conflict.as_ref().map(Conflict::user_message));
        self.conflict.replace(conflict);
    }

    /// Why rows are put aside, if there are any.
    pub(super) fn reason(&self) -> Option<ConflictReason> {
        self.conflict
            .borrow()
            .as_ref()
            .map(|conflict| conflict.reason)
    }
}

impl KeptTable {
    /// Gives the message about the rows that were put aside; the signal is not tracked.
    pub fn conflict_message(&self) -> ArcRwSignal<Option<String>> {
        self.put_aside.message.clone()
    }

    /// Shows the rows that were put aside; those that are shown are put aside instead.
    pub fn swap(&'static self) {
        let Some(conflict) = self.put_aside.conflict.take() else {
            return;
        };
        let table = self.table.get_untracked();
        self.table.set(conflict.table);
        self.put_aside.set((!table.is_empty()).then_some(Conflict {
            table,
            reason: ConflictReason::Chosen,
        }));
        self.mark_changed();
        self.settle_earlier(conflict.reason);
    }

    /// Forgets the rows that were put aside.
    pub fn let_go(&self) {
        if let Some(conflict) = self.put_aside.conflict.take() {
            self.put_aside.set(None);
            self.settle_earlier(conflict.reason);
        }
    }

    /// Puts these rows aside, unless they are those that are shown.
    pub(super) fn put_aside(&self, table: Table, reason: ConflictReason) {
        let conflict = Conflict::detect(&self.table.read_untracked(), table, reason);
        if conflict.is_some() {
            self.put_aside.set(conflict);
        }
    }
}
