//! The text field for addresses, with its button. An address is also added when the user leaves the text field or presses
//! Generate, which would ignore it otherwise.

use std::sync::Arc;

use gloo_events::{EventListener, EventListenerOptions};
use icondata_lu::LuPlus;
use leptos::prelude::*;
use web_sys::{Event, HtmlInputElement, KeyboardEvent, MouseEvent};

use super::ListField;
use crate::browser::pointer;
use crate::reactive::boxed::handler;
use crate::view::form::field;
use crate::view::parts::focus;
use crate::view::parts::glyph::Glyph;

/// The text field of a list.
#[derive(Clone)]
struct Address {
    list: ListField,
    /// Whether the text was added when the user left the text field, such as to reach "Add" with the keyboard.
    was_added: StoredValue<bool>,
}

/// `is_closed`: whether nothing can be added.
pub fn view(list: &ListField, is_closed: Signal<bool>) -> AnyView {
    let field = list.field().clone();
    let (label_id, address_id) = (field.label_id(), field.address_id());
    let this = Arc::new(Address {
        list: list.clone(),
        was_added: StoredValue::new(false),
    });
    this.follow_submission();
    let (press, leave, was_added) = (this.clone(), this.clone(), this.was_added);
    let key = move |event: KeyboardEvent| {
        if event.key() == "Enter" && !event.is_composing() {
            // Otherwise the form would be submitted.
            event.prevent_default();
            this.press();
        }
    };
    view! {
        <div class="media-address">
            <span id=address_id.clone() hidden>
                "Address"
            </span>
            <input
                type="text"
                inputmode="url"
                id=field.id.clone()
                autocomplete="off"
                spellcheck="false"
                placeholder="https://…"
                aria-labelledby=format!("{label_id} {address_id}")
                aria-describedby=field.described_by()
                on:keydown=handler(key)
                on:change=handler(move |_: Event| leave.leave())
                on:input=handler(move |_: Event| was_added.set_value(false))
            />
            <button
                class="button small"
                type="button"
                prop:disabled=is_closed
                on:click=handler(move |_: MouseEvent| press.press())
            >
                <Glyph icon=LuPlus />
                "Add"
            </button>
        </div>
    }
    .into_any()
}

impl Address {
    fn input(&self) -> Option<HtmlInputElement> {
        field::element(&self.list.field().id)
    }

    /// Returns the text field if it has a text.
    fn filled_input(&self) -> Option<HtmlInputElement> {
        self.input()
            .filter(|input| !input.value().trim().is_empty())
    }

    /// Adds the addresses in the text. Returns whether there are any.
    fn add(&self, input: &HtmlInputElement) -> bool {
        let is_added = self.list.add_typed(&input.value());
        if is_added {
            input.set_value("");
        }
        is_added
    }

    /// Handles "Add" and the Enter key.
    fn press(&self) {
        let Some(input) = self.input() else { return };
        let was_added = self.was_added.try_update_value(std::mem::take) == Some(true);
        if !was_added || !input.value().trim().is_empty() {
            self.add(&input);
        }
        // Several addresses are entered one after the other.
        focus::in_place(&input);
    }

    /// Adds the text that the user has entered and left.
    fn leave(self: &Arc<Self>) {
        let Some(input) = self.filled_input() else {
            return;
        };
        let this = self.clone();
        let add = move || {
            if let Some(input) = this.filled_input() {
                let is_added = this.add(&input);
                this.was_added.try_set_value(is_added);
            }
        };
        // A new item would move the pressed button away before its click.
        let is_pressed = |form: web_sys::HtmlFormElement| pointer::is_pressed_within(&form);
        match input.form().is_some_and(is_pressed) {
            true => pointer::when_released(add),
            false => add(),
        }
    }

    /// Adds the text before the form is submitted. If it is not an address, the form is not submitted.
    fn follow_submission(self: &Arc<Self>) {
        let this = self.clone();
        let before_others = EventListenerOptions {
            phase: gloo_events::EventListenerPhase::Capture,
            passive: false,
        };
        let listener =
            EventListener::new_with_options(&document(), "submit", before_others, move |event| {
                if this.list.field().is_disposed() || this.list.of.is_hidden() {
                    return;
                }
                let Some(input) = this.filled_input() else {
                    return;
                };
                let form = input.form().map(web_sys::EventTarget::from);
                if form == event.target() && !this.add(&input) {
                    event.prevent_default();
                    event.stop_propagation();
                    field::focus(&this.list.field().id);
                }
            });
        StoredValue::new_local(listener);
    }
}
