//! Ctrl+Z in the form: undoes the last change if it was a choice, a slider, a loaded input or "Clear form". The browser
//! itself undoes typing.

use std::sync::Arc;

use atelier_contract::{Draft, Schema};
use atelier_studio::form::undo::{Undo, direction};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, KeyboardEvent};

use crate::browser::frame::after_frame;
use crate::browser::pointer;
use crate::reactive::boxed::effect;
use crate::view::form::field;

/// The undo history of a form.
#[derive(Clone, Copy)]
pub struct FormUndo {
    schema: StoredValue<Arc<Schema>>,
    draft: RwSignal<Draft>,
    undo: StoredValue<Undo>,
    /// The draft after the last change.
    last: StoredValue<Draft>,
    /// Whether the change of the draft in this frame comes from typing into a field.
    is_typed: StoredValue<bool>,
    /// Whether the change of the draft in this frame comes from typing into the JSON text.
    is_json: StoredValue<bool>,
    /// Whether the user has typed something since the last change that isn't part of the draft: a secret, or a text that
    /// can't be parsed.
    has_other_text: StoredValue<bool>,
}

impl FormUndo {
    pub fn follow(schema: Arc<Schema>, draft: RwSignal<Draft>) -> Self {
        let this = Self {
            schema: StoredValue::new(schema),
            draft,
            undo: StoredValue::new(Undo::default()),
            last: StoredValue::new(draft.get_untracked()),
            is_typed: StoredValue::new(false),
            is_json: StoredValue::new(false),
            has_other_text: StoredValue::new(false),
        };
        effect(move || {
            draft.track();
            if this.is_typed.get_value() {
                this.is_typed.set_value(false);
                this.last.set_value(draft.get_untracked());
            } else {
                // Dragging a slider is one change.
                pointer::when_released(move || this.record());
            }
        });
        this
    }

    /// Records the current draft in the undo history.
    fn record(self) {
        // The form may be disposed.
        let (Some(before), Some(now)) = (self.last.try_get_value(), self.draft.try_get_untracked())
        else {
            return;
        };
        if before != now {
            self.last.set_value(now.clone());
            self.has_other_text.set_value(false);
            let is_json = self.is_json.try_update_value(std::mem::take) == Some(true);
            self.undo.update_value(|undo| match is_json {
                true => undo.record_keystroke(before, now),
                false => undo.record(before, now),
            });
        }
    }

    /// Handles an `input` event before it changes the draft.
    pub fn handle_input(self, event: &Event) {
        const TEXT: &str =
            "textarea, input:not([type=checkbox], [type=radio], [type=range], [type=file])";
        let target = event.target().and_then(|it| it.dyn_into::<Element>().ok());
        if is_json_text(target.as_ref()) {
            self.is_json.set_value(true);
            after_frame(move || {
                self.is_json.try_set_value(false);
            });
        } else if target.is_some_and(|it| it.matches(TEXT) == Ok(true)) {
            self.is_typed.set_value(true);
            after_frame(move || {
                let is_pending = self.is_typed.try_update_value(std::mem::take);
                if is_pending == Some(true) {
                    self.has_other_text.set_value(true);
                }
            });
        }
    }

    /// Handles the keys for undo and redo. Returns whether the key changed the draft.
    pub fn handle_key(self, event: &KeyboardEvent) -> bool {
        let has_command = event.ctrl_key() || event.meta_key();
        let target = event.target().and_then(|it| it.dyn_into::<Element>().ok());
        // The browser itself undoes typing in the JSON text.
        if is_json_text(target.as_ref()) {
            return false;
        }
        if !has_command || event.alt_key() || self.has_other_text.get_value() {
            return false;
        }
        let Some(direction) = direction(&event.key(), event.shift_key()) else {
            return false;
        };
        let restored = self.undo.try_update_value(|undo| {
            let schema = self.schema.get_value();
            undo.step(direction, &self.draft.read_untracked(), &schema)
        });
        let Some(restored) = restored.flatten() else {
            return false;
        };
        event.prevent_default();
        self.last.set_value(restored.clone());
        self.draft.set(restored);
        true
    }
}

fn is_json_text(element: Option<&Element>) -> bool {
    element.is_some_and(|it| it.id() == field::JSON_ID)
}
