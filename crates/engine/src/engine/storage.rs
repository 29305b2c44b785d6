//! Decides whether to send tasks while storage does not work. A paid task that is not stored is lost when the page
//! closes.

use super::Engine;
use crate::Millis;

/// Whether records can be stored.
#[derive(Debug)]
pub(super) struct StorageHealth {
    works: bool,
    /// Whether storage has worked earlier in this visit, so that the user relies on it.
    had_worked: bool,
    /// Whether the user has agreed to send tasks while they can't be stored.
    is_accepted: bool,
}

impl Default for StorageHealth {
    fn default() -> Self {
        Self {
            works: true,
            had_worked: false,
            is_accepted: false,
        }
    }
}

impl Engine {
    /// Sets whether storage works, and whether it has worked earlier in this visit. If storage stops working, nothing
    /// is submitted until the user agrees, once per visit. If it never worked, no consent is needed, because the page
    /// has shown that from the start.
    pub fn set_storage_works(&mut self, works: bool, had_worked: bool, now: Millis) {
        self.advance(now);
        let asked = self.needs_storage_consent();
        self.storage.works = works;
        self.storage.had_worked = had_worked;
        if asked && !self.needs_storage_consent() {
            self.restart_waits(now);
        }
    }

    /// Sends tasks although they can't be stored, at the user's request.
    pub fn accept_without_storage(&mut self, now: Millis) {
        self.advance(now);
        let asked = self.needs_storage_consent();
        self.storage.is_accepted = true;
        if asked {
            self.restart_waits(now);
        }
    }

    /// Whether submissions wait for the user's consent.
    pub fn needs_storage_consent(&self) -> bool {
        !self.storage.works && self.storage.had_worked && !self.storage.is_accepted
    }
}
