//! The form of a model's input, built from its schema: one file per kind of control.

mod choice;
mod controls;
pub mod copy_side;
mod earlier_prompts;
mod edit_button;
mod events;
pub mod field;
mod field_list;
mod frame;
pub mod gallery_picker;
mod json;
mod mask_button;
mod media;
mod media_list;
mod number;
pub mod output_input;
mod own_file;
mod secret;
mod segmented;
mod several;
pub mod sheet;
mod steering;
mod switch;
mod text_field;
mod unknown_names;
mod upload_progress;

use std::sync::Arc;

use atelier_contract::{Draft, Parameter, Problem, Schema};
use atelier_studio::form::control::{self, Control};
use atelier_studio::form::folded;
use atelier_studio::text::plural::{agreeing, counted};
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlInputElement};

pub use earlier_prompts::earlier_prompts;
pub use field::Field;
pub use unknown_names::unknown_names;

use crate::reactive::boxed::{dynamic, effect, handler, memo, text, when};
use crate::state::contexts::contexts;
use crate::state::secrets::typed;
use crate::view::parts::viewport;
use field::Kind;
use field_list::FieldList;

/// The number of fields that are built immediately. More than fit on a screen, so that a long form appears as quickly as a
/// short one.
const FIRST_FIELDS: usize = 12;

/// The number of folded fields that are built immediately. They are cheap, because a closed fold is not laid out; most forms
/// are built in one frame.
const FIRST_FOLDED_FIELDS: usize = 50;

/// All fields of a schema. `attempted`: whether the user has pressed Generate. Before that, only fields that the user has left
/// show their problems.
#[component]
pub fn Fields(
    schema: Arc<Schema>,
    draft: RwSignal<Draft>,
    attempted: RwSignal<bool>,
    /// The problems that the service has reported.
    #[prop(into)]
    refused: Signal<Vec<Problem>>,
) -> impl IntoView {
    let secrets = secret_fields(&schema, typed(contexts().session, &schema), attempted);
    let folded = folded::folded(&schema, viewport::is_one_pane());
    let (mut first, mut more) = (Vec::new(), Vec::new());
    for (at, (parameter, required)) in schema.parameters().enumerate() {
        let kind = Kind::Parameter(Control::of(parameter));
        let field = Field::new(at, parameter.clone(), required, kind, draft);
        let part = if folded.contains(&at) {
            &mut more
        } else {
            &mut first
        };
        part.push(field);
    }
    if first.is_empty() && more.is_empty() {
        if schema.secret_parameters().next().is_some() {
            return secrets;
        }
        return view! { <p class="muted">"This model takes no parameters."</p> }.into_any();
    }
    let all = first.iter().chain(&more);
    let media = own_file::media_fields(all, &schema.model);
    mask_button::provide(&media);
    edit_button::provide(draft, &schema);
    own_file::listen(media);
    let list =
        |fields: Vec<Field>| FieldList::new(fields, draft, attempted, refused, Some(&schema.model));
    let folded_parameters: Vec<Arc<Parameter>> =
        more.iter().map(|it| it.parameter.clone()).collect();
    let first = shown(list(first), FIRST_FIELDS);
    if more.is_empty() {
        return view! { {first} {secrets} }.into_any();
    }
    let more = shown(list(more), FIRST_FOLDED_FIELDS);
    let changed = text(move || {
        let draft = draft.read();
        let is_changed = |parameter: &&Arc<Parameter>| {
            let entry = draft.get(&parameter.name);
            entry.is_some_and(|entry| !control::is_default(parameter, entry))
        };
        match folded_parameters.iter().filter(is_changed).count() {
            0 => String::new(),
            n => format!("{n} changed"),
        }
    });
    view! {
        {first}
        {secrets}
        <details class="more-fields">
            <summary>
                "More" <span class="muted" prop:textContent=changed></span>
            </summary>
            <div class="form-scroll">{more}</div>
        </details>
    }
    .into_any()
}

/// The fields of a model's secrets, which are not in the draft. Their ids follow those of the parameters.
pub fn secret_fields(
    schema: &Schema,
    typed: RwSignal<Draft>,
    attempted: RwSignal<bool>,
) -> AnyView {
    let first = schema.parameters().count();
    let fields: Vec<Field> = (schema.secret_parameters().enumerate())
        .map(|(at, (parameter, required))| {
            Field::new(first + at, parameter.clone(), required, Kind::Secret, typed)
        })
        .collect();
    if fields.is_empty() {
        return ().into_any();
    }
    let refused = RwSignal::new(Vec::new()).into();
    let list = FieldList::new(fields, typed, attempted, refused, None);
    shown(list, usize::MAX)
}

/// Shows a list of fields. `first`: the number of fields to build immediately.
fn shown(list: FieldList, first: usize) -> AnyView {
    list.start(first);
    events::with_listeners(list)
}

/// Sets the text of a control if it differs. Otherwise leaves it alone, to preserve the caret.
fn set_value(control: &Element, text: &str) {
    if let Some(input) = control.dyn_ref::<HtmlInputElement>()
        && input.value() != text
    {
        input.set_value(text);
    }
}

fn set_attribute(element: &Element, name: &str, value: &str) {
    // Fails only for an invalid name.
    let _ = element.set_attribute(name, value);
}

/// Lists all problems of the input. Takes the focus after each press of Generate that has found several.
#[component]
pub fn ProblemSummary(
    schema: Arc<Schema>,
    problems: RwSignal<Vec<Problem>>,
    /// The number of presses of Generate that have found problems.
    refusals: RwSignal<u32>,
    /// Shows the controls, if they are hidden.
    #[prop(into)]
    reveal: Callback<()>,
) -> impl IntoView {
    let element = NodeRef::<Div>::new();
    // A single problem is shown only at its field, unless the list is already visible or the problem has no field.
    let is_shown = {
        let schema = schema.clone();
        let was_shown = StoredValue::new(false);
        memo(move || {
            let is_shown = match problems.read().as_slice() {
                [] => false,
                [only] => was_shown.get_value() || schema.position_of(&only.parameter).is_none(),
                _ => true,
            };
            was_shown.set_value(is_shown);
            is_shown
        })
    };
    let focused_at = StoredValue::new(0);
    effect(move || {
        let refusals = refusals.get();
        // A problem that reappears while the user types does not take the focus.
        if is_shown.get()
            && let Some(element) = element.get()
            && focused_at.get_value() != refusals
        {
            focused_at.set_value(refusals);
            let _ = element.focus();
        }
    });
    let line = move |problem: Problem| {
        let at = schema.position_of(&problem.parameter);
        match at {
            Some(at) => {
                let id = Field::id_of(at);
                let focus = move |event: leptos::ev::MouseEvent| {
                    event.prevent_default();
                    reveal.run(());
                    field::focus(&id);
                    // Repeated after a frame, because the JSON view may have to close first.
                    let id = id.clone();
                    request_animation_frame(move || field::focus(&id));
                };
                let href = format!("#{}", Field::id_of(at));
                view! {
                    <li>
                        <a href=href rel="external" on:click=handler(focus)>
                            {problem.message}
                        </a>
                    </li>
                }
                .into_any()
            }
            None => view! { <li>{problem.message}</li> }.into_any(),
        }
    };
    view! {
        <div
            class="summary"
            role="alert"
            tabindex="-1"
            node_ref=element
            hidden=when(move || !is_shown.get())
        >
            <p>
                <strong>"Not sent. "</strong>
                <span prop:textContent=text(move || {
                    let count = problems.read().len();
                    let need = agreeing(count, "needs", "need");
                    format!("{} {need} a look:", counted(count, "thing"))
                })></span>
            </p>
            <ul>
                {dynamic(move || {
                    problems.get().into_iter().map(&line).collect_view().into_any()
                })}
            </ul>
        </div>
    }
}
