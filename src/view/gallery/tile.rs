use atelier_engine::TaskState;
use atelier_engine::gallery::GalleryEntry;
use icondata_lu::LuHeart;
use leptos::prelude::*;

use super::selection::Selection;
use crate::boxed::{handler, when};
use crate::contexts::contexts;
use crate::view::lightbox;
use crate::view::parts::glyph::Glyph;
use crate::view::task::small_output;

/// Where a tile lies, in px, and which of how many it is, from 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
    pub at: usize,
    pub total: usize,
}

/// One output: pressed it is shown large. As few elements as can be, since there are many.
pub fn tile(entry: &GalleryEntry, place: Place, selection: Selection) -> AnyView {
    let all = contexts();
    let Some(task) = all.runner.task(&entry.task) else {
        return ().into_any();
    };
    let Some((url, label)) = task.with_untracked(|task| {
        let TaskState::Ready { outputs, .. } = &task.state else {
            return None;
        };
        let url = outputs.get(entry.position)?.clone();
        let title = match task.input.title() {
            "" => &task.model_name,
            title => title,
        };
        Some((url, format!("{}: {title}", entry.kind.label())))
    }) else {
        return ().into_any();
    };
    let name = entry.name();
    let favorite = entry.is_favorite.then(|| {
        view! {
            <span class="tile-favorite">
                <Glyph icon=LuHeart />
            </span>
        }
        .into_any()
    });
    let open = {
        let name = name.clone();
        move |event: web_sys::MouseEvent| {
            if event.shift_key() {
                selection.extend_to(&name);
            } else if event.ctrl_key() || event.meta_key() {
                selection.toggle(&name);
            } else {
                lightbox::open(all.navigation, &name);
            }
        }
    };
    let select = {
        let name = name.clone();
        move |event: web_sys::MouseEvent| {
            if event.shift_key() {
                selection.extend_to(&name);
            } else {
                selection.toggle(&name);
            }
        }
    };
    let picture = small_output(name.clone(), url, entry.kind);
    view! {
        <li
            class="tile"
            data-kind=entry.kind.word()
            style:left=format!("{:.1}px", place.left)
            style:top=format!("{:.1}px", place.top)
            style:width=format!("{:.1}px", place.width)
            style:height=format!("{:.1}px", place.height)
            aria-posinset=(place.at + 1).to_string()
            aria-setsize=place.total.to_string()
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
