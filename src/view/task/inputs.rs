use atelier_contract::ModelId;
use atelier_engine::Task;
use atelier_studio::form::{control, seed};
use atelier_studio::navigation::route::Route;
use atelier_studio::output::output_cache;
use atelier_studio::share::recipe;
use leptos::prelude::*;
use serde_json::{Map, Number, Value};

use super::{lineage, small_output};
use crate::browser::location;
use crate::reactive::boxed::{dynamic, text};
use crate::state::contexts::contexts;
use crate::state::private_files;
use crate::view::parts::clamped::clamped;
use crate::view::parts::copy_button::CopyButton;

/// The submitted inputs, one row per parameter. When `is_open`, the list is expanded and leaves out the title, which the
/// page shows in full above it.
pub fn inputs(task: &Task, is_open: bool) -> AnyView {
    let above = task.input.title_name().filter(|_| is_open);
    let rows = task
        .input
        .values()
        .iter()
        .filter(|(name, _)| Some(name.as_str()) != above)
        .map(|(name, value)| {
            let shown = match value {
                Value::Number(value) if name == seed::NAME && is_open => seed_view(task, value),
                Value::String(text) => {
                    let source = source_output(task, name, text);
                    let source = source.or_else(|| own_file(task, name, text));
                    source.unwrap_or_else(|| clamped(text.clone(), ""))
                }
                Value::Array(items) if task.uploads.iter().any(|it| it.parameter == *name) => {
                    own_files(task, name, items)
                }
                value => control::text(value).into_any(),
            };
            view! {
                <div>
                    <dt>{name.clone()}</dt>
                    <dd>{shown}</dd>
                </div>
            }
            .into_any()
        })
        .collect_view();
    let all = task.input.values().clone();
    let linked = all.clone();
    // Views with an expanded list place this button elsewhere.
    let link = (!is_open).then(|| copy_link(task.model.clone(), move || linked.clone()));
    let json = move || format!("{:#}", Value::Object(all.clone()));
    // A collapsed list shows the seed outside, because it is often reused.
    let seed = task.input.values().get(seed::NAME);
    let seed = seed.and_then(Value::as_number).filter(|_| !is_open);
    let seed = seed.map(|value| {
        view! {
            <p class="seed-line">
                <span class="muted">"Seed"</span>
                {seed_view(task, value)}
            </p>
        }
        .into_any()
    });
    view! {
        <div class="task-inputs">
        <details class="inputs" open=is_open>
            <summary>"Inputs"</summary>
            <dl translate="no">{rows}</dl>
            <div class="row tight">
                {link}
                <CopyButton label="Copy as JSON" text=json />
            </div>
            {defaults_used(task)}
        </details>
        {seed}
        </div>
    }
    .into_any()
}

/// An input that is an output of another task: its thumbnail and title, and a button that copies its address.
fn source_output(task: &Task, parameter: &str, address: &str) -> Option<AnyView> {
    let mut sources = task.sources.iter();
    let source = sources.find(|source| source.parameter == parameter)?;
    let (key, position) = output_cache::parse_name(&source.output)?;
    let origin = contexts().runner.task(&key)?.get_untracked();
    let url = origin.outputs().get(position)?.clone();
    let kind = origin.output_kind(&url);
    let title = match origin.input.title() {
        "" => "No prompt".to_owned(),
        title => title.to_owned(),
    };
    let address = address.to_owned();
    let copy = move || address.clone();
    let view = view! {
        <span class="input-source">
            <span class="relative-picture" aria-hidden="true">
                {small_output(source.output.clone(), url, kind)}
            </span>
            <span class="relative-title" dir="auto" translate="no">
                {title}
            </span>
            <span title="Copy address">
                <CopyButton label="Copy address" text=copy />
            </span>
        </span>
    };
    Some(view.into_any())
}

/// An input that is a file of the user's own: its thumbnail and name, and a button that copies its address.
fn own_file(task: &Task, parameter: &str, address: &str) -> Option<AnyView> {
    let mut files = task.uploads.iter();
    let file = files.find(|file| file.parameter == parameter && file.url == address)?;
    let address = address.to_owned();
    let copy = move || address.clone();
    let view = view! {
        <span class="input-source">
            <span class="relative-picture" aria-hidden="true">
                {lineage::upload_picture(file)}
            </span>
            <span class="relative-title" dir="auto" translate="no">
                {file.name.clone()}
            </span>
            <span title="Copy address">
                <CopyButton label="Copy address" text=copy />
            </span>
        </span>
    };
    Some(view.into_any())
}

/// A list of addresses of which at least one is that of a file of the user's own.
fn own_files(task: &Task, parameter: &str, items: &[Value]) -> AnyView {
    let items = items.iter().map(|item| {
        let text = control::text(item);
        let file = own_file(task, parameter, &text);
        let shown = file.unwrap_or_else(|| clamped(text, ""));
        view! { <div>{shown}</div> }.into_any()
    });
    items.collect_view().into_any()
}

/// Lists the parameters of the model's present schema that were not submitted: the service used its defaults for them.
fn defaults_used(task: &Task) -> AnyView {
    let all = contexts();
    let catalog = all.catalog;
    let address = task.account.address.clone();
    let (model, sent) = (task.model.clone(), task.input.values().clone());
    let names = text(move || {
        // The schemas of another service are not loaded.
        if all.session.settings().address.as_str() != address {
            return String::new();
        }
        let schema = catalog.schema(&model);
        let names = schema.loaded().map(|schema| {
            let unsent = schema.parameters().map(|(parameter, _)| parameter);
            let unsent = unsent.filter(|parameter| !sent.contains_key(&parameter.name));
            let defaults = unsent.map(|parameter| match &parameter.default {
                Some(default) => format!("{} {}", parameter.name, control::text(default)),
                None => format!("{} (none)", parameter.name),
            });
            let defaults: Vec<String> = defaults.collect();
            match defaults.is_empty() {
                true => String::new(),
                false => format!("Defaults used: {}", defaults.join(", ")),
            }
        });
        names.unwrap_or_default()
    });
    view! { <p class="muted left-out" translate="no" prop:textContent=names></p> }.into_any()
}

/// A button that copies a link containing the inputs, without files that only this user has. If a value looks like a secret,
/// asks first whether the link should contain it: the value may give access to something, as some URLs do.
pub fn copy_link(model: ModelId, values: impl Fn() -> Map<String, Value> + 'static) -> AnyView {
    let all = contexts();
    let notices = all.notices;
    let left_out = RwSignal::new(String::new());
    let link = move |values: &Map<String, Value>| {
        let inputs = untrack(|| private_files::known(all).leave_out(values));
        let link = recipe::link(&model, &inputs);
        left_out.set(match link {
            Some(_) => inputs.left_out_message(),
            None => String::new(),
        });
        if link.is_none() {
            notices.problem("Not copied: these inputs are too long for a link. Copy them as JSON.");
        }
        link.map(|link| format!("{}{link}", location::origin()))
    };
    let values = StoredValue::new_local(values);
    let suspects = RwSignal::new(Vec::new());
    let text = {
        let link = link.clone();
        move || {
            let values = values.with_value(|values| values());
            left_out.set(String::new());
            let found = recipe::suspects(&values);
            let has_none = found.is_empty();
            suspects.set(found);
            has_none.then(|| link(&values)).flatten()
        }
    };
    let question = move |names: Vec<String>| {
        let (with, without) = (link.clone(), link.clone());
        let message = recipe::suspects_message(&names, "link");
        let without = move || {
            let mut others = values.with_value(|values| values());
            others.retain(|name, _| !names.contains(name));
            without(&others)
        };
        view! {
            <span class="row tight">
                {message}
                <CopyButton label="Copy without" text=without />
                <CopyButton label="Copy with" text=move || with(&values.with_value(|it| it())) />
            </span>
        }
        .into_any()
    };
    view! {
        <CopyButton label="Copy link" text />
        <span role="status">
            <span class="hint link-note" prop:textContent=left_out></span>
            {dynamic(move || match suspects.get() {
                none if none.is_empty() => ().into_any(),
                names => question(names),
            })}
        </span>
    }
    .into_any()
}

/// The seed, with a button to copy it and a link that uses it in the model's form.
fn seed_view(task: &Task, value: &Number) -> AnyView {
    let seed = value.to_string();
    let href = format!("{}?seed={seed}", Route::Model(task.model.clone()).path());
    let copied = seed.clone();
    view! {
        <span class="seed" translate="no">
            {seed}
            <span title="Copy seed">
                <CopyButton label="Copy seed" text=move || copied.clone() />
            </span>
            <a class="button quiet" href=href>
                "Use this seed"
            </a>
        </span>
    }
    .into_any()
}
