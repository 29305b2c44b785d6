use std::collections::HashSet;

use atelier_engine::gallery::GalleryEntry;
use atelier_engine::plural::counted;
use atelier_engine::{Action, Task, TaskKey};
use icondata_lu::{LuColumns2, LuDownload, LuHeart, LuTrash2, LuX};
use leptos::prelude::*;

use crate::archive;
use crate::boxed::{handler, memo, spawn, text, when};
use crate::browser::download;
use crate::contexts::{Contexts, contexts};
use crate::view::lightbox::comparison;
use crate::view::parts::glyph::Glyph;

/// The outputs that a person has chosen, by name.
#[derive(Clone, Copy)]
pub struct Selection {
    found: Memo<Vec<GalleryEntry>>,
    chosen: RwSignal<HashSet<String>>,
    /// What was chosen last: Shift chooses from here.
    anchor: StoredValue<Option<String>>,
}

impl Selection {
    pub fn new(found: Memo<Vec<GalleryEntry>>) -> Self {
        Self {
            found,
            chosen: RwSignal::new(HashSet::new()),
            anchor: StoredValue::new(None),
        }
    }

    /// Tracked.
    pub fn holds(self, name: &str) -> bool {
        self.chosen.read().contains(name)
    }

    pub fn toggle(self, name: &str) {
        self.anchor.set_value(Some(name.to_owned()));
        self.chosen.update(|chosen| {
            if !chosen.remove(name) {
                chosen.insert(name.to_owned());
            }
        });
    }

    /// All from what was chosen last to this one.
    pub fn extend_to(self, name: &str) {
        self.extend(name, name);
    }

    /// All from what was chosen last, or else from this one, to another one.
    pub fn extend(self, from: &str, to: &str) {
        let found = self.found.read_untracked();
        let at = |name: &str| found.iter().position(|entry| entry.name() == name);
        let anchor = self.anchor.get_value().unwrap_or_else(|| from.to_owned());
        let Some(to) = at(to) else {
            return;
        };
        let from = at(&anchor).unwrap_or(to);
        let range = from.min(to)..=from.max(to);
        self.anchor.set_value(Some(anchor));
        self.chosen
            .update(|chosen| chosen.extend(found[range].iter().map(GalleryEntry::name)));
    }

    pub fn clear(self) {
        self.anchor.set_value(None);
        self.chosen.update(HashSet::clear);
    }

    /// What is chosen and shown: a filter takes the rest out. Tracked.
    fn entries(self) -> Vec<GalleryEntry> {
        let chosen = self.chosen.read();
        let found = self.found.read();
        let is_chosen = |entry: &&GalleryEntry| chosen.contains(&entry.name());
        match chosen.is_empty() {
            true => Vec::new(),
            false => found.iter().filter(is_chosen).cloned().collect(),
        }
    }
}

/// What can be done with all that is chosen.
#[component]
pub fn SelectionBar(selection: Selection) -> impl IntoView {
    let all = contexts();
    let entries = memo(move || selection.entries());
    let progress = RwSignal::new(None::<archive::Progress>);
    let count = move || entries.read().len();
    let are_favorites = move || entries.read().iter().all(|entry| entry.is_favorite);
    let favor = move |_| {
        let is_favorite = !untrack(are_favorites);
        for entry in entries.get_untracked() {
            all.runner.set_favorite(&entry.name(), is_favorite);
        }
    };
    let save = move |_| {
        progress.set(Some((0, count())));
        spawn(pack(all, entries.get_untracked(), progress));
    };
    let remove = move |_| {
        all.runner
            .act_on_all(&tasks_of(&entries.read_untracked()), Action::Remove);
        selection.clear();
    };
    let removed = move || {
        let tasks = counted(tasks_of(&entries.read()).len(), "task");
        format!("Remove {tasks}")
    };
    let compare = move |_| {
        let names = entries
            .read_untracked()
            .iter()
            .map(GalleryEntry::name)
            .collect();
        comparison::open(all.navigation, names);
    };
    let is_busy = when(move || progress.read().is_some());
    view! {
        <section class="selection" aria-label="Selection" hidden=when(move || count() == 0)>
            <p role="status">
                {text(move || match progress.get() {
                    Some((done, total)) => format!("Packing {done} of {total}"),
                    None => format!("{} selected", count()),
                })}
            </p>
            <button class="button" type="button" on:click=handler(favor)>
                <Glyph icon=LuHeart />
                {text(move || match are_favorites() {
                    true => "Not favorite".to_owned(),
                    false => "Favorite".to_owned(),
                })}
            </button>
            <button
                class="button"
                type="button"
                disabled=when(move || !(2..=4).contains(&count()))
                title="Two to four outputs side by side"
                on:click=handler(compare)
            >
                <Glyph icon=LuColumns2 />
                "Compare"
            </button>
            <button class="button" type="button" prop:disabled=is_busy on:click=handler(save)>
                <Glyph icon=LuDownload />
                "Download"
            </button>
            <button class="button" type="button" on:click=handler(remove)>
                <Glyph icon=LuTrash2 />
                {text(removed)}
            </button>
            <button
                class="button quiet"
                type="button"
                on:click=handler(move |_| selection.clear())
            >
                <Glyph icon=LuX />
                "Select none"
            </button>
        </section>
    }
}

/// Their tasks, each once.
fn tasks_of(entries: &[GalleryEntry]) -> Vec<TaskKey> {
    let mut tasks: Vec<TaskKey> = entries.iter().map(|entry| entry.task.clone()).collect();
    tasks.sort();
    tasks.dedup();
    tasks
}

/// Saves all of them as one file.
async fn pack(
    all: Contexts,
    entries: Vec<GalleryEntry>,
    progress: RwSignal<Option<archive::Progress>>,
) {
    const NAME: &str = "outputs.zip";
    let outputs: Vec<(Task, usize)> = entries
        .iter()
        .filter_map(|entry| {
            Some((
                all.runner.task(&entry.task)?.get_untracked(),
                entry.position,
            ))
        })
        .collect();
    let address = all.session.settings_untracked().address;
    let packed = archive::pack(all.runner, outputs, address.as_str(), |now| {
        progress.try_set(Some(now));
    });
    match packed.await {
        Ok((blob, missing)) => {
            download::blob(NAME, &blob);
            match missing {
                0 => all.notices.say(format!("{NAME} saved.")),
                n => all.notices.problem(format!(
                    "{NAME} saved, but {} could not be fetched.",
                    counted(n, "output")
                )),
            }
        }
        Err(sentence) => all.notices.problem(sentence),
    }
    progress.try_set(None);
}
