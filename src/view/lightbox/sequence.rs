use atelier_engine::TaskKey;
use atelier_engine::gallery::{GalleryEntry, GalleryFilter, Scope, beside};
use atelier_engine::output_cache;
use atelier_engine::route::Route;
use leptos::prelude::*;

use super::shown::SHOWN;
use crate::boxed::memo;
use crate::contexts::contexts;
use crate::gallery::Gallery;
use crate::navigation::Navigation;
use crate::view::gallery::narrowing::Narrowing;

/// The outputs that the page below shows, in its order, and which of them is large.
#[derive(Clone, Copy)]
pub struct Sequence {
    navigation: Navigation,
    /// The name of the one that is large; none while the dialog is closed.
    pub shown: Memo<Option<String>>,
    entries: Memo<Vec<GalleryEntry>>,
    at: Memo<Option<usize>>,
    /// Where the last one stood that belonged to the others. What does so no longer, such as a favorite
    /// that is none any more, keeps that place: arrows lead on from there.
    last: StoredValue<usize>,
}

impl Sequence {
    pub fn of_address() -> Self {
        let all = contexts();
        let navigation = all.navigation;
        let shown = memo(move || navigation.query(SHOWN));
        let gallery = Gallery::new(all.runner);
        let narrowing = memo(move || Narrowing::of(navigation));
        let entries = memo(move || {
            if shown.read().is_none() {
                return Vec::new();
            }
            let route = navigation.route();
            let narrowing = narrowing.read();
            let mut filter = match route {
                Route::Gallery => narrowing.filter(&narrowing.text),
                _ => GalleryFilter::default(),
            };
            filter.scope = Scope::of(&route);
            gallery.find(&filter)
        });
        let last = StoredValue::new(0);
        let at = memo(move || {
            let shown = shown.read();
            let (task, position) = output_cache::place(shown.as_deref()?)?;
            let entries = entries.read();
            let at = entries
                .iter()
                .position(|entry| entry.position == position && entry.task == task)?;
            last.set_value(at);
            Some(at)
        });
        Self {
            navigation,
            shown,
            entries,
            at,
            last,
        }
    }

    /// The name of the output so many steps further on, if there is one; tracked.
    pub fn neighbor(self, step: isize) -> Option<String> {
        let at = match self.at.get() {
            Some(at) => at.checked_add_signed(step)?,
            None if step > 0 => self.last.get_value(),
            None => self.last.get_value().checked_sub(1)?,
        };
        self.entries.read().get(at).map(GalleryEntry::name)
    }

    /// What the large one is compared with, if there is any.
    pub fn companion(self) -> Option<String> {
        untrack(|| match self.at.get() {
            Some(at) => beside::companion(&self.entries.read(), at).map(GalleryEntry::name),
            None => self.neighbor(1).or_else(|| self.neighbor(-1)),
        })
    }

    /// What is shown large once a task is gone, if anything is left.
    pub fn after(self, task: &TaskKey) -> Option<String> {
        untrack(|| {
            let after = beside::after(&self.entries.read(), std::slice::from_ref(task))
                .map(GalleryEntry::name);
            let is_listed = self.entries.read().iter().any(|entry| entry.task == *task);
            match is_listed {
                true => after,
                false => self.neighbor(1).or_else(|| self.neighbor(-1)),
            }
        })
    }

    /// Shows this one large.
    pub fn show(self, name: &str) {
        self.navigation.set_query(SHOWN, Some(name));
    }

    /// Shows that one large, if there is one.
    pub fn go(self, step: isize) {
        if let Some(name) = untrack(|| self.neighbor(step)) {
            self.show(&name);
        }
    }

    /// `3 of 12`, or nothing; tracked.
    pub fn place(self) -> String {
        match self.at.get() {
            Some(at) => format!("{} of {}", at + 1, self.entries.read().len()),
            None => String::new(),
        }
    }
}
