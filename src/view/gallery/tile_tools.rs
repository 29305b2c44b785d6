//! What lies over an output wherever many are shown, and what a press on it does.

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

/// Whether the pointer or the focus is on a tile. A finger has in the large view what is done with an output.
#[derive(Clone, Copy)]
pub struct Near {
    is_pointed_at: RwSignal<bool>,
    has_focus: RwSignal<bool>,
    pub is_near: Memo<bool>,
}

impl Near {
    pub fn nowhere() -> Self {
        let (is_pointed_at, has_focus) = (RwSignal::new(false), RwSignal::new(false));
        Self {
            is_pointed_at,
            has_focus,
            is_near: memo(move || is_pointed_at.get() || has_focus.get()),
        }
    }

    pub fn enter(self, event: &PointerEvent) {
        self.is_pointed_at.set(event.pointer_type() != "touch");
    }

    pub fn leave(self) {
        self.is_pointed_at.set(false);
    }

    pub fn set_focus(self, has_focus: bool) {
        self.has_focus.set(has_focus);
    }

    /// On each while one is selected, or a press would select what does not look selectable. `is_touched`: by fingers,
    /// which come near nothing before they touch it.
    pub fn selection_mark(
        self,
        name: &str,
        label: &str,
        selection: Selection,
        is_touched: bool,
    ) -> AnyView {
        let (name, label) = (name.to_owned(), label.to_owned());
        let is_selectable = memo(move || is_touched || self.is_near.get() || selection.holds_any());
        dynamic(move || match is_selectable.get() {
            true => mark(&name, &label, selection),
            false => ().into_any(),
        })
    }
}

/// It is shown large. While something is chosen, a press chooses; Enter, which is no press, opens.
pub fn press(event: &MouseEvent, name: &str, selection: Selection) {
    let is_press = event.detail() > 0;
    let has_command = event.ctrl_key() || event.meta_key();
    if event.shift_key() {
        selection.extend_to(name);
    } else if has_command || (is_press && selection.is_active()) {
        selection.toggle(name);
    } else {
        shown::open(contexts().navigation, name);
    }
}

/// A key on a tile that stands in no gallery; whether it was one of ours.
pub fn key(event: &KeyboardEvent, name: &str, selection: Selection) -> bool {
    if event.ctrl_key() || event.meta_key() || event.alt_key() {
        return false;
    }
    match event.key().as_str() {
        "Escape" if selection.is_active() => selection.leave(),
        // Held down, it is one press all the same.
        "Delete" | "x" | "X" if event.repeat() => {}
        "Delete" => selection.remove_at(name, contexts()),
        "x" | "X" => selection.toggle(name),
        _ => return press_tool(event),
    }
    true
}

/// Presses what [`actions`] has for a key, on the tile that has the focus; whether there is anything.
pub fn press_tool(event: &KeyboardEvent) -> bool {
    let tool = match event.key().as_str() {
        "f" | "F" => ".tile:focus-within .tile-favor",
        "d" | "D" => ".tile:focus-within .tile-save",
        _ => return false,
    };
    // Held down, it is one press all the same.
    if !event.repeat() {
        click(tool);
    }
    true
}

/// What is done with it most. The keyboard stays on the tile, and has a key for each: see [`super::keys`], and [`key`].
pub fn actions(name: &str, label: &str, is_favorite: Memo<bool>) -> AnyView {
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

/// Selects it, and says whether it is selected.
fn mark(name: &str, label: &str, selection: Selection) -> AnyView {
    let select = {
        let name = name.to_owned();
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
    let name = name.to_owned();
    view! {
        <input
            type="checkbox"
            class="tile-select"
            tabindex="-1"
            aria-label=format!("Select {label}")
            prop:checked=when(move || selection.holds(&name))
            on:click=handler(select)
        />
    }
    .into_any()
}
