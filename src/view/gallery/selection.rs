use std::collections::HashSet;

use atelier_engine::gallery::{GalleryEntry, beside};
use atelier_engine::plural::counted;
use atelier_engine::{Action, Task, TaskKey, said_of_removal};
use icondata_lu::{LuColumns2, LuDownload, LuHeart, LuShuffle, LuTrash2, LuX};
use leptos::prelude::*;

use super::focus;
use super::variations::{self, Filled};
use crate::archive;
use crate::boxed::{dynamic, effect, handler, memo, spawn, text, when};
use crate::browser::download;
use crate::contexts::{Contexts, contexts};
use crate::view::lightbox::shown;
use crate::view::parts::glyph::Glyph;

/// Why nothing is compared.
const CHOOSE: &str = "Choose two to four";

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

    /// All that is chosen, shown or not.
    pub fn chosen(self) -> HashSet<String> {
        self.chosen.get_untracked()
    }

    /// These alone.
    pub fn set(self, names: Vec<String>) {
        self.anchor.set_value(names.last().cloned());
        let names: HashSet<String> = names.into_iter().collect();
        if *self.chosen.read_untracked() != names {
            self.chosen.set(names);
        }
    }

    pub fn clear(self) {
        self.anchor.set_value(None);
        self.chosen.update(HashSet::clear);
    }

    /// Every output that is shown.
    pub fn all(self) {
        let found = self.found.read_untracked();
        self.chosen
            .set(found.iter().map(GalleryEntry::name).collect());
    }

    /// Whether any output that is shown is chosen.
    pub fn is_active(self) -> bool {
        !untrack(|| self.entries()).is_empty()
    }

    /// The tasks of what is chosen and shown go, and with them the selection; the focus goes on.
    pub fn remove(self, all: Contexts) {
        let tasks = tasks_of(&untrack(|| self.entries()));
        let next = {
            let found = self.found.read_untracked();
            beside::after(&found, &tasks).map(GalleryEntry::name)
        };
        all.runner.act_on_all(&tasks, Action::Remove);
        self.clear();
        focus::settle(next);
    }

    /// Nothing is chosen any more. The focus stays on its tile, or comes to one that was chosen.
    pub fn leave(self) {
        let last = self.last();
        self.clear();
        if !focus::is_on_tile() {
            focus::settle(last);
        }
    }

    /// What was chosen last.
    pub fn last(self) -> Option<String> {
        self.anchor.get_value()
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
    let filled = RwSignal::new(Vec::<Filled>::new());
    effect(move || {
        if entries.read().is_empty() {
            filled.set(Vec::new());
        }
    });
    let is_filling = RwSignal::new(false);
    let make_variations = move |_| {
        is_filling.set(true);
        let tasks = tasks_of(&entries.read_untracked());
        spawn(fill_tables(all, tasks, is_filling, filled));
    };
    // A task goes as a whole, with what of it a filter hides.
    let removed = memo(move || {
        let entries = entries.read();
        let tasks = tasks_of(&entries).into_iter();
        let tasks = tasks.filter_map(|key| Some(all.runner.task(&key)?.get_untracked()));
        said_of_removal(&tasks.collect::<Vec<_>>(), entries.len())
    });
    let takes_more = when(move || removed.read().contains(','));
    let can_compare = when(move || (2..=shown::MAX_COMPARED).contains(&count()));
    let compare = move |_| {
        if !untrack(|| can_compare.get()) {
            // A finger sees no titles.
            return all.notices.say(format!("{CHOOSE}."));
        }
        let names: Vec<String> = entries
            .read_untracked()
            .iter()
            .map(GalleryEntry::name)
            .collect();
        shown::compare(all.navigation, &names);
    };
    let is_busy = when(move || progress.read().is_some());
    view! {
        <section class="selection" aria-label="Selection" hidden=when(move || count() == 0)>
            <div class="filled" role="status">
                {dynamic(move || filled_tables(filled.get()))}
            </div>
            <p role="status">
                {text(move || match progress.get() {
                    Some((done, total)) => format!("Packing {done} of {total}"),
                    None => format!("{} selected", count()),
                })}
            </p>
            // On phones, where the button has no room for it.
            <p class="selection-whole" aria-hidden="true" hidden=when(move || !takes_more.get())>
                {text(move || format!("Remove takes {}", removed.get()))}
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
                aria-disabled=text(move || (!can_compare.get()).to_string())
                title=text(move || match can_compare.get() {
                    true => "Side by side".to_owned(),
                    false => CHOOSE.to_owned(),
                })
                on:click=handler(compare)
            >
                <Glyph icon=LuColumns2 />
                "Compare"
            </button>
            <button
                class="button"
                type="button"
                prop:disabled=is_filling
                title="Rows in the batch table, to be sent with other seeds"
                on:click=handler(make_variations)
            >
                <Glyph icon=LuShuffle />
                <span>
                    <span class="selection-more">"Make "</span>
                    "variations"
                </span>
            </button>
            <button class="button" type="button" prop:disabled=is_busy on:click=handler(save)>
                <Glyph icon=LuDownload />
                "Download"
            </button>
            <button
                class="button removes"
                type="button"
                on:click=handler(move |_| selection.remove(all))
            >
                <Glyph icon=LuTrash2 />
                <span>"Remove "<span class="selection-more">{text(move || removed.get())}</span></span>
            </button>
            <button
                class="button quiet"
                type="button"
                on:click=handler(move |_| selection.leave())
            >
                <Glyph icon=LuX />
                "Select none"
            </button>
        </section>
    }
}

/// Makes rows of these tasks, and goes to their table where that is one.
async fn fill_tables(
    all: Contexts,
    tasks: Vec<TaskKey>,
    is_filling: RwSignal<bool>,
    filled: RwSignal<Vec<Filled>>,
) {
    let tasks = tasks.into_iter();
    let tasks = tasks.filter_map(|key| Some(all.runner.task(&key)?.get_untracked()));
    let made = variations::fill(all, tasks.collect()).await;
    is_filling.try_set(false);
    // Whoever has gone on meanwhile is not called back.
    if filled.is_disposed() {
        return;
    }
    match made.as_slice() {
        [Filled { path, said: Ok(_) }] => all.navigation.go(path),
        _ => filled.set(made),
    }
}

/// Where the rows are, where that is more than one place or not as it was wanted.
fn filled_tables(filled: Vec<Filled>) -> AnyView {
    if filled.is_empty() {
        return ().into_any();
    }
    let tables = filled.into_iter().map(|Filled { path, said }| {
        let table = match said {
            Ok(said) => view! { <a href=path>{said}</a> }.into_any(),
            Err(said) => view! { <span class="problem">{said}</span> }.into_any(),
        };
        view! { <li>{table}</li> }.into_any()
    });
    view! {
        <p>"Nothing is sent yet. The rows are in the batch tables of:"</p>
        <ul>{tables.collect_view()}</ul>
    }
    .into_any()
}

/// Their tasks, each once, in their order.
fn tasks_of(entries: &[GalleryEntry]) -> Vec<TaskKey> {
    let mut tasks: Vec<TaskKey> = Vec::new();
    for entry in entries {
        // Those of a task come one after the other.
        if tasks.last() != Some(&entry.task) {
            tasks.push(entry.task.clone());
        }
    }
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
