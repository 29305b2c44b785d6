//! The controls above a tile, and the handling of presses and keys on tiles. Used in the gallery and in batches.

use icondata_lu::{LuDownload, LuHeart};
use leptos::prelude::*;
use web_sys::{HtmlInputElement, KeyboardEvent, MouseEvent, PointerEvent};

use super::selection::Selection;
use crate::reactive::boxed::{dynamic, handler, memo, text, when};
use crate::state::contexts::contexts;
use crate::view::lightbox::shown;
use crate::view::parts::click::click;
use crate::view::parts::glyph::Glyph;
use crate::view::task::output_recovery;

/// Tracks whether the pointer or the focus is on a tile. Fingers are ignored: on touch screens, the large view has the actions.
#[derive(Clone, Copy)]
pub struct TileHover {
    is_hovered: RwSignal<bool>,
    has_focus: RwSignal<bool>,
    pub is_active: Memo<bool>,
}

impl TileHover {
    pub fn inactive() -> Self {
        let (is_hovered, has_focus) = (RwSignal::new(false), RwSignal::new(false));
        Self {
            is_hovered,
            has_focus,
            is_active: memo(move || is_hovered.get() || has_focus.get()),
        }
    }

    pub fn enter(self, event: &PointerEvent) {
        self.is_hovered.set(event.pointer_type() != "touch");
    }

    pub fn leave(self) {
        self.is_hovered.set(false);
    }

    pub fn set_focus(self, has_focus: bool) {
        self.has_focus.set(has_focus);
    }

    /// The checkbox that selects the tile. Shown on hover or focus, on all tiles while any is selected, and always if
    /// `is_touched`: with a coarse pointer, which can't hover.
    pub fn selection_mark(
        self,
        name: &str,
        label: &str,
        selection: Selection,
        is_touched: bool,
    ) -> AnyView {
        let (name, label) = (name.to_owned(), label.to_owned());
        let is_selectable = memo(move || is_touched || self.is_active.get() || selection.has_any());
        dynamic(move || match is_selectable.get() {
            true => checkbox(&name, &label, selection),
            false => ().into_any(),
        })
    }
}

/// Handles a click on a tile: opens the large view. While outputs are selected, a pointer click toggles the selection, and
/// Enter still opens.
pub fn handle_click(event: &MouseEvent, name: &str, selection: Selection) {
    let is_pointer = event.detail() > 0;
    let has_command = event.ctrl_key() || event.meta_key();
    if event.shift_key() {
        selection.extend_to(name);
    } else if has_command || (is_pointer && selection.is_active()) {
        selection.toggle(name);
    } else {
        shown::open(contexts().navigation, name);
    }
}

/// Handles a key on a tile outside the gallery. Returns whether the key was handled.
pub fn handle_key(event: &KeyboardEvent, name: &str, selection: Selection) -> bool {
    if event.ctrl_key() || event.meta_key() || event.alt_key() {
        return false;
    }
    match event.key().as_str() {
        "Escape" if selection.is_active() => selection.clear_and_focus(),
        // A key that is held down counts once.
        "Delete" | "x" | "X" if event.repeat() => {}
        "Delete" => selection.remove_at(name, contexts()),
        "x" | "X" => selection.toggle(name),
        _ => return press_tool(event),
    }
    true
}

/// Presses the button of [`actions`] for a key, on the focused tile. Returns whether the key has one.
pub fn press_tool(event: &KeyboardEvent) -> bool {
    let tool = match event.key().as_str() {
        "f" | "F" => ".tile:focus-within .tile-favor",
        "d" | "D" => ".tile:focus-within .tile-save",
        _ => return false,
    };
    // A key that is held down counts once.
    if !event.repeat() {
        click(tool);
    }
    true
}

/// The most frequent actions. They are no tab stops: each has a key, see [`super::keys`] and [`handle_key`].
pub fn actions(name: &str, label: &str, is_favorite: Memo<bool>) -> AnyView {
    let all = contexts();
    let toggle_favorite = {
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
    // Prevents a press from moving the focus.
    let prevent_focus = |event: web_sys::MouseEvent| event.prevent_default();
    view! {
        <div class="tile-actions" on:mousedown=handler(prevent_focus)>
            <button
                class="icon-button tile-favor"
                type="button"
                tabindex="-1"
                aria-label=format!("Favorite {label}")
                aria-pressed=text(move || is_favorite.get().to_string())
                title="Favorite (f)"
                on:click=handler(toggle_favorite)
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

/// The checkbox that selects an output.
fn checkbox(name: &str, label: &str, selection: Selection) -> AnyView {
    let select = {
        let name = name.to_owned();
        move |event: web_sys::MouseEvent| {
            if event.shift_key() {
                selection.extend_to(&name);
                // The browser has toggled the checkbox, which may not match the selection.
                event_target::<HtmlInputElement>(&event)
                    .set_checked(untrack(|| selection.contains(&name)));
            } else {
                selection.toggle(&name);
            }
        }
    };
    let name = name.to_owned();
    view! {
        <input
            type="checkbox"
            class="tile-select"
            tabindex="-1"
            aria-label=format!("Select {label}")
            prop:checked=when(move || selection.contains(&name))
            on:click=handler(select)
        />
    }
    .into_any()
}
