//! Event listeners of a field list, which handle the events of all its fields.

use atelier_studio::form::control::Control;
use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event};

use super::field::{self, Field, Kind};
use super::field_list::FieldList;
use super::{controls, number, own_file, secret, set_attribute};
use crate::reactive::boxed::handler;

/// The element that contains the fields, with the listeners.
pub fn with_listeners(list: FieldList) -> AnyView {
    let root = list.root();
    let clone_list = |list: &FieldList| list.clone();
    let (input, change, leave, key) = (
        clone_list(&list),
        clone_list(&list),
        clone_list(&list),
        clone_list(&list),
    );
    let (press, down, cancel) = (clone_list(&list), clone_list(&list), clone_list(&list));
    let dropped = list;
    view! {
        <div
            class="field-list"
            node_ref=root
            on:input=handler(move |event: Event| {
                if let Some(FieldEvent { field, target, .. }) = field_event(&input, &event) {
                    controls::input(field, &target, event_target_value(&event));
                }
            })
            on:change=handler(move |event: Event| {
                if let Some(FieldEvent { field, target, .. }) = field_event(&change, &event) {
                    controls::change(field, &target, &event_target_value(&event));
                }
            })
            on:focusout=handler(move |event: ev::FocusEvent| {
                if let Some(FieldEvent { at, field, target }) = field_event(&leave, &event)
                    && controls::is_typed(field)
                    && target.id() == field.id
                {
                    leave.leave(at);
                }
            })
            on:keydown=handler(move |event: ev::KeyboardEvent| {
                if let Some(found) = field_event(&key, &event) {
                    found.key(&event);
                }
            })
            on:click=handler(move |event: ev::MouseEvent| {
                if let Some(found) = field_event(&press, &event) {
                    found.press();
                }
            })
            on:pointerdown=handler(move |event: ev::PointerEvent| {
                if let Some(at) = slider_index(&down, &event) {
                    down.save_entry(at);
                }
            })
            on:pointercancel=handler(move |event: ev::PointerEvent| {
                if let Some(at) = slider_index(&cancel, &event) {
                    cancel.restore_entry(at);
                }
            })
            on:dragover=handler(|event: ev::DragEvent| own_file::drag_over(&event))
            on:dragleave=handler(|event: ev::DragEvent| own_file::drag_leave(&event))
            on:drop=handler(move |event: ev::DragEvent| {
                let at = field_event(&dropped, &event).map(|found| found.at);
                if let Some(of) = at.and_then(|at| dropped.media_field(at)) {
                    own_file::drop_files(&of, &event);
                }
            })
        ></div>
    }
    .into_any()
}

/// An event in a field, with the field and the target element.
struct FieldEvent<'a> {
    at: usize,
    field: &'a Field,
    target: Element,
}

/// Returns the field in which an event happened.
fn field_event<'a>(list: &'a FieldList, event: &Event) -> Option<FieldEvent<'a>> {
    let target: Element = event.target()?.dyn_into().ok()?;
    let within = target.closest(".field").ok()??;
    let at = within.get_attribute("data-at")?.parse().ok()?;
    let field = list.field(at)?;
    Some(FieldEvent { at, field, target })
}

/// Returns the index of the field if the target of the event is its slider.
fn slider_index(list: &FieldList, event: &Event) -> Option<usize> {
    let FieldEvent { at, target, .. } = field_event(list, event)?;
    (target.get_attribute("type").as_deref() == Some("range")).then_some(at)
}

impl FieldEvent<'_> {
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

    /// Shows or hides the description of the parameter.
    fn explain(&self) {
        let within = self.target.closest(".field").ok().flatten();
        let button = within.and_then(|within| within.query_selector(".explain").ok().flatten());
        let hint = document().get_element_by_id(&self.field.hint_id());
        if let (Some(button), Some(hint)) = (button, hint) {
            let is_shown = button.get_attribute("aria-expanded").as_deref() == Some("true");
            set_attribute(&button, "aria-expanded", &(!is_shown).to_string());
            // Fails only for an invalid class name.
            let _ = (hint.class_list()).toggle_with_force("visually-hidden", is_shown);
        }
    }
}
