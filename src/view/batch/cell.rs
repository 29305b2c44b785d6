use atelier_contract::{Entry, Kind, check};
use atelier_engine::control;
use leptos::prelude::*;
use serde_json::Value;

use super::composer::Composer;
use crate::boxed::{derived, handler, text, when};

/// One parameter of one row, edited in place. An empty cell leaves it untouched.
pub fn cell(composer: Composer, id: u64, number: usize, name: String) -> AnyView {
    let schema = composer.schema();
    let parameter = schema
        .parameter(&name)
        .map(|(parameter, _)| parameter.clone());
    let label = format!("{name}, row {number}");
    let entry = {
        let name = name.clone();
        move || {
            let table = composer.table.read();
            let (_, row) = table.row(id)?;
            row.draft.get(&name).cloned()
        }
    };
    let shown = {
        let entry = entry.clone();
        text(move || entry().map_or_else(String::new, |entry| entry.to_text()))
    };
    let invalid = {
        let name = name.clone();
        derived(move || {
            let table = composer.table.read();
            let (_, row) = table.row(id)?;
            let is_wrong = row.problems.iter().any(|problem| problem.parameter == name);
            is_wrong.then(|| "true".to_owned())
        })
    };
    let default = parameter
        .as_ref()
        .and_then(|parameter| parameter.default.as_ref())
        .map(control::text)
        .unwrap_or_default();
    let set = {
        let name = name.clone();
        move |entry: Option<Entry>| {
            composer.change(|table, schema| {
                table.set(id, &name, entry, schema);
                Ok(())
            });
        }
    };
    let choices: Option<Vec<Value>> = parameter.as_ref().and_then(|parameter| {
        match (parameter.kind(), &parameter.allowed_values) {
            (Kind::Enum, Some(values)) => Some(values.clone()),
            (Kind::Boolean, _) => Some(vec![true.into(), false.into()]),
            _ => None,
        }
    });
    if let (Some(values), Some(parameter)) = (choices, parameter.clone()) {
        let of = values.clone();
        let chosen = derived(move || {
            let value = match entry()? {
                Entry::Value(value) => value,
                text => check(&parameter, false, Some(&text)).ok()??,
            };
            of.iter().position(|each| *each == value)
        });
        let is_other = when(move || chosen.get().is_none() && !shown.read().is_empty());
        let options = values
            .iter()
            .enumerate()
            .map(|(at, value)| {
                view! {
                    <option value=at.to_string() prop:selected=when(move || chosen.get() == Some(at))>
                        {control::text(value)}
                    </option>
                }
                .into_any()
            })
            .collect_view();
        let change = move |event| {
            let at: Option<usize> = event_target_value(&event).parse().ok();
            set(at.and_then(|at| values.get(at)).cloned().map(Entry::Value));
        };
        return view! {
            <select aria-label=label aria-invalid=invalid on:change=handler(change)>
                <option value="" prop:selected=when(move || shown.read().is_empty())>
                    {default}
                </option>
                <option
                    value="other"
                    disabled
                    hidden=when(move || !is_other.get())
                    prop:selected=is_other
                >
                    {shown}
                </option>
                {options}
            </select>
        }
        .into_any();
    }
    let is_text = parameter
        .as_ref()
        .is_none_or(|parameter| parameter.kind() == Kind::Text);
    let write = move |event| {
        let text = event_target_value(&event);
        set((!text.is_empty()).then_some(Entry::Text(text)));
    };
    if is_text {
        // Not an input: that would swallow the line breaks of an imported prompt.
        return view! {
            <textarea
                rows="1"
                aria-label=label
                aria-invalid=invalid
                placeholder=default
                prop:value=shown
                on:input=handler(write)
            ></textarea>
        }
        .into_any();
    }
    view! {
        <input
            type="text"
            inputmode="decimal"
            autocomplete="off"
            aria-label=label
            aria-invalid=invalid
            placeholder=default
            prop:value=shown
            on:input=handler(write)
        />
    }
    .into_any()
}
