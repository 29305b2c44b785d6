use atelier_contract::ModelId;
use atelier_engine::route::Route;
use atelier_engine::{Task, control, recipe};
use leptos::prelude::*;
use serde_json::{Map, Value};

use crate::browser::location;
use crate::view::parts::copy_button::CopyButton;

/// Everything that was sent, value by value. Folded where there are several tasks.
pub fn inputs(task: &Task, is_open: bool) -> AnyView {
    let rows = task
        .input
        .values()
        .iter()
        .map(|(name, value)| {
            let is_text = value.is_string();
            view! {
                <div>
                    <dt>{name.clone()}</dt>
                    <dd dir=is_text.then_some("auto")>{control::text(value)}</dd>
                </div>
            }
            .into_any()
        })
        .collect_view();
    let all = task.input.values().clone();
    let json = move || format!("{:#}", Value::Object(all.clone()));
    view! {
        <details class="inputs" open=is_open>
            <summary>"Inputs"</summary>
            <dl>{rows}</dl>
            <div class="row tight">
                {copy_link(&task.model, task.input.values().clone())}
                <CopyButton label="Copy as JSON" text=json />
            </div>
        </details>
    }
    .into_any()
}

/// The link that carries them; none where they are too long for one.
pub fn copy_link(model: &ModelId, values: Map<String, Value>) -> Option<AnyView> {
    let link = recipe::link(model, &values)?;
    let text = move || format!("{}{link}", location::origin());
    Some(view! { <CopyButton label="Copy link" text /> }.into_any())
}

/// The seed of this very result: it makes the same once more, or something like it.
pub fn seed(task: &Task) -> Option<AnyView> {
    let seed = task.input.values().get("seed")?.as_number()?.to_string();
    let href = format!("{}?seed={seed}", Route::Model(task.model.clone()).path());
    let copied = seed.clone();
    Some(
        view! {
            <p class="row tight seed">
                <span class="muted">"Seed"</span>
                <code>{seed}</code>
                <CopyButton label="Copy seed" text=move || copied.clone() />
                <a class="button quiet" href=href>
                    "Use this seed"
                </a>
            </p>
        }
        .into_any(),
    )
}
