use atelier_contract::output::OutputKind;
use atelier_engine::Task;
use atelier_studio::batch::differences::distinguishing_names;
use atelier_studio::gallery::GalleryEntry;
use leptos::prelude::*;

use super::selection::Selection;
use super::tile_tools::{TileHover, actions, handle_click};
use crate::reactive::boxed::{dynamic, handler, memo, text};
use crate::runner::Runner;
use crate::state::contexts::contexts;
use crate::view::task::{small_output, words};

/// The place of a tile, in px.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TileRect {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

/// The data that all tiles share.
#[derive(Clone, Copy)]
pub struct TileContext {
    pub selection: Selection,
    /// The output whose tile had the focus last.
    pub focused: RwSignal<Option<String>>,
    /// The only output that is a tab stop. Arrow keys move to the others (roving tabindex).
    pub in_tab_order: Memo<Option<String>>,
    /// The number of outputs.
    pub total: Memo<usize>,
    /// Whether there is a coarse pointer, such as a finger, which can't hover.
    pub is_touched: bool,
}

/// The tile of an output; a press opens the large view. Has as few elements as possible, because there are many tiles. `place`:
/// the index of the output, from 0, and its place.
pub fn tile(entry: &GalleryEntry, place: Memo<(usize, TileRect)>, context: TileContext) -> AnyView {
    let all = contexts();
    let selection = context.selection;
    let Some(task) = all.runner.task(&entry.task) else {
        return ().into_any();
    };
    let (position, kind) = (entry.position, entry.kind);
    let title = task.with_untracked(|task| match task.input.title() {
        "" => task.model_name.clone(),
        title => title.to_owned(),
    });
    let label = task.with_untracked(|task| words::output(task, kind));
    // The address may change when the service returns a new one.
    let url = memo({
        let task = task.clone();
        move || task.read().outputs().get(position).cloned()
    });
    let is_favorite = memo({
        let task = task.clone();
        move || task.read().favorites.contains(&position)
    });
    let name = entry.name();
    let open = {
        let name = name.clone();
        move |event: web_sys::MouseEvent| handle_click(&event, &name, selection)
    };
    let picture = {
        let name = name.clone();
        dynamic(move || match url.get() {
            Some(url) => small_output(name.clone(), url, kind),
            None => ().into_any(),
        })
    };
    let mark = kind_mark(kind, &title);
    let hover = TileHover::inactive();
    let is_active = hover.is_active;
    let checkbox = hover.selection_mark(&name, &label, selection, context.is_touched);
    let overlay = {
        let (name, label) = (name.clone(), label.clone());
        dynamic(move || match is_active.get() {
            true => {
                let caption = untrack(|| name_in_batch(all.runner, &task));
                let caption =
                    caption.map_or_else(|| title.clone(), |own| format!("{own} · {title}"));
                view! { {actions(&name, &label, is_favorite)} {prompt(&caption)} }.into_any()
            }
            false => ().into_any(),
        })
    };
    let px = move |of: fn(TileRect) -> f64| text(move || format!("{:.1}px", of(place.get().1)));
    let focus = {
        let name = name.clone();
        move |_: web_sys::FocusEvent| {
            hover.set_focus(true);
            context.focused.set(Some(name.clone()));
        }
    };
    let tab_index = {
        let name = name.clone();
        text(
            move || match context.in_tab_order.read().as_ref() == Some(&name) {
                true => "0".to_owned(),
                false => "-1".to_owned(),
            },
        )
    };
    view! {
        <li
            class="tile"
            class:favorite=is_favorite
            data-kind=kind.word()
            style:left=px(|place| place.left)
            style:top=px(|place| place.top)
            style:width=px(|place| place.width)
            style:height=px(|place| place.height)
            aria-posinset=text(move || (place.get().0 + 1).to_string())
            aria-setsize=text(move || context.total.get().to_string())
            on:pointerenter=handler(move |event| hover.enter(&event))
            on:pointerleave=handler(move |_: web_sys::PointerEvent| hover.leave())
            on:focusin=handler(focus)
            on:focusout=handler(move |_: web_sys::FocusEvent| hover.set_focus(false))
        >
            <button
                type="button"
                class="tile-open"
                tabindex=tab_index
                data-output=name.clone()
                aria-label=label.clone()
                on:click=handler(open)
            >
                {picture}
                {mark}
            </button>
            {checkbox}
            {overlay}
        </li>
    }
    .into_any()
}

/// Returns a name that distinguishes an item of a batch from others with the same prompt.
fn name_in_batch(runner: Runner, task: &ArcRwSignal<Task>) -> Option<String> {
    let task = task.read_untracked();
    let siblings = runner.keys_of_batch(&task.batch.as_ref()?.batch);
    runner.with_tasks_of(&siblings, |tasks| {
        distinguishing_names(tasks.iter().copied()).remove(&task.key)
    })
}

/// The prompt of the output. Hidden from assistive technology, because the accessible name contains it.
fn prompt(title: &str) -> AnyView {
    view! {
        <p class="tile-prompt" translate="no" aria-hidden="true" dir="auto">
            <span>{title.to_owned()}</span>
        </p>
    }
    .into_any()
}

/// The title on an audio tile, because a waveform does not identify the sound. A video has a still frame, and the style sheet
/// marks it as a video.
fn kind_mark(kind: OutputKind, title: &str) -> Option<AnyView> {
    if kind != OutputKind::Audio {
        return None;
    }
    let mark = view! {
        <span class="tile-kind" translate="no" aria-hidden="true">
            {title.to_owned()}
        </span>
    };
    Some(mark.into_any())
}
