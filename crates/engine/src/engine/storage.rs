//! Decides what is sent while tasks can't be kept: a task that costs money and is written nowhere is lost with the
//! page.

use super::Engine;
use crate::Millis;

#[derive(Debug)]
pub(super) struct StorageHealth {
    works: bool,
    /// It has worked in this visit: the person counts on it.
    had_worked: bool,
    /// The person wants tasks to be sent all the same.
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
    /// Whether records can be written, and whether they could be earlier in this visit. Where they
    /// could and no longer can, nothing is submitted until the person says so, once a visit; where
    /// they never could, the page has said so from the start.
    pub fn set_storage_works(&mut self, works: bool, had_worked: bool, now: Millis) {
        self.advance(now);
        let asked = self.asks_before_sending();
        self.storage.works = works;
        self.storage.had_worked = had_worked;
        if asked && !self.asks_before_sending() {
            self.restart_waits(now);
        }
    }

    /// The person wants tasks to be sent although they can't be kept.
    pub fn accept_without_storage(&mut self, now: Millis) {
        self.advance(now);
        let asked = self.asks_before_sending();
        self.storage.is_accepted = true;
        if asked {
            self.restart_waits(now);
        }
    }

    /// Submissions wait for the person's word.
    pub fn asks_before_sending(&self) -> bool {
        !self.storage.works && self.storage.had_worked && !self.storage.is_accepted
    }
}
