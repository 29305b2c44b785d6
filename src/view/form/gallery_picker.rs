//! The dialog in which the value of a media field is chosen from all outputs of this browser. Renders only the outputs near
//! its visible part, so that there can be thousands.

use std::sync::Arc;

use atelier_contract::Media;
use atelier_studio::form::{media_list, reuse};
use atelier_studio::gallery::picker::{self, PickerGrid};
use atelier_studio::gallery::{GalleryEntry, GalleryFilter};
use atelier_studio::list::window::Stack;
use atelier_studio::navigation::search::Query;
use atelier_studio::text::plural::{counted, counted_many};
use icondata_lu::{LuCheck, LuImages, LuSearch};
use leptos::html::{Dialog, Div, Ul};
use leptos::prelude::*;
use web_sys::{KeyboardEvent, MouseEvent};

use super::media_list::ListField;
use super::output_input::Output;
use super::own_file::MediaField;
use crate::browser::{clock, dates};
use crate::reactive::boxed::{dynamic, handler, memo, text, when};
use crate::runner::Runner;
use crate::state::contexts::contexts;
use crate::state::gallery::Gallery;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::list::{Item, list};
use crate::view::parts::px::px;
use crate::view::parts::viewport;
use crate::view::parts::{dialog, focus};
use crate::view::task::{small_output, words};

thread_local! {
    /// The field that the dialog is open for.
    static FIELD: ArcRwSignal<Option<MediaField>> = ArcRwSignal::new(None);
}

fn open_field() -> ArcRwSignal<Option<MediaField>> {
    FIELD.with(Clone::clone)
}

/// Returns whether the dialog is open; tracked.
pub fn is_open() -> bool {
    open_field().read().is_some()
}

/// Closes the dialog.
pub fn close() {
    open_field().set(None);
}

/// The button that opens the dialog for a field. `is_disabled`: whether nothing can be added.
pub fn button(of: MediaField, is_disabled: Signal<bool>) -> AnyView {
    let open = move |_: MouseEvent| open_field().set(Some(of.clone()));
    view! {
        <button
            class="button small from-gallery"
            type="button"
            aria-label="From gallery"
            aria-haspopup="dialog"
            prop:disabled=is_disabled
            on:click=handler(open)
        >
            <Glyph icon=LuImages />
            <span>"From gallery"</span>
        </button>
    }
    .into_any()
}

#[component]
pub fn GalleryPicker() -> impl IntoView {
    let element = NodeRef::<Dialog>::new();
    let field = open_field();
    let is_open = when(is_open);
    dialog::follow(element, is_open);
    let contents = move || match field.get_untracked() {
        Some(of) => contents(of),
        None => ().into_any(),
    };
    view! {
        <dialog
            class="picker"
            node_ref=element
            aria-label="From gallery"
            closedby="any"
            on:click=handler(dialog::close_if_outside)
            on:close=dialog::closed(close)
        >
            {dialog::contents(is_open, contents)}
        </dialog>
    }
}

/// The state of the open dialog.
#[derive(Clone, Copy)]
struct Picker {
    field: StoredValue<MediaField>,
    found: Memo<Arc<Vec<GalleryEntry>>>,
    /// The index of the option that keys act on.
    active: RwSignal<usize>,
    /// The names of the chosen outputs, in the order in which they will be added.
    chosen: RwSignal<Vec<String>>,
    grid: Memo<PickerGrid>,
    scroller: NodeRef<Div>,
    options: NodeRef<Ul>,
    is_list: bool,
    runner: Runner,
}

fn contents(of: MediaField) -> AnyView {
    let runner = contexts().runner;
    let gallery = Gallery::new(runner);
    let (media, is_list) = (of.media, of.is_list());
    let kind = reuse::kind_of(media);
    let typed = RwSignal::new(String::new());
    let found = memo(move || {
        let filter = GalleryFilter {
            kind: Some(kind),
            query: Query::new(&typed.read()),
            ..GalleryFilter::default()
        };
        Arc::new(gallery.find(&filter))
    });
    let scroller = NodeRef::<Div>::new();
    let viewport = viewport::scrolled(scroller);
    let grid = memo(move || {
        let viewport = viewport.read();
        PickerGrid::new(viewport.width, viewport.rem)
    });
    let picker = Picker {
        field: StoredValue::new(of),
        found,
        active: RwSignal::new(0),
        chosen: RwSignal::new(Vec::new()),
        grid,
        scroller,
        options: NodeRef::new(),
        is_list,
        runner,
    };
    let search = move |event| {
        typed.set(event_target_value(&event));
        picker.active.set(0);
        if let Some(scroller) = scroller.get_untracked() {
            scroller.set_scroll_top(0);
        }
    };
    let search_key = move |event: KeyboardEvent| {
        if event.is_composing() {
            return;
        }
        match event.key().as_str() {
            "ArrowDown" => {
                if let Some(options) = picker.options.get_untracked() {
                    focus::in_place(&options);
                }
            }
            "Enter" => picker.choose(picker.active.get_untracked()),
            _ => return,
        }
        event.prevent_default();
    };
    let count = text(move || match (found.read().len(), typed.read().trim()) {
        (0, "") => format!(
            "No {} yet. Outputs of your tasks appear here.",
            plural(media)
        ),
        (0, query) => format!("No {} match “{query}”.", plural(media)),
        (count, _) => counted_many(count, singular(media)),
    });
    view! {
        <div class="picker-head">
            <div class="search">
                <Glyph icon=LuSearch />
                <input
                    type="search"
                    aria-label="Search outputs"
                    placeholder="Prompt or model"
                    autocomplete="off"
                    spellcheck="false"
                    autofocus
                    prop:value=typed
                    on:input=handler(search)
                    on:keydown=handler(search_key)
                />
            </div>
            {dialog::close_button(|| open_field().set(None), false)}
        </div>
        <p class="muted" role="status" translate="no" prop:textContent=count></p>
        <div class="picker-scroll" node_ref=scroller>
            {options(picker, viewport)}
        </div>
        {is_list.then(|| footer(picker))}
    }
    .into_any()
}

fn options(picker: Picker, viewport: RwSignal<viewport::Viewport>) -> AnyView {
    let (found, grid) = (picker.found, picker.grid);
    let range = memo(move || {
        let (grid, viewport) = (grid.get(), viewport.read());
        let count = found.read().len();
        let stack = Stack::uniform(count.div_ceil(grid.columns), grid.row());
        let rows = stack.near((viewport.from, viewport.to), 1);
        rows.start * grid.columns..(rows.end * grid.columns).min(count)
    });
    let rows = list(move || {
        let found = found.get();
        let shown = range
            .get()
            .filter_map(|at| Some((at, found.get(at)?.clone())));
        let option = |(at, entry): (usize, GalleryEntry)| {
            let key = format!("{at} {}", entry.name());
            Item::new(key, move || option(picker, at, &entry))
        };
        shown.map(option).collect()
    });
    let height = text(move || {
        let grid = grid.get();
        px(found.read().len().div_ceil(grid.columns) as f64 * grid.row())
    });
    view! {
        <ul
            node_ref=picker.options
            role="listbox"
            aria-label="Outputs"
            tabindex="0"
            aria-multiselectable=picker.is_list.to_string()
            aria-activedescendant=text(move || {
                let has_active = range.read().contains(&picker.active.get());
                match has_active {
                    true => option_id(picker.active.get()),
                    false => String::new(),
                }
            })
            style:height=height
            on:keydown=handler(move |event: KeyboardEvent| picker.press_key(&event))
        >
            {rows}
        </ul>
    }
    .into_any()
}

fn option_id(at: usize) -> String {
    format!("picker-option-{at}")
}

/// An output that can be chosen.
fn option(picker: Picker, at: usize, entry: &GalleryEntry) -> AnyView {
    let Some(task) = picker.runner.task(&entry.task) else {
        return ().into_any();
    };
    let (name, kind) = (entry.name(), entry.kind);
    let (caption, label, url) = task.with_untracked(|task| {
        let url = task.outputs().get(entry.position).cloned();
        let caption = match task.input.title() {
            "" => task.model_name.clone(),
            title => title.to_owned(),
        };
        let label = words::output(task, kind);
        let time = dates::time_with_seconds(task.created, clock::now());
        let label = picker::option_name(task, &label, entry.position, &time);
        (caption, label, url)
    });
    // The position among the chosen outputs, from 1.
    let order = {
        let name = name.clone();
        memo(move || {
            let chosen = picker.chosen.read();
            chosen.iter().position(|it| *it == name).map(|at| at + 1)
        })
    };
    let is_selected = move || match picker.is_list {
        true => order.read().is_some(),
        false => picker.active.get() == at,
    };
    let place = move |of: fn(PickerGrid, usize) -> f64| text(move || px(of(picker.grid.get(), at)));
    let choose = move |_: MouseEvent| {
        picker.active.set(at);
        picker.choose(at);
    };
    view! {
        <li
            role="option"
            id=option_id(at)
            class="picker-option"
            class:active=when(move || picker.active.get() == at)
            title=label.clone()
            aria-label=label
            aria-selected=text(move || is_selected().to_string())
            aria-posinset=(at + 1).to_string()
            aria-setsize=text(move || picker.found.read().len().to_string())
            style:left=place(|grid, at| grid.place(at).0)
            style:top=place(|grid, at| grid.place(at).1)
            style:width=place(|grid, _| grid.width)
            style:height=place(|grid, _| grid.height)
            on:click=handler(choose)
        >
            <span class="picker-picture" aria-hidden="true">
                {url.map(|url| small_output(name, url, kind))}
                {dynamic(move || match order.get() {
                    Some(order) => {
                        view! { <span class="picker-order" data-order=order.to_string()></span> }
                            .into_any()
                    }
                    None => ().into_any(),
                })}
            </span>
            <span class="picker-caption" aria-hidden="true" dir="auto" translate="no">
                {caption}
            </span>
        </li>
    }
    .into_any()
}

/// The number of chosen outputs, and the button that adds them to the list.
fn footer(picker: Picker) -> AnyView {
    let space = picker.field.with_value(|of| ListField::new(of).space());
    let message = text(move || match picker.chosen.read().len() {
        _ if space == 0 => media_list::FULL.to_owned(),
        count if count > space => format!("The list has space for {space} more."),
        count => format!("{count} chosen"),
    });
    let add = text(move || match picker.chosen.read().len().min(space) {
        0 => "Add".to_owned(),
        count => format!("Add {}", counted(count, "item")),
    });
    view! {
        <div class="picker-foot">
            <p class="muted" role="status" translate="no" prop:textContent=message></p>
            <button
                class="button primary"
                type="button"
                prop:disabled=when(move || picker.chosen.read().is_empty() || space == 0)
                on:click=handler(move |_: MouseEvent| picker.use_chosen())
            >
                <Glyph icon=LuCheck />
                <span prop:textContent=add></span>
            </button>
        </div>
    }
    .into_any()
}

impl Picker {
    /// Chooses an option: uses it, or adds it to the choice for a list or removes it from there.
    fn choose(self, at: usize) {
        let Some(name) = self.found.read_untracked().get(at).map(GalleryEntry::name) else {
            return;
        };
        self.chosen
            .update(|chosen| match chosen.iter().position(|it| *it == name) {
                Some(at) => drop(chosen.remove(at)),
                None => chosen.push(name),
            });
        if !self.is_list {
            self.use_chosen();
        }
    }

    /// Closes the dialog and gives the chosen outputs to the field.
    fn use_chosen(self) {
        let names = self.chosen.get_untracked();
        let output = |name: String| -> Option<Output> {
            let url = self.runner.address(&name)?;
            Some((name, url))
        };
        let outputs: Vec<Output> = names.into_iter().filter_map(output).collect();
        let of = self.field.get_value();
        open_field().set(None);
        of.use_outputs(outputs);
    }

    /// Handles a key on the list of options.
    fn press_key(self, event: &KeyboardEvent) {
        if event.ctrl_key() || event.meta_key() || event.alt_key() {
            return;
        }
        let key = event.key();
        let at = self.active.get_untracked();
        if matches!(key.as_str(), "Enter" | " ") {
            event.prevent_default();
            if !event.repeat() {
                self.choose(at);
            }
            return;
        }
        let Some(scroller) = self.scroller.get_untracked() else {
            return;
        };
        let (grid, count) = (self.grid.get_untracked(), self.found.read_untracked().len());
        let height = f64::from(scroller.client_height());
        let rows = (height / grid.row()).floor() as usize;
        let Some(to) = grid.after_key(&key, at, count, rows) else {
            return;
        };
        event.prevent_default();
        self.active.set(to);
        let (_, top) = grid.place(to);
        let from = f64::from(scroller.scroll_top());
        if top < from {
            scroller.set_scroll_top(top as i32);
        } else if top + grid.row() > from + height {
            scroller.set_scroll_top((top + grid.row() - height).ceil() as i32);
        }
    }
}

fn singular(media: Media) -> &'static str {
    match media {
        Media::Image => "picture",
        Media::Video => "video",
        Media::Audio => "sound",
    }
}

fn plural(media: Media) -> &'static str {
    match media {
        Media::Image => "pictures",
        Media::Video => "videos",
        Media::Audio => "sounds",
    }
}
