//! Short messages for the user. Screen readers announce them. They disappear after a while or when dismissed.

use leptos::prelude::*;

use crate::browser::clock;

/// How long a notice stays, in milliseconds.
const STAY_MS: u32 = 8_000;

#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    pub id: u64,
    pub text: String,
    /// The notice reports a problem, and stays until it is dismissed.
    pub is_problem: bool,
}

#[derive(Clone, Copy)]
pub struct Notices(RwSignal<Vec<Notice>>);

impl Notices {
    pub fn new() -> Self {
        Self(RwSignal::new(Vec::new()))
    }

    /// Returns the notices, oldest first; tracked.
    pub fn list(&self) -> Vec<Notice> {
        self.0.get()
    }

    /// Shows a notice for a while.
    pub fn say(&self, text: impl Into<String>) {
        let id = self.add(text.into(), false);
        let this = *self;
        gloo_timers::callback::Timeout::new(STAY_MS, move || this.dismiss(id)).forget();
    }

    /// Shows a notice about a problem until it is dismissed.
    pub fn problem(&self, text: impl Into<String>) {
        self.add(text.into(), true);
    }

    pub fn dismiss(&self, id: u64) {
        self.0
            .update(|notices| notices.retain(|notice| notice.id != id));
    }

    /// Removes a notice that no longer applies.
    pub fn withdraw(&self, text: &str) {
        self.0
            .update(|notices| notices.retain(|notice| notice.text != text));
    }

    fn add(&self, text: String, is_problem: bool) -> u64 {
        let mut id = clock::now();
        self.0.update(|notices| {
            // A notice with the same text is replaced.
            notices.retain(|notice| notice.text != text);
            id = notices.last().map_or(id, |last| id.max(last.id + 1));
            notices.push(Notice {
                id,
                text,
                is_problem,
            });
        });
        id
    }
}

impl Default for Notices {
    fn default() -> Self {
        Self::new()
    }
}
