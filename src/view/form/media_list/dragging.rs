//! Moves an item of a list by dragging its handle, with a mouse, a pen or a finger. The item moves when it is dropped.

use atelier_studio::form::media_list::drop_place;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, PointerEvent};

use super::ListField;
use crate::view::form::field;

/// The item that is being dragged.
#[derive(Clone, Copy)]
pub struct Drag {
    list: StoredValue<ListField>,
    /// The item, its index, and the index that it would get.
    dragged: RwSignal<Option<(u32, usize, usize)>>,
}

/// Where an item shows the place of the dragged one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    None,
    Dragged,
    Before,
    After,
}

impl Mark {
    /// Returns the value of `data-drag`.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Dragged => "dragged",
            Self::Before => "before",
            Self::After => "after",
        }
    }
}

impl Drag {
    pub fn new(list: &ListField) -> Self {
        Self {
            list: StoredValue::new(list.clone()),
            dragged: RwSignal::new(None),
        }
    }

    /// Handles `pointerdown` on the handle of an item.
    pub fn start(self, item: u32, event: &PointerEvent) {
        let place = self
            .list
            .with_value(|list| list.state.list.read_untracked().place(item));
        let (Some(place), true) = (place, event.button() == 0) else {
            return;
        };
        // Otherwise the text around would be selected.
        event.prevent_default();
        if let Some(handle) = event
            .current_target()
            .and_then(|it| it.dyn_into::<Element>().ok())
        {
            // Fails only if the pointer is already released.
            let _ = handle.set_pointer_capture(event.pointer_id());
        }
        self.dragged.set(Some((item, place, place)));
    }

    /// Handles `pointermove`.
    pub fn moves(self, event: &PointerEvent) {
        let Some((item, from, before)) = self.dragged.get_untracked() else {
            return;
        };
        let middles = self.middles();
        let to = drop_place(&middles, from, f64::from(event.client_y()));
        if to != before {
            self.dragged.set(Some((item, from, to)));
        }
    }

    /// Handles `pointerup`.
    pub fn drop_item(self) {
        if let Some((item, _, to)) = self.dragged.get_untracked() {
            self.dragged.set(None);
            self.list.with_value(|list| list.move_to(item, to));
        }
    }

    /// Handles `pointercancel`.
    pub fn cancel(self) {
        self.dragged.set(None);
    }

    /// Returns the mark of an item; tracked. `place`: its index.
    pub fn mark(self, item: u32, place: usize) -> Mark {
        match self.dragged.get() {
            Some((dragged, ..)) if dragged == item => Mark::Dragged,
            Some((_, from, to)) if to == place && to != from => match to < from {
                true => Mark::Before,
                false => Mark::After,
            },
            _ => Mark::None,
        }
    }

    /// Returns the middles of the items on the screen, from top to bottom.
    fn middles(self) -> Vec<f64> {
        let id = self.list.with_value(|list| list.field().own_file_id());
        let Some(list) = field::element::<Element>(&id) else {
            return Vec::new();
        };
        let items = list.get_elements_by_class_name("media-item");
        let items = (0..items.length()).filter_map(|at| items.item(at));
        let middle = |item: Element| {
            let bounds = item.get_bounding_client_rect();
            f64::midpoint(bounds.top(), bounds.bottom())
        };
        items.map(middle).collect()
    }
}
