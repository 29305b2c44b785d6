//! What stands around every control: name, bounds, way back to the default, description when it is asked for, problem.

use atelier_studio::form::control;
use atelier_studio::form::field::FieldState;
use atelier_studio::form::parameter_name::full_name;
use icondata_core::Icon;
use icondata_lu::LuUndo2;
use maud::{Markup, PreEscaped, html};

use super::field::Field;

/// What a kind of control puts into its field.
pub struct Parts {
    /// A group of controls is named by the text, not by a `label for`.
    pub is_group: bool,
    /// What stands at the right of the name.
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

/// A field as HTML. `at` is its place in its list.
pub fn frame(at: usize, field: &Field, said: &FieldState, parts: &Parts) -> Markup {
    let (parameter, id, label_id) = (&field.parameter, &field.id, field.label_id());
    let bounds = control::bounds(parameter);
    html! {
        div.field.refused[said.is_refused] data-at=(at) {
            div.field-head {
                @if parts.is_group {
                    span.label id=(label_id) { (parameter.name) }
                } @else {
                    label.label id=(label_id) for=(id) { (parameter.name) }
                }
                @if field.required { span.star aria-hidden="true" title="Required" { "*" } }
                // Heard, the name alone is what the control is called.
                @if let Some(words) = full_name(parameter) { span.in-full aria-hidden="true" { (words) } }
                // Seeds are not chosen by their bounds, which are long.
                @if !bounds.is_empty() {
                    span.bounds.visually-hidden[field.is_seed()] id=(field.bounds_id()) { (bounds) }
                }
                @if field.is_described() { (explain_button(field, &label_id)) }
                // Its place is kept, so that nothing moves when it comes.
                @if parameter.default.is_some() {
                    span.reset-place.default-place { @if said.is_changed { (back_to_default(field)) } }
                }
                @if let Some(aside) = &parts.aside { span.aside { (aside) } }
            }
            (parts.control)
            @if field.is_described() {
                p.hint.visually-hidden id=(field.hint_id()) dir="auto" { (parameter.description) }
            }
            p.problem id=(field.problem_id()) { @if let Some(problem) = &said.problem { (problem) } }
        }
    }
}

/// The button that shows what the parameter does. Who hears the page has heard it with the control, and keys have F1
/// there: it is no stop between one control and the next.
fn explain_button(field: &Field, label_id: &str) -> Markup {
    html! {
        button.reset.explain type="button" tabindex="-1" data-action="explain" aria-keyshortcuts="F1"
            // Without the parameter's name: that names the control alone.
            aria-label="What is this?" title=(field.parameter.description) aria-describedby=(label_id)
            aria-expanded="false" aria-controls=(field.hint_id()) {}
    }
}

/// The button that takes back what was entered.
pub fn back_to_default(field: &Field) -> Markup {
    html! {
        button.reset type="button" data-action="default"
            // Without the parameter's name: that names the control alone.
            aria-label="Back to the default" title="Back to the default" aria-describedby=(field.label_id()) {
            (glyph(LuUndo2))
        }
    }
}

/// As [`crate::view::parts::glyph::Glyph`].
pub fn glyph(icon: Icon) -> Markup {
    html! {
        // The drawing is a constant of ours, put into the page as it is.
        span.glyph aria-hidden="true" { svg viewBox="0 0 24 24" { (PreEscaped(icon.data)) } }
    }
}
