//! Keys of the gallery. Arrows, Home and End move between tiles; Space and `x` select; Ctrl+A selects all; Escape clears the
//! selection; Delete removes the selection or else the focused tile; `f` toggles a favorite; `d` downloads.

use atelier_studio::gallery::layout::Direction;
use gloo_events::{EventListener, EventListenerOptions};
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, KeyboardEvent};

use super::layout::GalleryLayout;
use super::selection::Selection;
use super::tile_tools;
use crate::state::contexts::{Contexts, contexts};
use crate::view::parts::dialog;

/// The place of the focus when a key is pressed.
enum Place {
    /// A tile, with the name of its output.
    Tile(String),
    /// The gallery outside its tiles.
    List,
    /// No element has the focus.
    Nowhere,
    /// The bar of the selection.
    Bar,
}

/// The data that the keys act on.
#[derive(Clone, Copy)]
struct Keys {
    all: Contexts,
    gallery: NodeRef<Div>,
    gallery_layout: GalleryLayout,
    selection: Selection,
}

/// Listens to keys on the document, because no element has the focus after a marquee was drawn.
pub fn follow(gallery: NodeRef<Div>, gallery_layout: GalleryLayout, selection: Selection) {
    let keys = Keys {
        all: contexts(),
        gallery,
        gallery_layout,
        selection,
    };
    let may_prevent = EventListenerOptions::enable_prevent_default();
    let listener =
        EventListener::new_with_options(&document(), "keydown", may_prevent, move |event| {
            let event = event.dyn_ref::<KeyboardEvent>();
            if let Some(event) = event.filter(|event| !event.default_prevented()) {
                keys.handle_key(event);
            }
        });
    // Some browsers click a button when Space is released, even if `keydown` was prevented.
    let on_release =
        EventListener::new_with_options(&document(), "keyup", may_prevent, move |event| {
            let key = event.dyn_ref::<KeyboardEvent>().map(KeyboardEvent::key);
            let is_on_tile = matches!(place(), Some(Place::Tile(_))) && !is_on_control();
            if key.as_deref() == Some(" ") && is_on_tile {
                event.prevent_default();
            }
        });
    StoredValue::new_local((listener, on_release));
}

/// Returns the place of the focus; `None` if a dialog or another part of the page handles keys.
fn place() -> Option<Place> {
    if dialog::is_any_open() {
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

/// Whether the focus is on a control of a tile, such as the favorite button, that Space should press.
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
    fn handle_key(self, event: &KeyboardEvent) {
        let Some(place) = place() else {
            return;
        };
        let selection = self.selection;
        let has_command = event.ctrl_key() || event.meta_key();
        match (event.key().as_str(), &place) {
            ("a" | "A", _) if has_command && !event.shift_key() && !event.alt_key() => {
                selection.select_all();
            }
            _ if has_command || event.alt_key() => return,
            // Escape closes the menu.
            ("Escape", _) if has_open_menu() => return,
            ("Escape", _) if selection.is_active() => selection.clear_and_focus(),
            ("Delete", _) if selection.is_active() => selection.remove(self.all),
            // A key that is held down counts once.
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
                self.move_to(goal, &place, event.shift_key());
            }
            _ => return,
        }
        event.prevent_default();
    }

    /// Returns the output that a key moves to. If no tile has the focus, starts at the last selected output, or moves to the
    /// first output.
    fn goal(self, key: &str, place: &Place) -> Option<usize> {
        let direction = match key {
            "Home" | "End" => None,
            arrow => Some(Direction::of_key(arrow)?),
        };
        let count = self.gallery_layout.found.read_untracked().len();
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
        let Some(at) = from.and_then(|name| self.gallery_layout.index_of(&name)) else {
            return (count > 0).then_some(0);
        };
        // At the end of the list the key is still handled, so that the page does not scroll.
        let layout = self.gallery_layout.layout.read_untracked();
        Some(layout.neighbor(at, direction).unwrap_or(at))
    }

    fn move_to(self, goal: usize, place: &Place, extends: bool) {
        let Some(name) = self.gallery_layout.name(goal) else {
            return;
        };
        if let (true, Place::Tile(from)) = (extends, place) {
            self.selection.extend(from, &name);
        }
        self.gallery_layout.focus(self.gallery, goal, name);
    }
}
