//! What holds the tab back that makes the calls, and why tasks are kept in memory alone: what stands
//! above every page, in every tab.

use atelier_engine::BlockReason;
use leptos::prelude::*;

use super::tab_message::TabMessage;
use super::tab_sync::TabSync;
use crate::browser::storage::StorageError;

#[derive(Clone, Copy)]
pub(super) struct Status {
    tabs: TabSync,
    block_reason: RwSignal<Option<BlockReason>>,
    storage_error: RwSignal<Option<StorageError>>,
    /// The same in the tab that leads, where this one follows.
    leader_storage_error: RwSignal<Option<StorageError>>,
}

impl Status {
    pub fn new(tabs: TabSync) -> Self {
        Self {
            tabs,
            block_reason: RwSignal::new(None),
            storage_error: RwSignal::new(None),
            leader_storage_error: RwSignal::new(None),
        }
    }

    pub fn block_reason(self) -> RwSignal<Option<BlockReason>> {
        self.block_reason
    }

    /// Why tasks are kept in memory alone, here or in the tab that makes the calls; tracked.
    pub fn storage_error(self) -> Option<StorageError> {
        let own = self.storage_error.get();
        own.or(self.leader_storage_error.get())
    }

    pub fn leader_cannot_write(self) -> bool {
        self.leader_storage_error.get_untracked().is_some()
    }

    /// Of the tab that leads; whether it is another one than before.
    pub fn set_block_reason(self, block_reason: Option<BlockReason>) -> bool {
        let is_other = *self.block_reason.read_untracked() != block_reason;
        if is_other {
            self.block_reason.set(block_reason);
        }
        is_other
    }

    pub fn set_storage_error(self, error: Option<StorageError>) {
        if self.storage_error.get_untracked() != error {
            self.storage_error.set(error);
            self.tell();
        }
    }

    /// This tab leads: no other one's storage matters.
    pub fn lead(self) {
        self.leader_storage_error.set(None);
        self.tell();
    }

    /// Tells the other tabs, if this one leads.
    pub fn tell(self) {
        if self.tabs.generation().is_some() {
            self.tabs.tell(&TabMessage::State(
                self.block_reason.get_untracked(),
                self.storage_error.get_untracked(),
            ));
        }
    }

    /// The leader has told.
    pub fn on_message(
        self,
        block_reason: Option<BlockReason>,
        storage_error: Option<StorageError>,
    ) {
        self.block_reason.set(block_reason);
        self.leader_storage_error.set(storage_error);
    }
}
