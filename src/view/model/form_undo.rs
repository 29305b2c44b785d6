//! Ctrl+Z in the form: takes back what was chosen, moved, loaded or cleared, where that was the last change. What was typed
//! the browser takes back.

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

#[derive(Clone, Copy)]
pub struct FormUndo {
    schema: StoredValue<Arc<Schema>>,
    draft: RwSignal<Draft>,
    undo: StoredValue<Undo>,
    /// What the form held at the last change.
    last: StoredValue<Draft>,
    /// Something is being typed, which changes the draft in this frame.
    is_typed: StoredValue<bool>,
    /// What changes the draft in this frame is typed into the JSON text.
    is_json: StoredValue<bool>,
    /// Something was typed since the last change that is not in the draft: a secret, or a text that can't be read.
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
                // A slider that is dragged has changed once.
                pointer::once_up(move || this.note());
            }
        });
        this
    }

    fn note(self) {
        // The form may have gone.
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

    /// An `input` event, before the draft is changed by it.
    pub fn input(self, event: &Event) {
        const TEXT: &str = "textarea, input:not([type=checkbox], [type=radio], [type=range])";
        let target = event.target().and_then(|it| it.dyn_into::<Element>().ok());
        if is_json_text(target.as_ref()) {
            self.is_json.set_value(true);
            after_frame(move || {
                self.is_json.try_set_value(false);
            });
        } else if target.is_some_and(|it| it.matches(TEXT) == Ok(true)) {
            self.is_typed.set_value(true);
            after_frame(move || {
                let was_other = self.is_typed.try_update_value(std::mem::take);
                if was_other == Some(true) {
                    self.has_other_text.set_value(true);
                }
            });
        }
    }

    /// Returns whether the key has taken a change back, or made it once more.
    pub fn key(self, event: &KeyboardEvent) -> bool {
        let has_command = event.ctrl_key() || event.meta_key();
        let target = event.target().and_then(|it| it.dyn_into::<Element>().ok());
        // Within the JSON text the browser takes back what was typed. Its textarea goes with the text.
        if is_json_text(target.as_ref()) {
            return false;
        }
        if !has_command || event.alt_key() || self.has_other_text.get_value() {
            return false;
        }
        let Some(direction) = direction(&event.key(), event.shift_key()) else {
            return false;
        };
        let put = self.undo.try_update_value(|undo| {
            let schema = self.schema.get_value();
            undo.step(direction, &self.draft.read_untracked(), &schema)
        });
        let Some(put) = put.flatten() else {
            return false;
        };
        event.prevent_default();
        self.last.set_value(put.clone());
        self.draft.set(put);
        true
    }
}

fn is_json_text(element: Option<&Element>) -> bool {
    element.is_some_and(|it| it.id() == field::JSON_ID)
}
