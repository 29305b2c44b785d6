//! Short messages for a person: said once, read out, gone after a while or when dismissed.

use leptos::prelude::*;

use crate::browser::clock;

/// How long a notice stays, in milliseconds.
const STAY_MS: u32 = 8_000;

#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    pub id: u64,
    pub text: String,
    /// Something went wrong: it stays until it is dismissed.
    pub is_problem: bool,
}

#[derive(Clone, Copy)]
pub struct Notices(RwSignal<Vec<Notice>>);

impl Notices {
    pub fn new() -> Self {
        Self(RwSignal::new(Vec::new()))
    }

    pub fn list(&self) -> Vec<Notice> {
        self.0.get()
    }

    pub fn say(&self, text: impl Into<String>) {
        let id = self.add(text.into(), false);
        let this = *self;
        gloo_timers::callback::Timeout::new(STAY_MS, move || this.dismiss(id)).forget();
    }

    pub fn problem(&self, text: impl Into<String>) {
        self.add(text.into(), true);
    }

    pub fn dismiss(&self, id: u64) {
        self.0
            .update(|notices| notices.retain(|notice| notice.id != id));
    }

    /// It is no longer so.
    pub fn withdraw(&self, text: &str) {
        self.0
            .update(|notices| notices.retain(|notice| notice.text != text));
    }

    fn add(&self, text: String, is_problem: bool) -> u64 {
        let mut id = clock::now();
        self.0.update(|notices| {
            // The same words twice are one notice.
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
