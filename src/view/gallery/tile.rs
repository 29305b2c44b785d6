use atelier_engine::TaskState;
use atelier_engine::gallery::GalleryEntry;
use atelier_engine::output::OutputKind;
use icondata_lu::{LuFilm, LuHeart, LuMusic};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlInputElement;

use super::selection::Selection;
use crate::boxed::{dynamic, handler, memo, text, when};
use crate::contexts::contexts;
use crate::view::lightbox::shown;
use crate::view::parts::glyph::Glyph;
use crate::view::task::small_output;

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
    let is_favorite = memo(move || task.read().favorites.contains(&position));
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
        >
            <button
                type="button"
                class="tile-open"
                data-output=name.clone()
                aria-label=label.clone()
                title=label.clone()
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
        </li>
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

/// A still does not tell that it moves, nor a wave what sounds.
fn kind_mark(kind: OutputKind, title: &str) -> Option<AnyView> {
    let icon = match kind {
        OutputKind::Video => LuFilm,
        OutputKind::Audio => LuMusic,
        OutputKind::Image | OutputKind::Other => return None,
    };
    let mark = view! {
        <span class="tile-kind" aria-hidden="true">
            <Glyph icon />
            <span>{title.to_owned()}</span>
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
