use std::collections::HashMap;

use atelier_contract::{Draft, Entry, Kind, Media, Parameter, Schema, check, choice_text};
use atelier_studio::compose::table::files::references_of;
use atelier_studio::compose::table::paste::copied_range;
use atelier_studio::compose::table::{Table, cell_label};
use atelier_studio::form::control;
use leptos::prelude::*;
use serde_json::Value;
use web_sys::ClipboardEvent;

use super::composer::Composer;
use super::file_cell::file_cell;
use crate::reactive::boxed::{derived, dynamic, handler, memo, text, when};
use crate::state::uploads;

/// A cell of the table: one parameter of one row.
#[derive(Clone)]
struct Cell {
    composer: Composer,
    row: u64,
    name: String,
    /// `None` if the schema no longer has the parameter.
    parameter: Option<Parameter>,
    label: String,
    excerpts: Excerpts,
    /// The shown columns from this cell on.
    columns: Vec<String>,
}

/// Maps each long text to an excerpt that distinguishes it from the texts of other rows. A text that already differs at its
/// start has no excerpt.
pub type Excerpts = Memo<HashMap<String, String>>;

impl Cell {
    /// Returns the entry of the cell; tracked.
    fn entry(&self) -> Option<Entry> {
        let table = self.composer.table.read();
        let (_, row) = table.row(self.row)?;
        row.draft.get(&self.name).cloned()
    }

    /// Returns the entry as text, empty if there is none; tracked.
    fn text(&self) -> String {
        self.entry()
            .map_or_else(String::new, |entry| entry.to_text())
    }

    /// Returns the value of `aria-invalid`; tracked.
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

    /// Fills this cell and those right of and below it if cells of a spreadsheet are pasted. `takes_lines`: whether the cell may
    /// contain line breaks.
    fn paste(&self, event: &ClipboardEvent, takes_lines: bool) {
        let data = event.clipboard_data();
        let text = data.and_then(|data| data.get_data("text/plain").ok());
        let Some(range) = text.and_then(|text| copied_range(&text, takes_lines)) else {
            return;
        };
        event.prevent_default();
        let composer = self.composer;
        let mut pasted = None;
        let mut paste = |table: &mut Table, form: &Draft, schema: &Schema| {
            pasted = Some(table.paste(self.row, &self.columns, &range, form, schema)?);
            Ok(())
        };
        // New rows are copies of the single form.
        let has_rows = composer
            .table
            .with_untracked(|it| it.has_rows_for(self.row, &range));
        match has_rows {
            true => composer.change(|table, schema| paste(table, &Draft::default(), schema)),
            false => composer.change_with_form(paste),
        };
        if let Some(pasted) = pasted {
            let message = pasted.message();
            let undo = Callback::new(move |()| {
                let schema = composer.schema();
                composer.edit(|table| table.undo_paste(&pasted, &schema));
            });
            composer.undo_offer.offer_until_change(&message, undo);
        }
    }

    /// Returns the default of the parameter, which applies to an empty cell.
    fn default(&self) -> String {
        let default = self.parameter.as_ref().and_then(|it| it.default.as_ref());
        default.map(control::text).unwrap_or_default()
    }
}

/// The field of the cell in the first of `columns`: the shown columns from the cell on. An empty cell leaves the parameter unset.
pub fn cell(
    composer: Composer,
    id: u64,
    number: usize,
    columns: &[String],
    excerpts: Excerpts,
) -> AnyView {
    let Some(name) = columns.first().cloned() else {
        return ().into_any();
    };
    let schema = composer.schema();
    let cell = Cell {
        composer,
        row: id,
        parameter: schema
            .parameter(&name)
            .map(|(parameter, _)| parameter.clone()),
        label: cell_label(&name, number),
        excerpts,
        columns: columns.to_vec(),
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
        kind => match parameter.media().or_else(|| parameter.media_list()) {
            Some(media) => of_media(cell, number, media, parameter.media_list().is_some()),
            None => typed(cell, matches!(kind, Kind::Text | Kind::MultiChoice)),
        },
    }
}

/// A cell with an address, or with a file that is not uploaded yet; that of a list has several of them.
fn of_media(cell: Cell, number: usize, media: Media, is_list: bool) -> AnyView {
    let files = {
        let cell = cell.clone();
        memo(move || cell.entry().as_ref().map(references_of).unwrap_or_default())
    };
    dynamic(move || match files.get() {
        files if files.is_empty() => typed(cell.clone(), !is_list),
        files => {
            let row = (cell.row, number);
            file_cell(
                cell.composer,
                row,
                &cell.name,
                (media, is_list),
                cell.label.clone(),
                files,
            )
        }
    })
}

/// A cell that selects one of `values`.
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

/// A cell with a text field.
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
    let excerpt = {
        let excerpts = cell.excerpts;
        memo(move || {
            let (excerpts, shown) = (excerpts.read(), shown.read());
            // The name of a file says more than its address.
            let name = uploads::file(&shown).map(|file| file.name);
            let excerpt = || excerpts.get(&*shown).cloned();
            name.or_else(excerpt).unwrap_or_default()
        })
    };
    let paste = {
        let cell = cell.clone();
        move |event: ClipboardEvent| cell.paste(&event, is_text)
    };
    let write = move |event| {
        let text = event_target_value(&event);
        cell.set((!text.is_empty()).then_some(Entry::Text(text)));
    };
    if is_text {
        // A `textarea`, because an `input` would remove the line breaks of an imported prompt.
        return view! {
            <textarea
                rows="1"
                aria-label=label
                aria-invalid=invalid
                placeholder=default
                prop:value=shown
                on:input=handler(write)
                on:paste=handler(paste)
            ></textarea>
            // Covers the text while the field does not have the focus.
            <span
                class="cell-told drawn"
                aria-hidden="true"
                dir="auto"
                hidden=when(move || excerpt.read().is_empty())
                data-text=excerpt
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
            on:paste=handler(paste)
        />
    }
    .into_any()
}
