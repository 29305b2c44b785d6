//! What happens in the fields of a list, heard in one place for all of them.

use atelier_studio::form::control::Control;
use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event};

use super::field::{self, Field, Kind};
use super::field_list::FieldList;
use super::{controls, number, secret, set_attribute};
use crate::reactive::boxed::handler;

/// The element that holds the fields.
pub fn listening(list: FieldList) -> AnyView {
    let root = list.root();
    let of = |list: &FieldList| list.clone();
    let (input, change, leave, key) = (of(&list), of(&list), of(&list), of(&list));
    let (press, down, cancel) = (of(&list), of(&list), list);
    view! {
        <div
            class="field-list"
            node_ref=root
            on:input=handler(move |event: Event| {
                if let Some(Heard { field, target, .. }) = heard(&input, &event) {
                    controls::input(field, &target, event_target_value(&event));
                }
            })
            on:change=handler(move |event: Event| {
                if let Some(Heard { field, target, .. }) = heard(&change, &event) {
                    controls::change(field, &target, &event_target_value(&event));
                }
            })
            on:focusout=handler(move |event: ev::FocusEvent| {
                if let Some(Heard { at, field, target }) = heard(&leave, &event)
                    && controls::is_typed(field)
                    && target.id() == field.id
                {
                    leave.leave(at);
                }
            })
            on:keydown=handler(move |event: ev::KeyboardEvent| {
                if let Some(heard) = heard(&key, &event) {
                    heard.key(&event);
                }
            })
            on:click=handler(move |event: ev::MouseEvent| {
                if let Some(heard) = heard(&press, &event) {
                    heard.press();
                }
            })
            on:pointerdown=handler(move |event: ev::PointerEvent| {
                if let Some(at) = slider(&down, &event) {
                    down.hold_entry(at);
                }
            })
            on:pointercancel=handler(move |event: ev::PointerEvent| {
                if let Some(at) = slider(&cancel, &event) {
                    cancel.put_entry_back(at);
                }
            })
        ></div>
    }
    .into_any()
}

/// In which field something happened, and to which element.
struct Heard<'a> {
    at: usize,
    field: &'a Field,
    target: Element,
}

fn heard<'a>(list: &'a FieldList, event: &Event) -> Option<Heard<'a>> {
    let target: Element = event.target()?.dyn_into().ok()?;
    let within = target.closest(".field").ok()??;
    let at = within.get_attribute("data-at")?.parse().ok()?;
    let field = list.field(at)?;
    Some(Heard { at, field, target })
}

/// The field whose slider it happened to.
fn slider(list: &FieldList, event: &Event) -> Option<usize> {
    let Heard { at, target, .. } = heard(list, event)?;
    (target.get_attribute("type").as_deref() == Some("range")).then_some(at)
}

impl Heard<'_> {
    fn key(&self, event: &ev::KeyboardEvent) {
        if event.key() == "F1" && self.field.is_described() {
            event.prevent_default();
            self.explain();
        }
        let is_number = matches!(
            self.field.kind,
            Kind::Parameter(Control::Number { .. } | Control::Seed)
        );
        if is_number && self.target.id() == self.field.id {
            number::step(self.field, event);
        }
    }

    fn press(&self) {
        let button = self.target.closest("[data-action]").ok().flatten();
        let Some(button) = button else { return };
        match button.get_attribute("data-action").as_deref() {
            Some("explain") => self.explain(),
            Some("default") => {
                self.field.reset();
                field::focus(&self.field.id);
            }
            Some("dice") => number::roll(self.field, &button),
            Some("show") => {
                if let Some(input) = field::element::<Element>(&self.field.id) {
                    secret::show_or_hide(self.field, &input, &button);
                }
            }
            _ => {}
        }
    }

    /// Shows what the parameter does, or hides it again.
    fn explain(&self) {
        let within = self.target.closest(".field").ok().flatten();
        let button = within.and_then(|within| within.query_selector(".explain").ok().flatten());
        let hint = document().get_element_by_id(&self.field.hint_id());
        if let (Some(button), Some(hint)) = (button, hint) {
            let is_shown = button.get_attribute("aria-expanded").as_deref() == Some("true");
            set_attribute(&button, "aria-expanded", &(!is_shown).to_string());
            // It fails only where the name is none.
            let _ = (hint.class_list()).toggle_with_force("visually-hidden", is_shown);
        }
    }
}
