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
use crate::browser::frame::after_frame;
use crate::browser::lifecycle::is_visible;
use crate::view::parts::list::{Item, list};

/// Fields that are built at once, which is more than a screen shows, and in each frame after that: a form
/// of many is there as soon as one of few.
const FIRST: usize = 12;
const MORE: usize = 40;

/// All controls of a schema. `attempted` is true once the person tried to send: from then on every
/// problem shows; before, only those of fields already left. `is_whole` says whether all are built.
#[component]
pub fn Fields(
    schema: Arc<Schema>,
    draft: RwSignal<Draft>,
    attempted: RwSignal<bool>,
    is_whole: RwSignal<bool>,
) -> impl IntoView {
    let total = schema.parameters().count();
    if total == 0 {
        return view! { <p class="muted">"This model takes no parameters."</p> }.into_any();
    }
    // There are no frames while nobody looks.
    let first = if is_visible() { FIRST } else { total };
    let built = RwSignal::new(first);
    is_whole.set(false);
    build_more(built, total, is_whole);
    let fields = StoredValue::new(Vec::<Field>::new());
    // What changes the draft elsewhere shows here.
    effect(move || {
        let draft = draft.read();
        fields.with_value(|fields| fields.iter().for_each(|field| field.follow(&draft)));
    });
    let part = move |from: usize, to: usize| {
        let parameters = schema.parameters().enumerate().skip(from).take(to - from);
        let controls = parameters.map(|(at, (parameter, required))| {
            let field = Field::new(at, parameter.clone(), required, draft, attempted);
            fields.update_value(|fields| fields.push(field.clone()));
            control(field)
        });
        controls.collect_view().into_any()
    };
    list(move || {
        let ends = (first..built.get())
            .step_by(MORE)
            .map(move |end| (end, (end + MORE).min(total)));
        let parts = std::iter::once((0, first.min(total))).chain(ends);
        parts
            .map(|(from, to)| {
                let part = part.clone();
                Item::new(from.to_string(), move || part(from, to))
            })
            .collect()
    })
}

/// Builds some more in the next frame, until all are there or the form has gone.
fn build_more(built: RwSignal<usize>, total: usize, is_whole: RwSignal<bool>) {
    if built.try_get_untracked().is_none_or(|built| built >= total) {
        is_whole.try_set(true);
        return;
    }
    after_frame(move || {
        built.try_update(|built| *built += MORE);
        build_more(built, total, is_whole);
    });
}

fn control(field: Field) -> AnyView {
    match Control::of(&field.parameter) {
        Control::LongText => view! { <text_field::LongText field /> }.into_any(),
        Control::Text => view! { <text_field::Text field /> }.into_any(),
        Control::Media(media) => view! { <media::MediaAddress field media /> }.into_any(),
        Control::Segmented => view! { <segmented::Segmented field /> }.into_any(),
        Control::Select => view! { <choice::Choice field /> }.into_any(),
        Control::Number { slider } => {
            view! { <number::NumberField field slider dice=false /> }.into_any()
        }
        Control::Seed => view! { <number::NumberField field slider=false dice=true /> }.into_any(),
        Control::Switch => view! { <switch::Switch field /> }.into_any(),
        Control::Json => view! { <json::Json field /> }.into_any(),
    }
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
