//! The parts that surround every control: name, bounds, button back to the default, description and problem.

use atelier_studio::form::control;
use atelier_studio::form::field::FieldState;
use atelier_studio::form::parameter_name::full_name;
use icondata_core::Icon;
use icondata_lu::LuUndo2;
use maud::{Markup, PreEscaped, html};

use super::field::Field;

/// The parts that a kind of control provides.
pub struct Parts {
    /// Whether the control is a group, which is labelled by `aria-labelledby` and not by `label for`.
    pub is_group: bool,
    /// The content to the right of the name.
    pub aside: Option<Markup>,
    pub control: Markup,
}

impl Parts {
    pub fn of(control: Markup) -> Self {
        Self {
            is_group: false,
            aside: None,
            control,
        }
    }
}

/// A field as HTML. `at`: its index in its list.
pub fn frame(at: usize, field: &Field, state: &FieldState, parts: &Parts) -> Markup {
    let (parameter, id, label_id) = (&field.parameter, &field.id, field.label_id());
    let bounds = control::bounds(parameter);
    html! {
        div.field.refused[state.is_refused] data-at=(at) {
            div.field-head {
                @if parts.is_group {
                    span.label id=(label_id) { (parameter.name) }
                } @else {
                    label.label id=(label_id) for=(id) { (parameter.name) }
                }
                @if field.required { span.star aria-hidden="true" title="Required" { "*" } }
                // Hidden from assistive technology: the accessible name is the parameter's name alone.
                @if let Some(name) = full_name(parameter) { span.in-full aria-hidden="true" { (name) } }
                // The bounds of a seed are long and do not help to choose one.
                @if !bounds.is_empty() {
                    span.bounds.visually-hidden[field.is_seed()] id=(field.bounds_id()) { (bounds) }
                }
                @if field.is_described() { (explain_button(field, &label_id)) }
                // The space is reserved, so that nothing moves when the button appears.
                @if parameter.default.is_some() {
                    span.reset-place.default-place { @if state.is_changed { (reset_button(field)) } }
                }
                @if let Some(aside) = &parts.aside { span.aside { (aside) } }
            }
            (parts.control)
            @if field.is_described() {
                p.hint.visually-hidden id=(field.hint_id()) dir="auto" { (parameter.description) }
            }
            p.problem id=(field.problem_id()) { @if let Some(problem) = &state.problem { (problem) } }
        }
    }
}

/// The button that shows the description. It is no tab stop: screen readers read the description with the control, and F1
/// shows it.
fn explain_button(field: &Field, label_id: &str) -> Markup {
    html! {
        button.reset.explain type="button" tabindex="-1" data-action="explain" aria-keyshortcuts="F1"
            // Without the parameter's name, which is the accessible name of the control only.
            aria-label="What is this?" title=(field.parameter.description) aria-describedby=(label_id)
            aria-expanded="false" aria-controls=(field.hint_id()) {}
    }
}

/// The button that resets the field to its default.
pub fn reset_button(field: &Field) -> Markup {
    html! {
        button.reset type="button" data-action="default"
            // Without the parameter's name, which is the accessible name of the control only.
            aria-label="Back to the default" title="Back to the default" aria-describedby=(field.label_id()) {
            (glyph(LuUndo2))
        }
    }
}

/// Like [`crate::view::parts::glyph::Glyph`], but as HTML.
pub fn glyph(icon: Icon) -> Markup {
    html! {
        // Not escaped: icons are constants of the program.
        span.glyph aria-hidden="true" { svg viewBox="0 0 24 24" { (PreEscaped(icon.data)) } }
    }
}
