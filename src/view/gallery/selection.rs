use std::collections::HashSet;

use atelier_engine::{Action, Task, TaskKey};
use atelier_studio::gallery::{GalleryEntry, neighbor};
use atelier_studio::task::removal::{removal_label, selection_label};
use atelier_studio::text::plural::grouped;
use icondata_lu::{LuColumns2, LuDownload, LuEllipsis, LuHeart, LuLayoutGrid, LuTrash2, LuX};
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::add_to_batch::{self, FilledTable};
use super::pack::pack;
use super::{focus, selection_height, vary};
use crate::files::batch_archive;
use crate::reactive::boxed::{dynamic, effect, handler, memo, spawn, text, when};
use crate::state::contexts::{Contexts, contexts};
use crate::view::lightbox::shown;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::root_mark::RootMark;
use crate::view::task::removal_question::RemovalQuestion;

/// The element id of the group of buttons that is a menu on phones.
const MENU_ID: &str = "selection-rest";

/// The message if too few or too many outputs are selected for a comparison.
const COMPARE_HINT: &str = "Choose two to four";

/// The selected outputs, by name.
#[derive(Clone, Copy)]
pub struct Selection {
    found: Memo<Vec<GalleryEntry>>,
    chosen: RwSignal<HashSet<String>>,
    /// The output that was selected last, where a range selection starts.
    anchor: StoredValue<Option<String>>,
    /// The question before favorites are removed.
    question: RemovalQuestion,
}

impl Selection {
    /// Creates an empty selection. `found`: the outputs that are shown.
    pub fn new(found: Memo<Vec<GalleryEntry>>) -> Self {
        Self {
            found,
            chosen: RwSignal::new(HashSet::new()),
            anchor: StoredValue::new(None),
            question: RemovalQuestion::default(),
        }
    }

    /// Whether an output is selected; tracked.
    pub fn contains(self, name: &str) -> bool {
        self.chosen.read().contains(name)
    }

    /// Whether any output is selected; tracked.
    pub fn has_any(self) -> bool {
        !self.chosen.read().is_empty()
    }

    pub fn toggle(self, name: &str) {
        self.anchor.set_value(Some(name.to_owned()));
        self.chosen.update(|chosen| {
            if !chosen.remove(name) {
                chosen.insert(name.to_owned());
            }
        });
    }

    /// Selects the range from the last selected output to this one.
    pub fn extend_to(self, name: &str) {
        self.extend(name, name);
    }

    /// Selects the range from the last selected output, or else from `from`, to `to`.
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

    /// Returns all selected outputs, shown or not; not tracked.
    pub fn chosen(self) -> HashSet<String> {
        self.chosen.get_untracked()
    }

    /// Selects exactly these outputs.
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

    /// Selects all outputs that are shown.
    pub fn select_all(self) {
        let found = self.found.read_untracked();
        self.chosen
            .set(found.iter().map(GalleryEntry::name).collect());
    }

    /// Whether any output that is shown is selected; not tracked.
    pub fn is_active(self) -> bool {
        !untrack(|| self.entries()).is_empty()
    }

    /// Removes the selection or, if it is empty, the task of this output.
    pub fn remove_at(self, name: &str, all: Contexts) {
        if !self.is_active() {
            self.set(vec![name.to_owned()]);
        }
        self.remove(all);
    }

    /// Removes the tasks of the selected outputs that are shown. Asks first if there are favorites.
    pub fn remove(self, all: Contexts) {
        let entries = untrack(|| self.entries());
        let tasks = known_tasks(all, &entries);
        let removed = removal_label(&tasks, entries.len());
        if !self.question.asks(&tasks, &removed) {
            self.remove_all(all);
        }
    }

    fn question_view(self, all: Contexts) -> AnyView {
        self.question
            .view("Remove favorites", move || self.remove_all(all))
    }

    /// Removes the tasks, clears the selection and moves the focus to the next output.
    fn remove_all(self, all: Contexts) {
        let tasks = tasks_of(&untrack(|| self.entries()));
        let next = {
            let found = self.found.read_untracked();
            neighbor::after(&found, &tasks).map(GalleryEntry::name)
        };
        all.runner.act_on_all(&tasks, Action::Remove);
        self.clear();
        focus::restore(next);
    }

    /// Clears the selection. The focus stays on its tile, or moves to the last selected one.
    pub fn clear_and_focus(self) {
        let last = self.last();
        self.clear();
        if !focus::is_on_tile() {
            focus::restore(last);
        }
    }

    /// Returns the output that was selected last.
    pub fn last(self) -> Option<String> {
        self.anchor.get_value()
    }

    /// Returns the selected outputs that are shown: filters can hide some. Tracked.
    fn entries(self) -> Vec<GalleryEntry> {
        let chosen = self.chosen.read();
        if chosen.is_empty() {
            return Vec::new();
        }
        let is_chosen = |entry: &&GalleryEntry| chosen.contains(&entry.name());
        let found = self.found.read();
        found.iter().filter(is_chosen).cloned().collect()
    }
}

/// The bar with actions for the selected outputs.
#[component]
pub fn SelectionBar(selection: Selection) -> impl IntoView {
    let all = contexts();
    let entries = memo(move || selection.entries());
    let progress = RwSignal::new(None::<batch_archive::Progress>);
    let count = move || entries.read().len();
    let favorites = move || {
        let entries = entries.read();
        entries.iter().filter(|entry| entry.is_favorite).count()
    };
    let are_favorites = move || favorites() == count();
    let toggle_favorite = move |_| {
        let is_favorite = !untrack(are_favorites);
        for entry in entries.get_untracked() {
            all.runner.set_favorite(&entry.name(), is_favorite);
        }
    };
    let save = move |_| {
        progress.set(Some((0, count())));
        spawn(pack(all, entries.get_untracked(), progress));
    };
    let chosen_tasks = memo(move || known_tasks(all, &entries.read()));
    let filled = RwSignal::new(Vec::<FilledTable>::new());
    effect(move || {
        if entries.read().is_empty() {
            filled.set(Vec::new());
        }
    });
    let is_filling = RwSignal::new(false);
    let add_to_batch = move |_| {
        is_filling.set(true);
        spawn(add_to_batch::fill_tables(
            all,
            chosen_tasks.get_untracked(),
            is_filling,
            filled,
        ));
    };
    // A task is removed with all its outputs, including those that a filter hides.
    let removed = memo(move || removal_label(&*chosen_tasks.read(), entries.read().len()));
    let outputs_removed = memo(move || {
        let tasks = chosen_tasks.read();
        tasks.iter().map(|task| task.outputs().len()).sum::<usize>()
    });
    let removed_count = text(move || outputs_removed.get().to_string());
    let removes_more = when(move || outputs_removed.get() > count());
    let can_compare = when(move || (2..=shown::MAX_COMPARED).contains(&count()));
    let compare = move |_| {
        if !untrack(|| can_compare.get()) {
            // Touch screens show no tooltips.
            return all.notices.say(format!("{COMPARE_HINT}."));
        }
        let names: Vec<String> = entries
            .read_untracked()
            .iter()
            .map(GalleryEntry::name)
            .collect();
        shown::compare(all.navigation, &names);
    };
    let is_busy = when(move || progress.read().is_some());
    let bar = NodeRef::new();
    selection_height::follow(bar);
    let varying = vary::Varying::new(chosen_tasks);
    // The buttons are built with the first selection, because they are a fifth of the page's elements.
    let has_any = memo(move || count() > 0);
    // Closes the menu after a press, because it would cover the result.
    let close = |click: web_sys::MouseEvent| {
        let pressed = click
            .target()
            .and_then(|it| it.dyn_into::<web_sys::Element>().ok());
        let is_button = pressed.is_some_and(|it| it.closest("button").is_ok_and(|it| it.is_some()));
        let menu = click
            .current_target()
            .and_then(|it| it.dyn_into::<web_sys::HtmlElement>().ok());
        if let (true, Some(menu)) = (is_button, menu) {
            // An error means that the menu is not open: large screens always show its buttons.
            let _ = menu.hide_popover();
        }
    };
    let buttons = move || {
        if !has_any.get() {
            return ().into_any();
        }
        let (vary, ask_before_many) = vary::vary(varying);
        view! {
            // For phones, where this text does not fit into the button.
            <p class="selection-whole" aria-hidden="true" hidden=when(move || !removes_more.get()) prop:textContent=text(move || format!("Remove takes {}", removed.get()))></p>
            <button class="button" type="button" on:click=handler(toggle_favorite)>
                <Glyph icon=LuHeart />
                <span prop:textContent=text(move || match are_favorites() {
                    true => "Not favorite".to_owned(),
                    false => "Favorite".to_owned(),
                })></span>
            </button>
            // A menu on phones, where the buttons don't fit in a row.
            <div class="menu selection-rest" id=MENU_ID popover="auto" on:click=handler(close)>
                <button
                    class="button"
                    type="button"
                    aria-disabled=text(move || (!can_compare.get()).to_string())
                    title=text(move || match can_compare.get() {
                        true => "Side by side".to_owned(),
                        false => COMPARE_HINT.to_owned(),
                    })
                    on:click=handler(compare)
                >
                    <Glyph icon=LuColumns2 />
                    "Compare"
                </button>
                {vary}
                <button
                    class="button"
                    type="button"
                    prop:disabled=is_filling
                    title="Adds rows with new seeds to the batch table"
                    on:click=handler(add_to_batch)
                >
                    <Glyph icon=LuLayoutGrid />
                    <span>
                        <span class="selection-more">"Add to "</span>
                        "batch"
                    </span>
                </button>
            </div>
            {ask_before_many}
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
                <span>"Remove "<span class="selection-more" prop:textContent=text(move || removed.get())></span></span>
                // On phones, the button shows only the number of outputs.
                <span class="selection-count" aria-hidden="true" prop:textContent=removed_count></span>
            </button>
            <button class="button selection-menu" type="button" popovertarget=MENU_ID>
                <Glyph icon=LuEllipsis />
                "More"
            </button>
            <button
                class="button quiet"
                type="button"
                on:click=handler(move |_| selection.clear_and_focus())
            >
                <Glyph icon=LuX />
                <span class="selection-more">"Select none"</span>
            </button>
        }
        .into_any()
    };
    let buttons = dynamic(buttons);
    RootMark::Selection.follow(when(move || count() > 0));
    view! {
        <section class="selection" aria-label="Selection" node_ref=bar hidden=when(move || count() == 0)>
            <div class="filled" role="status">
                {dynamic(move || add_to_batch::filled_tables(filled.get()))}
            </div>
            <p role="status" class:packing=is_busy>
                <span class="selection-more" hidden=when(move || !is_busy.get())>"Packing "</span>
                <span prop:textContent=text(move || match progress.get() {
                    Some((done, total)) => format!("{} of {}", grouped(done), grouped(total)),
                    None => grouped(count()),
                })></span>
                <span class="selection-more" hidden=is_busy prop:textContent=text(move || selection_label(favorites()))></span>
            </p>
            {buttons}
        </section>
        {selection.question_view(all)}
    }
}

/// Returns the tasks of the outputs without duplicates, in the same order.
fn tasks_of(entries: &[GalleryEntry]) -> Vec<TaskKey> {
    let mut tasks: Vec<TaskKey> = Vec::new();
    for entry in entries {
        // The outputs of a task are consecutive.
        if tasks.last() != Some(&entry.task) {
            tasks.push(entry.task.clone());
        }
    }
    tasks
}

/// Returns the tasks of the outputs, without tasks that no longer exist.
fn known_tasks(all: Contexts, entries: &[GalleryEntry]) -> Vec<Task> {
    let tasks = tasks_of(entries).into_iter();
    let tasks = tasks.filter_map(|key| Some(all.runner.task(&key)?.get_untracked()));
    tasks.collect()
}
