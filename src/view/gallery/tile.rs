use atelier_engine::batch::differences::names_among_siblings;
use atelier_engine::gallery::GalleryEntry;
use atelier_engine::output::OutputKind;
use atelier_engine::{Task, TaskState};
use icondata_lu::{LuDownload, LuFilm, LuHeart, LuMusic};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlInputElement;

use super::selection::Selection;
use crate::boxed::{dynamic, handler, memo, text, when};
use crate::contexts::contexts;
use crate::runner::Runner;
use crate::view::lightbox::shown;
use crate::view::parts::glyph::Glyph;
use crate::view::task::{output_recovery, small_output};

/// Where a tile lies, in px, and which of how many it is, from 0.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TileRect {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
    pub at: usize,
    pub total: usize,
}

/// One output: pressed it is shown large. As few elements as can be, since there are many.
pub fn tile(entry: &GalleryEntry, place: Memo<TileRect>, selection: Selection) -> AnyView {
    let all = contexts();
    let Some(task) = all.runner.task(&entry.task) else {
        return ().into_any();
    };
    let (position, kind) = (entry.position, entry.kind);
    let title = task.with_untracked(|task| match task.input.title() {
        "" => task.model_name.clone(),
        title => title.to_owned(),
    });
    let label = format!("{}: {title}", kind.label());
    // The service may have given a fresh address.
    let url = memo({
        let task = task.clone();
        move || match &task.read().state {
            TaskState::Ready { outputs, .. } => outputs.get(position).cloned(),
            _ => None,
        }
    });
    let is_favorite = memo({
        let task = task.clone();
        move || task.read().favorites.contains(&position)
    });
    let name = entry.name();
    let favorite = favorite_mark(is_favorite);
    let open = {
        let name = name.clone();
        move |event: web_sys::MouseEvent| {
            if event.shift_key() {
                selection.extend_to(&name);
            } else if event.ctrl_key()
                || event.meta_key()
                || (is_finger(&event) && selection.is_active())
            {
                selection.toggle(&name);
            } else {
                shown::open(all.navigation, &name);
            }
        }
    };
    let select = {
        let name = name.clone();
        move |event: web_sys::MouseEvent| {
            if event.shift_key() {
                selection.extend_to(&name);
                // The browser has turned the mark over.
                event_target::<HtmlInputElement>(&event)
                    .set_checked(untrack(|| selection.holds(&name)));
            } else {
                selection.toggle(&name);
            }
        }
    };
    let picture = {
        let name = name.clone();
        dynamic(move || match url.get() {
            Some(url) => small_output(name.clone(), url, kind),
            None => ().into_any(),
        })
    };
    let mark = kind_mark(kind, &title);
    // Under the pointer, or with the focus. A finger has them in the large view.
    let (is_pointed_at, has_focus) = (RwSignal::new(false), RwSignal::new(false));
    let is_near = memo(move || is_pointed_at.get() || has_focus.get());
    let near = {
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
    let point = move |event: web_sys::PointerEvent| {
        is_pointed_at.set(event.pointer_type() != "touch");
    };
    let px = move |of: fn(TileRect) -> f64| text(move || format!("{:.1}px", of(place.get())));
    view! {
        <li
            class="tile"
            data-kind=kind.word()
            style:left=px(|place| place.left)
            style:top=px(|place| place.top)
            style:width=px(|place| place.width)
            style:height=px(|place| place.height)
            aria-posinset=text(move || (place.get().at + 1).to_string())
            aria-setsize=text(move || place.get().total.to_string())
            on:pointerenter=handler(point)
            on:pointerleave=handler(move |_: web_sys::PointerEvent| is_pointed_at.set(false))
            on:focusin=handler(move |_: web_sys::FocusEvent| has_focus.set(true))
            on:focusout=handler(move |_: web_sys::FocusEvent| has_focus.set(false))
        >
            <button
                type="button"
                class="tile-open"
                data-output=name.clone()
                aria-label=label.clone()
                on:click=handler(open)
            >
                {picture}
                {mark}
                {favorite}
            </button>
            <input
                type="checkbox"
                class="tile-select"
                tabindex="-1"
                aria-label=format!("Select {label}")
                prop:checked=when(move || selection.holds(&name))
                on:click=handler(select)
            />
            {near}
        </li>
    }
    .into_any()
}

/// What is done with it most. The keyboard stays on the tile, and has a key for each: see [`super::keys`].
fn actions(name: &str, label: &str, is_favorite: Memo<bool>) -> AnyView {
    let all = contexts();
    let favor = {
        let name = name.to_owned();
        move |_| all.runner.set_favorite(&name, !is_favorite.get_untracked())
    };
    let busy = RwSignal::new(false);
    let shown = untrack(|| shown::shown_output(name));
    let save = move |_| {
        if let Some(shown) = shown.clone() {
            busy.set(true);
            output_recovery::save(all, shown, busy);
        }
    };
    // A press leaves the focus where it is.
    let stay = |event: web_sys::MouseEvent| event.prevent_default();
    view! {
        <div class="tile-actions" on:mousedown=handler(stay)>
            <button
                class="icon-button tile-favor"
                type="button"
                tabindex="-1"
                aria-label=format!("Favorite {label}")
                aria-pressed=text(move || is_favorite.get().to_string())
                title="Favorite (f)"
                on:click=handler(favor)
            >
                <Glyph icon=LuHeart />
            </button>
            <button
                class="icon-button tile-save"
                type="button"
                tabindex="-1"
                aria-label=format!("Download {label}")
                title="Download (d)"
                prop:disabled=busy
                on:click=handler(save)
            >
                <Glyph icon=LuDownload />
            </button>
        </div>
    }
    .into_any()
}

/// What it was made from, to be seen: the tile's name says it to everybody else.
/// What tells an item of a batch from others that have the same prompt.
fn among_siblings(runner: Runner, task: &ArcRwSignal<Task>) -> Option<String> {
    let task = task.read_untracked();
    let siblings = runner.keys_of_batch(&task.batch.as_ref()?.batch);
    runner.with_tasks_of(&siblings, |tasks| {
        names_among_siblings(tasks.iter().copied()).remove(&task.key)
    })
}

fn prompt(title: &str) -> AnyView {
    view! {
        <p class="tile-prompt" aria-hidden="true" dir="auto">
            <span>{title.to_owned()}</span>
        </p>
    }
    .into_any()
}

fn favorite_mark(is_favorite: Memo<bool>) -> AnyView {
    dynamic(move || match is_favorite.get() {
        true => view! {
            <span class="tile-favorite">
                <Glyph icon=LuHeart />
            </span>
        }
        .into_any(),
        false => ().into_any(),
    })
}

/// A still does not tell that it moves, nor a wave what sounds. Of a film the still says the rest.
fn kind_mark(kind: OutputKind, title: &str) -> Option<AnyView> {
    let (icon, words) = match kind {
        OutputKind::Video => (LuFilm, None),
        OutputKind::Audio => (LuMusic, Some(title.to_owned())),
        OutputKind::Image | OutputKind::Other => return None,
    };
    let mark = view! {
        <span class="tile-kind" aria-hidden="true">
            <Glyph icon />
            {words.map(|words| view! { <span>{words}</span> }.into_any())}
        </span>
    };
    Some(mark.into_any())
}

/// A finger has no Ctrl: while something is chosen, it chooses.
fn is_finger(event: &web_sys::MouseEvent) -> bool {
    let pointer = event.dyn_ref::<web_sys::PointerEvent>();
    match pointer.map(web_sys::PointerEvent::pointer_type) {
        Some(kind) if !kind.is_empty() => kind == "touch",
        // A key on the tile, or a browser that does not tell what has pressed.
        Some(_) => false,
        None => {
            let hovers = window().match_media("(hover: hover)");
            hovers.is_ok_and(|it| it.is_some_and(|it| !it.matches()))
        }
    }
}
