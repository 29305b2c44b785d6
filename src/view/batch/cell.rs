use std::collections::HashMap;

use atelier_contract::{Entry, Kind, Parameter, check, choice_text};
use atelier_studio::compose::table::cell_label;
use atelier_studio::form::control;
use leptos::prelude::*;
use serde_json::Value;

use super::composer::Composer;
use crate::reactive::boxed::{derived, handler, memo, text, when};

/// One parameter of one row.
#[derive(Clone)]
struct Cell {
    composer: Composer,
    row: u64,
    name: String,
    /// What the schema says of it; `None` where the schema has no such parameter any more.
    parameter: Option<Parameter>,
    label: String,
    told: Told,
}

/// Of long texts what tells them from those of other rows, where that is not their beginning.
pub type Told = Memo<HashMap<String, String>>;

impl Cell {
    /// Tracked.
    fn entry(&self) -> Option<Entry> {
        let table = self.composer.table.read();
        let (_, row) = table.row(self.row)?;
        row.draft.get(&self.name).cloned()
    }

    /// Tracked.
    fn text(&self) -> String {
        self.entry()
            .map_or_else(String::new, |entry| entry.to_text())
    }

    /// For `aria-invalid`; tracked.
    fn invalid(&self) -> Option<String> {
        let table = self.composer.table.read();
        let (_, row) = table.row(self.row).filter(|(_, row)| !row.is_blank())?;
        let mut problems = row.problems.iter();
        let is_wrong = problems.any(|problem| problem.parameter == self.name);
        is_wrong.then(|| "true".to_owned())
    }

    fn set(&self, entry: Option<Entry>) {
        self.composer.change(|table, schema| {
            table.set(self.row, &self.name, entry, schema);
            Ok(())
        });
    }

    /// What holds where it is left empty.
    fn default(&self) -> String {
        let default = self.parameter.as_ref().and_then(|it| it.default.as_ref());
        default.map(control::text).unwrap_or_default()
    }
}

/// One parameter of one row, edited in place. An empty cell leaves it untouched.
pub fn cell(composer: Composer, id: u64, number: usize, name: String, told: Told) -> AnyView {
    let schema = composer.schema();
    let cell = Cell {
        composer,
        row: id,
        parameter: schema
            .parameter(&name)
            .map(|(parameter, _)| parameter.clone()),
        label: cell_label(&name, number),
        told,
        name,
    };
    let Some(parameter) = cell.parameter.clone() else {
        return typed(cell, true);
    };
    match parameter.kind() {
        Kind::Enum => {
            let values = parameter.choices().to_vec();
            chosen(cell, parameter, values)
        }
        Kind::Boolean => chosen(cell, parameter, vec![true.into(), false.into()]),
        kind => typed(cell, matches!(kind, Kind::Text | Kind::MultiChoice)),
    }
}

/// One of these values.
fn chosen(cell: Cell, parameter: Parameter, values: Vec<Value>) -> AnyView {
    let at = {
        let (cell, values) = (cell.clone(), values.clone());
        derived(move || {
            let value = match cell.entry()? {
                Entry::Value(value) => value,
                text => check(&parameter, false, Some(&text)).ok()??,
            };
            values.iter().position(|each| *each == value)
        })
    };
    let shown = {
        let cell = cell.clone();
        text(move || cell.text())
    };
    let invalid = {
        let cell = cell.clone();
        derived(move || cell.invalid())
    };
    let is_other = when(move || at.get().is_none() && !shown.read().is_empty());
    let options = values
        .iter()
        .enumerate()
        .map(|(n, value)| {
            view! {
                <option value=n.to_string() prop:selected=when(move || at.get() == Some(n))>
                    {choice_text(&values, value)}
                </option>
            }
            .into_any()
        })
        .collect_view();
    let (label, default) = (cell.label.clone(), cell.default());
    let change = move |event| {
        let at: Option<usize> = event_target_value(&event).parse().ok();
        cell.set(at.and_then(|at| values.get(at)).cloned().map(Entry::Value));
    };
    view! {
        <select translate="no" aria-label=label aria-invalid=invalid on:change=handler(change)>
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
    .into_any()
}

/// A text, or another value as a text.
fn typed(cell: Cell, is_text: bool) -> AnyView {
    let shown = {
        let cell = cell.clone();
        text(move || cell.text())
    };
    let invalid = {
        let cell = cell.clone();
        derived(move || cell.invalid())
    };
    let (label, default) = (cell.label.clone(), cell.default());
    let cell_told = {
        let told = cell.told;
        memo(move || told.read().get(&*shown.read()).cloned().unwrap_or_default())
    };
    let write = move |event| {
        let text = event_target_value(&event);
        cell.set((!text.is_empty()).then_some(Entry::Text(text)));
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
            // Over the same text, as long as it does not have the focus.
            <span
                class="cell-told drawn"
                aria-hidden="true"
                dir="auto"
                hidden=when(move || cell_told.read().is_empty())
                data-text=cell_told
            ></span>
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
