//! The form of a model's input, built from its schema: one file per kind of control.

mod choice;
mod earlier_prompts;
pub mod field;
mod json;
mod media;
mod number;
pub mod secret;
mod segmented;
mod several;
mod sheet;
mod switch;
mod text_field;
mod unknown_names;

use atelier_engine::plural::{agreeing, counted};
use std::ops::Range;
use std::sync::Arc;

use atelier_contract::{Draft, ModelId, Parameter, Problem, Schema};
use atelier_engine::control::{self, Control};
use atelier_engine::folded;
use leptos::html::{Details, Div};
use leptos::prelude::*;

pub use earlier_prompts::earlier_prompts;
pub use field::Field;
pub use unknown_names::unknown_names;

use crate::boxed::{dynamic, effect, handler, memo, text, when};
use crate::browser::frame::after_frame;
use crate::browser::lifecycle::is_visible;
use crate::contexts::contexts;
use crate::secrets::typed;
use crate::view::parts::list::{Item, list};
use crate::view::parts::viewport;

/// Fields that are built at once, which is more than a screen shows, and in each frame after that: a form
/// of many is there as soon as one of few.
const FIRST: usize = 12;
const MORE: usize = 40;

/// All controls of a schema. `attempted` is true once the person tried to send: from then on every
/// problem shows; before, only those of fields already left.
#[component]
pub fn Fields(
    schema: Arc<Schema>,
    draft: RwSignal<Draft>,
    attempted: RwSignal<bool>,
    /// What the service has refused of what stands there.
    #[prop(into)]
    refused: Signal<Vec<Problem>>,
) -> impl IntoView {
    let parameters: Vec<(Parameter, bool)> = (schema.parameters())
        .map(|(parameter, required)| (parameter.clone(), required))
        .collect();
    let total = parameters.len();
    let secrets = secret::secrets(&schema, typed(contexts().session, &schema), attempted);
    if total == 0 {
        if schema.secret_parameters().next().is_some() {
            return secrets;
        }
        return view! { <p class="muted">"This model takes no parameters."</p> }.into_any();
    }
    let folded = folded::folded(&schema, viewport::is_one_pane());
    let (more, first): (Vec<usize>, Vec<usize>) = (0..total).partition(|at| folded.contains(at));
    let fold = first.len();
    let folded_away: Vec<Parameter> = (more.iter()).map(|at| parameters[*at].0.clone()).collect();
    let order = [first, more].concat();

    // There are no frames while nobody looks.
    let ends: Arc<[usize]> = if is_visible() {
        ends(fold, total).into()
    } else {
        [fold, total].into()
    };
    let built = RwSignal::new(if is_visible() { ends[0] } else { total });
    build_more(built, ends.clone());
    let fields = StoredValue::new(Vec::<Field>::new());
    // What changes the draft elsewhere shows here.
    effect(move || {
        let draft = draft.read();
        fields.with_value(|fields| fields.iter().for_each(|field| field.follow(&draft)));
    });
    let part = move |from: usize, to: usize| {
        let controls = order[from..to].iter().map(|at| {
            let (parameter, required) = parameters[*at].clone();
            let field = Field::new(*at, parameter, required, draft, attempted, refused);
            fields.update_value(|fields| fields.push(field.clone()));
            control_of(field, &schema.model)
        });
        controls.collect_view().into_any()
    };
    let parts = move |range: Range<usize>| {
        let (ends, part) = (ends.clone(), part.clone());
        list(move || {
            let built = built.get();
            let starts = std::iter::once(0).chain(ends.iter().copied());
            let parts = starts.zip(ends.iter().copied());
            parts
                .filter(|(from, to)| range.contains(from) && from < to && *to <= built)
                .map(|(from, to)| {
                    let part = part.clone();
                    Item::new(from.to_string(), move || part(from, to))
                })
                .collect()
        })
    };
    if fold == total {
        return view! { {parts(0..total)} {secrets} }.into_any();
    }
    let changed = text(move || {
        let draft = draft.read();
        let is_changed = |parameter: &&Parameter| {
            let entry = draft.get(&parameter.name);
            entry.is_some_and(|entry| !control::is_default(parameter, entry))
        };
        match folded_away.iter().filter(is_changed).count() {
            0 => String::new(),
            n => format!("{n} changed"),
        }
    });
    let sheet = NodeRef::<Details>::new();
    let keep = sheet::follow(sheet);
    view! {
        {parts(0..fold)}
        {secrets}
        <details
            class="more-fields"
            node_ref=sheet
            on:toggle=handler(move |_: web_sys::Event| keep())
        >
            <summary>
                "More" <span class="muted" prop:textContent=changed></span>
            </summary>
            <div class="form-scroll">{parts(fold..total)}</div>
        </details>
    }
    .into_any()
}

/// Where the parts end that are built frame by frame; none reaches over the fold.
fn ends(fold: usize, total: usize) -> Vec<usize> {
    let mut ends: Vec<usize> = (FIRST..total).step_by(MORE).chain([fold, total]).collect();
    ends.retain(|end| *end > 0);
    ends.sort_unstable();
    ends.dedup();
    ends
}

/// Builds some more in the next frame, until all are there or the form has gone.
fn build_more(built: RwSignal<usize>, ends: Arc<[usize]>) {
    let next = |built: usize| ends.iter().copied().find(|end| *end > built);
    let Some(next) = built.try_get_untracked().and_then(next) else {
        return;
    };
    after_frame(move || {
        built.try_set(next);
        build_more(built, ends);
    });
}

fn control_of(field: Field, model: &ModelId) -> AnyView {
    match Control::of(&field.parameter) {
        Control::LongText => {
            view! { <text_field::LongText field model=model.clone() /> }.into_any()
        }
        Control::Text => view! { <text_field::Text field /> }.into_any(),
        Control::Media(media) => view! { <media::MediaAddress field media /> }.into_any(),
        Control::Segmented => view! { <segmented::Segmented field /> }.into_any(),
        Control::Select => view! { <choice::Choice field /> }.into_any(),
        Control::Several => view! { <several::Several field /> }.into_any(),
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
pub fn ProblemSummary(
    schema: Arc<Schema>,
    problems: RwSignal<Vec<Problem>>,
    /// Brings the controls into sight, where they are not.
    #[prop(into)]
    reveal: Callback<()>,
) -> impl IntoView {
    let element = NodeRef::<Div>::new();
    // A single problem stands only at its field.
    let is_shown = {
        let schema = schema.clone();
        memo(move || match problems.read().as_slice() {
            [] => false,
            [only] => schema.place_of(&only.parameter).is_none(),
            _ => true,
        })
    };
    effect(move || {
        problems.track();
        if is_shown.get()
            && let Some(element) = element.get()
        {
            let _ = element.focus();
        }
    });
    let line = move |problem: Problem| {
        let at = schema.place_of(&problem.parameter);
        match at {
            Some(at) => {
                let id = Field::id_of(at);
                let focus = move |event: leptos::ev::MouseEvent| {
                    event.prevent_default();
                    reveal.run(());
                    field::focus(&id);
                    // What was written as JSON may have had to make way first.
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
