//! Which outputs are to be kept as copies; [`super::output_cache`] makes them.

use atelier_engine::output_cache::place;
use leptos::prelude::*;

use super::tab_message::TabMessage;
use super::{Runner, output_cache};
use crate::browser::clock;

/// What is kept in mind of the copies to be made.
#[derive(Default)]
pub(super) struct CacheQueue {
    /// The names of outputs that a copy is wanted of; those of a whole task end in `/`.
    wanted: Vec<String>,
    is_busy: bool,
    /// Addresses that gave nothing: they are not asked again in this visit.
    pub in_vain: Vec<String>,
    /// Storage has refused a copy, and the person was told.
    pub is_refused: bool,
}

impl Runner {
    /// An output is before a person: its copy is not the next to go, and where there is none, one
    /// is made. To be called once a visit. An empty name asks for nothing but that what is above
    /// the limit goes.
    pub fn shown(&self, output: String) {
        self.tell(&TabMessage::Shown(output.clone()));
        self.keep(output);
    }

    /// An output is a favorite from now on, or no longer. A copy of a favorite is made whatever the settings
    /// say, and makes way for no other.
    pub fn set_favorite(&self, output: &str, is_favorite: bool) {
        let Some((key, position)) = place(output) else {
            return;
        };
        if !self.inner.with_value(|inner| inner.leading) {
            return self.tell(&TabMessage::Favorite(output.to_owned(), is_favorite));
        }
        self.with_engine(|engine| {
            engine.set_favorite(&key, position, is_favorite, clock::now());
        });
        if is_favorite {
            self.keep(output.to_owned());
        }
    }

    /// A follower keeps it in mind: it may be that no tab is leading yet.
    pub(super) fn keep(&self, output: String) {
        self.inner
            .update_value(|inner| inner.cache_queue.wanted.push(output));
        self.make_copies();
    }

    /// Has the copies made that are wanted, if this tab leads.
    pub(super) fn make_copies(&self) {
        let may_begin = self.inner.try_update_value(|inner| {
            inner.leading && !std::mem::replace(&mut inner.cache_queue.is_busy, true)
        });
        if may_begin == Some(true) {
            output_cache::make(*self);
        }
    }

    /// The next one that a copy is wanted of; without any, nobody is busy any more.
    pub(super) fn next_wanted(&self) -> Option<String> {
        let next = self.inner.try_update_value(|inner| {
            let cache_queue = &mut inner.cache_queue;
            cache_queue.is_busy = inner.leading && !cache_queue.wanted.is_empty();
            cache_queue.is_busy.then(|| cache_queue.wanted.remove(0))
        });
        next.flatten()
    }

    /// Follows copies that come or go.
    pub fn track_copies(&self) {
        self.copies_changed.track();
    }

    /// Says it here and in the other tabs; whoever shows copies looks again.
    pub(super) fn tell_of_copies(&self) {
        self.copies_changed.update(|changes| *changes += 1);
        self.tell(&TabMessage::Copies);
    }
}
