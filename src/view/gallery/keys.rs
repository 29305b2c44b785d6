//! Keys of the gallery: arrows, Home and End lead from tile to tile, Space or `x` selects, Ctrl+A selects all, Delete
//! removes what is selected or else what has the focus, Escape selects nothing; `f` makes a favorite, `d` downloads.

use atelier_studio::gallery::layout::Direction;
use gloo_events::{EventListener, EventListenerOptions};
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, KeyboardEvent};

use super::laid::Laid;
use super::selection::Selection;
use super::tile_tools;
use crate::state::contexts::{Contexts, contexts};

/// Where a person is who presses a key.
enum Place {
    /// On a tile: on the output of this name.
    Tile(String),
    /// In the gallery, on none of its tiles.
    List,
    /// What had the focus is gone, or never was.
    Nowhere,
    Bar,
}

/// What the keys work on.
#[derive(Clone, Copy)]
struct Keys {
    all: Contexts,
    gallery: NodeRef<Div>,
    laid: Laid,
    selection: Selection,
}

/// On the document: what is drawn with the mouse gives the focus to nothing.
pub fn follow(gallery: NodeRef<Div>, laid: Laid, selection: Selection) {
    let keys = Keys {
        all: contexts(),
        gallery,
        laid,
        selection,
    };
    let may_prevent = EventListenerOptions::enable_prevent_default();
    let listener =
        EventListener::new_with_options(&document(), "keydown", may_prevent, move |event| {
            let event = event.dyn_ref::<KeyboardEvent>();
            if let Some(event) = event.filter(|event| !event.default_prevented()) {
                keys.press(event);
            }
        });
    // Some browsers press a button as Space is let go, whatever became of the key before.
    let on_release =
        EventListener::new_with_options(&document(), "keyup", may_prevent, move |event| {
            let key = event.dyn_ref::<KeyboardEvent>().map(KeyboardEvent::key);
            let is_tiles = matches!(place(), Some(Place::Tile(_))) && !is_on_control();
            if key.as_deref() == Some(" ") && is_tiles {
                event.prevent_default();
            }
        });
    StoredValue::new_local((listener, on_release));
}

/// None where the key belongs to something else.
fn place() -> Option<Place> {
    let is_covered = document().query_selector("dialog[open]");
    if is_covered.is_ok_and(|dialog| dialog.is_some()) {
        return None;
    }
    let Some(focused) = document().active_element() else {
        return Some(Place::Nowhere);
    };
    let is_in = |selector: &str| focused.closest(selector).is_ok_and(|it| it.is_some());
    if focused.tag_name() == "BODY" {
        Some(Place::Nowhere)
    } else if is_in(".gallery") {
        Some(output_of(&focused).map_or(Place::List, Place::Tile))
    } else if is_in(".selection") {
        Some(Place::Bar)
    } else {
        None
    }
}

/// Whether a control of a tile has the focus that Space is to press itself, as the heart.
fn is_on_control() -> bool {
    let focused = document().active_element();
    let control = ".tile :is(button, input):not(.tile-open)";
    focused.is_some_and(|it| it.matches(control) == Ok(true))
}

fn has_open_menu() -> bool {
    let menu = document().query_selector(".menu:popover-open");
    menu.is_ok_and(|menu| menu.is_some())
}

fn output_of(focused: &Element) -> Option<String> {
    let tile = focused.closest(".tile").ok().flatten()?;
    let open = tile.query_selector("[data-output]").ok().flatten()?;
    open.get_attribute("data-output")
}

impl Keys {
    fn press(self, event: &KeyboardEvent) {
        let Some(place) = place() else {
            return;
        };
        let selection = self.selection;
        let has_command = event.ctrl_key() || event.meta_key();
        match (event.key().as_str(), &place) {
            ("a" | "A", _) if has_command && !event.shift_key() && !event.alt_key() => {
                selection.all();
            }
            _ if has_command || event.alt_key() => return,
            // It closes that.
            ("Escape", _) if has_open_menu() => return,
            ("Escape", _) if selection.is_active() => selection.leave(),
            ("Delete", _) if selection.is_active() => selection.remove(self.all),
            // Held down, it is one press all the same.
            ("Delete", Place::Tile(_)) if event.repeat() => {}
            ("Delete", Place::Tile(name)) => selection.remove_at(name, self.all),
            (" ", Place::Tile(_)) if is_on_control() => return,
            (" " | "x" | "X", Place::Tile(_)) if event.repeat() => {}
            (" " | "x" | "X", Place::Tile(name)) => selection.toggle(name),
            (_, Place::Tile(_)) if tile_tools::press_tool(event) => {}
            (key, Place::Tile(_) | Place::List) => {
                let Some(goal) = self.goal(key, &place) else {
                    return;
                };
                self.go(goal, &place, event.shift_key());
            }
            _ => return,
        }
        event.prevent_default();
    }

    /// The output that a key leads to. Where no tile has the focus, from what was chosen last, or to the
    /// first one.
    fn goal(self, key: &str, place: &Place) -> Option<usize> {
        let direction = match key {
            "Home" | "End" => None,
            arrow => Some(Direction::of_key(arrow)?),
        };
        let count = self.laid.found.read_untracked().len();
        let Some(direction) = direction else {
            let goal = if key == "Home" {
                0
            } else {
                count.checked_sub(1)?
            };
            return (goal < count).then_some(goal);
        };
        let from = match place {
            Place::Tile(name) => Some(name.clone()),
            _ => self.selection.last(),
        };
        let Some(at) = from.and_then(|name| self.laid.at(&name)) else {
            return (count > 0).then_some(0);
        };
        // At an end it stays: the page is not to scroll away under it.
        let layout = self.laid.layout.read_untracked();
        Some(layout.neighbor(at, direction).unwrap_or(at))
    }

    fn go(self, goal: usize, place: &Place, extends: bool) {
        let Some(name) = self.laid.name(goal) else {
            return;
        };
        if let (true, Place::Tile(from)) = (extends, place) {
            self.selection.extend(from, &name);
        }
        self.laid.focus(self.gallery, goal, name);
    }
}
