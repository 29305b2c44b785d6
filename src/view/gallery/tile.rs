use atelier_contract::output::OutputKind;
use atelier_engine::Task;
use atelier_studio::batch::differences::names_among_siblings;
use atelier_studio::gallery::GalleryEntry;
use leptos::prelude::*;

use super::selection::Selection;
use super::tile_tools::{Near, actions, press};
use crate::reactive::boxed::{dynamic, handler, memo, text};
use crate::runner::Runner;
use crate::state::contexts::contexts;
use crate::view::task::{small_output, words};

/// Where a tile lies, in px.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TileRect {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

/// What all tiles share.
#[derive(Clone, Copy)]
pub struct Around {
    pub selection: Selection,
    /// The output whose tile had the focus last.
    pub focused: RwSignal<Option<String>>,
    /// The one that Tab leads to; arrows lead to the others.
    pub in_tab_order: Memo<Option<String>>,
    /// So many outputs there are.
    pub total: Memo<usize>,
    /// By fingers, which come near nothing before they touch it.
    pub is_touched: bool,
}

/// One output: pressed it is shown large. As few elements as can be, since there are many. `place`: which it is, from
/// 0, and where it lies.
pub fn tile(entry: &GalleryEntry, place: Memo<(usize, TileRect)>, around: Around) -> AnyView {
    let all = contexts();
    let selection = around.selection;
    let Some(task) = all.runner.task(&entry.task) else {
        return ().into_any();
    };
    let (position, kind) = (entry.position, entry.kind);
    let title = task.with_untracked(|task| match task.input.title() {
        "" => task.model_name.clone(),
        title => title.to_owned(),
    });
    let label = task.with_untracked(|task| words::output(task, kind));
    // The service may have given a fresh address.
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
        move |event: web_sys::MouseEvent| press(&event, &name, selection)
    };
    let picture = {
        let name = name.clone();
        dynamic(move || match url.get() {
            Some(url) => small_output(name.clone(), url, kind),
            None => ().into_any(),
        })
    };
    let mark = kind_mark(kind, &title);
    let near = Near::nowhere();
    let is_near = near.is_near;
    let mark_of_selection = near.selection_mark(&name, &label, selection, around.is_touched);
    let over = {
        let (name, label) = (name.clone(), label.clone());
        dynamic(move || match is_near.get() {
            true => {
                let said = untrack(|| among_siblings(all.runner, &task));
                let said = said.map_or_else(|| title.clone(), |own| format!("{own} · {title}"));
                view! { {actions(&name, &label, is_favorite)} {prompt(&said)} }.into_any()
            }
            false => ().into_any(),
        })
    };
    let px = move |of: fn(TileRect) -> f64| text(move || format!("{:.1}px", of(place.get().1)));
    let focus = {
        let name = name.clone();
        move |_: web_sys::FocusEvent| {
            near.set_focus(true);
            around.focused.set(Some(name.clone()));
        }
    };
    let tab_index = {
        let name = name.clone();
        text(
            move || match around.in_tab_order.read().as_ref() == Some(&name) {
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
            aria-setsize=text(move || around.total.get().to_string())
            on:pointerenter=handler(move |event| near.enter(&event))
            on:pointerleave=handler(move |_: web_sys::PointerEvent| near.leave())
            on:focusin=handler(focus)
            on:focusout=handler(move |_: web_sys::FocusEvent| near.set_focus(false))
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
            {mark_of_selection}
            {over}
        </li>
    }
    .into_any()
}

/// What tells an item of a batch from others that have the same prompt.
fn among_siblings(runner: Runner, task: &ArcRwSignal<Task>) -> Option<String> {
    let task = task.read_untracked();
    let siblings = runner.keys_of_batch(&task.batch.as_ref()?.batch);
    runner.with_tasks_of(&siblings, |tasks| {
        names_among_siblings(tasks.iter().copied()).remove(&task.key)
    })
}

/// What it was made from, to be seen: the tile's name says it to assistive technology.
fn prompt(title: &str) -> AnyView {
    view! {
        <p class="tile-prompt" translate="no" aria-hidden="true" dir="auto">
            <span>{title.to_owned()}</span>
        </p>
    }
    .into_any()
}

/// A wave does not tell what sounds. Of a film the still says it, and the style sheet that it is one.
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
