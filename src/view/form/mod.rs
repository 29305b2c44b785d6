//! The form of a model's input, built from its schema: one file per kind of control.

mod choice;
mod field;
mod json;
mod media;
mod number;
mod segmented;
mod switch;
mod text_field;

use std::sync::Arc;

use atelier_contract::{Draft, Problem, Schema};
use atelier_engine::control::Control;
use leptos::html::Div;
use leptos::prelude::*;

pub use field::Field;

use crate::boxed::{dynamic, effect, handler, text, when};

/// All controls of a schema. `attempted` is true once the person tried to send: from then on every
/// problem shows; before, only those of fields already left.
#[component]
pub fn Fields(
    schema: Arc<Schema>,
    draft: RwSignal<Draft>,
    attempted: RwSignal<bool>,
) -> impl IntoView {
    let fields: Vec<(Field, Control)> = schema
        .parameters()
        .enumerate()
        .map(|(at, (parameter, required))| {
            let control = Control::of(parameter);
            let field = Field::new(at, parameter.clone(), required, draft, attempted);
            (field, control)
        })
        .collect();
    if fields.is_empty() {
        return view! { <p class="muted">"This model takes no parameters."</p> }.into_any();
    }
    fields
        .into_iter()
        .map(|(field, control)| match control {
            Control::LongText => view! { <text_field::LongText field /> }.into_any(),
            Control::Text => view! { <text_field::Text field /> }.into_any(),
            Control::Media(media) => view! { <media::MediaAddress field media /> }.into_any(),
            Control::Segmented => view! { <segmented::Segmented field /> }.into_any(),
            Control::Select => view! { <choice::Choice field /> }.into_any(),
            Control::Number { slider } => {
                view! { <number::NumberField field slider dice=false /> }.into_any()
            }
            Control::Seed => {
                view! { <number::NumberField field slider=false dice=true /> }.into_any()
            }
            Control::Switch => view! { <switch::Switch field /> }.into_any(),
            Control::Json => view! { <json::Json field /> }.into_any(),
        })
        .collect_view()
        .into_any()
}

/// Every problem of the input in one place; takes the focus when it appears.
#[component]
pub fn ProblemSummary(schema: Arc<Schema>, problems: RwSignal<Vec<Problem>>) -> impl IntoView {
    let element = NodeRef::<Div>::new();
    effect(move || {
        if !problems.read().is_empty()
            && let Some(element) = element.get()
        {
            let _ = element.focus();
        }
    });
    let line = move |problem: Problem| {
        let at = schema
            .parameters()
            .position(|(p, _)| p.name == problem.parameter);
        match at {
            Some(at) => {
                let id = Field::id_of(at);
                let focus = move |event: leptos::ev::MouseEvent| {
                    event.prevent_default();
                    field::focus(&id);
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
            hidden=when(move || problems.read().is_empty())
        >
            <p>
                <strong>"Not sent yet. "</strong>
                {text(move || match problems.read().len() {
                    1 => "One thing needs a look:".to_owned(),
                    n => format!("{n} things need a look:"),
                })}
            </p>
            <ul>
                {dynamic(move || {
                    problems.get().into_iter().map(&line).collect_view().into_any()
                })}
            </ul>
        </div>
    }
}
