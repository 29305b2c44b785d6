use atelier_contract::output::OutputKind;
use atelier_engine::{BatchKey, TaskKey};
use atelier_studio::gallery::{GalleryEntry, GalleryFilter, Scope, neighbor};
use atelier_studio::history::lineage;
use atelier_studio::navigation::route::Route;
use atelier_studio::output::output_cache;
use leptos::prelude::*;

use super::shown::SHOWN;
use crate::reactive::boxed::memo;
use crate::state::batches::Batches;
use crate::state::contexts::contexts;
use crate::state::gallery::Gallery;
use crate::state::navigation::Navigation;
use crate::view::gallery::narrowing::UrlFilters;
use crate::view::model::mode::{Mode, mode};
use crate::view::parts::item_order;

/// An output that can be chosen for a comparison.
#[derive(Clone, PartialEq)]
pub struct Choice {
    pub name: String,
    /// Accessible name and tooltip.
    pub label: String,
    pub url: String,
    pub kind: OutputKind,
}

/// The outputs of the page below the lightbox, in the same order, and which one the lightbox shows.
#[derive(Clone, Copy)]
pub struct Sequence {
    navigation: Navigation,
    /// The name of the output in the lightbox; `None` while the dialog is closed.
    pub shown: Memo<Option<String>>,
    scope: Memo<Scope>,
    entries: Memo<Vec<GalleryEntry>>,
    index: Memo<Option<usize>>,
    /// The last known index of the shown output in `entries`. It stays when the output leaves `entries`, for example
    /// because it is no longer a favorite, so that the arrow keys continue from there.
    last: StoredValue<usize>,
}

/// Returns the batch of an output if the page below is its model's page in batch mode; tracked.
fn batch_below(output: &str, mode: Memo<Mode>) -> Option<BatchKey> {
    let all = contexts();
    let is_below = matches!(all.navigation.route(), Route::Model(_)) && mode.get() == Mode::Batch;
    let (task, _) = output_cache::parse_name(output).filter(|_| is_below)?;
    let task = all.runner.task(&task)?;
    let place = task.with_untracked(|task| task.batch.clone());
    place.map(|place| place.batch)
}

impl Sequence {
    pub fn of_address() -> Self {
        let all = contexts();
        let navigation = all.navigation;
        let shown = memo(move || navigation.query(SHOWN));
        let gallery = Gallery::new(all.runner);
        let narrowing = memo(move || UrlFilters::of(navigation));
        let mode = mode();
        let scope = memo(move || {
            let batch = shown.read().as_deref().and_then(|it| batch_below(it, mode));
            batch.map_or_else(|| Scope::of(&navigation.route()), Scope::Batch)
        });
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
            filter.scope = scope.get();
            let mut found = gallery.find(&filter);
            if let Scope::Batch(batch) = &filter.scope
                && let Some(order) = item_order::of(batch)
            {
                neighbor::sort_in_visual_order(&mut found, &order);
            }
            found
        });
        let last = StoredValue::new(0);
        let index = memo(move || {
            let shown = shown.read();
            let (task, position) = output_cache::parse_name(shown.as_deref()?)?;
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
            scope,
            entries,
            index,
            last,
        }
    }

    /// Returns the name of the output `step` positions after the shown one, if it exists; tracked.
    pub fn neighbor(self, step: isize) -> Option<String> {
        let at = match self.index.get() {
            Some(at) => at.checked_add_signed(step)?,
            None if step > 0 => self.last.get_value(),
            None => self.last.get_value().checked_sub(1)?,
        };
        self.entries.read().get(at).map(GalleryEntry::name)
    }

    /// Returns the name of the output that a new comparison with the shown one starts with, if any.
    pub fn companion(self) -> Option<String> {
        untrack(|| match self.index.get() {
            Some(at) => neighbor::companion(&self.entries.read(), at).map(GalleryEntry::name),
            None => self.neighbor(1).or_else(|| self.neighbor(-1)),
        })
    }

    /// Returns the outputs that can be compared with the shown one, related outputs first; tracked.
    pub fn choices(self) -> Vec<Choice> {
        let runner = contexts().runner;
        let shown = self.shown.get().unwrap_or_default();
        let parsed = output_cache::parse_name(&shown);
        let Some((task, position)) =
            parsed.and_then(|(key, position)| Some((runner.task(&key)?, position)))
        else {
            return Vec::new();
        };
        let entries = self.entries.read();
        let at = self.index.get().unwrap_or_else(|| self.last.get_value());
        let choices = task.with_untracked(|task| {
            let related = runner.with_tasks(|tasks| lineage::related_tasks(task, position, tasks));
            neighbor::choices(&entries, at, &shown, task, &related)
        });
        let choice = |other: usize| {
            let entry = entries.get(other)?;
            let task = runner.task(&entry.task)?;
            task.with_untracked(|task| {
                Some(Choice {
                    name: entry.name(),
                    label: neighbor::choice_label(other, entries.len(), task, entry.position),
                    url: task.outputs().get(entry.position)?.clone(),
                    kind: entry.kind,
                })
            })
        };
        choices.into_iter().filter_map(choice).collect()
    }

    /// Returns the name of the output to show after a task is removed, if any is left.
    pub fn output_after_removal(self, task: &TaskKey) -> Option<String> {
        untrack(|| {
            let next = neighbor::after(&self.entries.read(), std::slice::from_ref(task))
                .map(GalleryEntry::name);
            let is_listed = self.entries.read().iter().any(|entry| entry.task == *task);
            match is_listed {
                true => next,
                false => self.neighbor(1).or_else(|| self.neighbor(-1)),
            }
        })
    }

    /// Shows the output with this name.
    pub fn show(self, name: &str) {
        self.navigation.set_query(SHOWN, Some(name));
    }

    /// Shows the output `step` positions after the current one, if it exists.
    pub fn step(self, step: isize) {
        if let Some(name) = untrack(|| self.neighbor(step)) {
            self.show(&name);
        }
    }

    /// Returns a text such as `3 of 12`, or an empty text if the output isn't in the sequence; tracked.
    pub fn position_label(self) -> String {
        match self.index.get() {
            Some(at) => format!("{} of {}", at + 1, self.entries.read().len()),
            None => String::new(),
        }
    }

    /// Returns a label for the outputs that [`Self::position_label`] counts, for example those of a batch; tracked.
    pub fn scope_label(self) -> &'static str {
        if self.index.get().is_none() {
            return "";
        }
        let scope = self.scope.read();
        let is_varied = match &*scope {
            Scope::Batch(key) => {
                let batch = Batches::new(contexts()).find(key);
                batch.is_some_and(|batch| batch.varied.is_some())
            }
            _ => false,
        };
        scope.label(is_varied)
    }
}
