use atelier_contract::Schema;
use atelier_engine::compose::import::{self, Format, Imported};
use atelier_engine::manifest::Manifest;
use atelier_engine::plural::{agreeing, counted};
use icondata_lu::LuFileUp;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use crate::boxed::{dynamic, handler, memo, spawn, text, when};
use crate::browser::file;
use crate::view::batch::composer::Composer;
use crate::view::parts::glyph::Glyph;

/// Lines of the report that are shown; a table with more is wrong as a whole.
const MAX_NOTES: usize = 50;

/// A table that a person brings: pasted, dropped or chosen as a file.
pub fn import(composer: Composer) -> AnyView {
    let typed = RwSignal::new(String::new());
    let trouble = RwSignal::new(None::<String>);
    let read = memo(move || {
        let typed = typed.read();
        if typed.trim().is_empty() {
            return None;
        }
        Some(import::read(&typed, &composer.schema()))
    });
    let take = move |files: web_sys::FileList| {
        let Some(chosen) = files.get(0) else {
            return;
        };
        trouble.set(None);
        spawn(async move {
            match file::text(&chosen).await {
                Ok(text) => drop(typed.try_set(text)),
                Err(sentence) => drop(trouble.try_set(Some(sentence))),
            }
        });
    };
    let on_drop = move |event: leptos::ev::DragEvent| {
        let files = event.data_transfer().and_then(|carried| carried.files());
        if let Some(files) = files.filter(|files| files.length() > 0) {
            event.prevent_default();
            take(files);
        }
    };
    let add = move |replace: bool| {
        let Some(Ok(imported)) = read.get_untracked() else {
            return;
        };
        let is_done = composer.change(|table, schema| {
            if replace {
                table.clear();
            }
            table.append(imported.rows, schema)
        });
        if is_done {
            typed.set(String::new());
        }
    };
    let rows = move || match &*read.read() {
        Some(Ok(imported)) => imported.rows.len(),
        _ => 0,
    };
    let has_rows = when(move || !composer.table.read().is_empty());
    let is_manifest = when(move || {
        matches!(
            &*read.read(),
            Some(Ok(Imported {
                format: Format::Manifest,
                ..
            }))
        )
    });
    let look = move |_| match Manifest::read(&typed.read_untracked()) {
        Ok(manifest) => composer.looked_at.set(Some(manifest)),
        Err(sentence) => trouble.set(Some(sentence)),
    };
    view! {
        <div class="import" on:drop=handler(on_drop)>
            <div class="field">
                <label class="label" for="import">
                    "Table"
                </label>
                <textarea
                    id="import"
                    class="mono"
                    rows="4"
                    spellcheck="false"
                    aria-describedby="import-hint"
                    placeholder="prompt,seed\na lighthouse in a storm,7"
                    prop:value=typed
                    on:input=handler(move |event| typed.set(event_target_value(&event)))
                ></textarea>
                <p class="hint" id="import-hint">
                    "Paste or drop CSV, JSON, JSON Lines or a manifest. Columns go by the parameters' names; \
                     an empty CSV cell leaves its parameter at the default."
                </p>
            </div>
            {file_field(take)}
            <p class="problem" role="alert">
                {text(move || trouble.get().unwrap_or_default())}
            </p>
            <div role="status">{dynamic(move || read.get().map(|read| report(read, &composer.schema())).into_any())}</div>
            <div class="row" hidden=when(move || rows() == 0)>
                <button class="button" type="button" on:click=handler(move |_| add(false))>
                    {text(move || format!("Add {}", counted(rows(), "item")))}
                </button>
                <button
                    class="button quiet"
                    type="button"
                    hidden=when(move || !has_rows.get())
                    on:click=handler(move |_| add(true))
                >
                    "Replace the table"
                </button>
                <button
                    class="button quiet"
                    type="button"
                    hidden=when(move || !is_manifest.get())
                    on:click=handler(look)
                >
                    "Only look at it"
                </button>
            </div>
        </div>
    }
    .into_any()
}

/// A file is chosen.
fn file_field(take: impl Fn(web_sys::FileList) + 'static) -> AnyView {
    let choose = move |event: leptos::ev::Event| {
        let input = event
            .target()
            .and_then(|target| target.dyn_into::<web_sys::HtmlInputElement>().ok());
        if let Some(input) = input {
            input.files().into_iter().for_each(&take);
            // The same file may be chosen again after a change.
            input.set_value("");
        }
    };
    view! {
        <label class="button file">
            <Glyph icon=LuFileUp />
            "Choose a file"
            <input
                type="file"
                // In Firefox the name goes on with what the field itself says.
                aria-label="Choose a file"
                accept=".csv,.tsv,.json,.jsonl,.ndjson,.txt,text/csv,application/json"
                on:change=handler(choose)
            />
        </label>
    }
    .into_any()
}

/// What was read, and what was wrong with it, row by row.
fn report(read: Result<Imported, String>, schema: &Schema) -> AnyView {
    let imported = match read {
        Err(sentence) => return view! { <p class="problem">{sentence}</p> }.into_any(),
        Ok(imported) => imported,
    };
    let kind = match imported.format {
        Format::Csv => "CSV",
        Format::Json => "JSON",
        Format::JsonLines => "JSON Lines",
        Format::Manifest => "A manifest",
    };
    let unknown = (!imported.unknown_columns.is_empty()).then(|| {
        view! {
            <p>
                "No parameter of this model, so left out: " {imported.unknown_columns.join(", ")} "."
            </p>
        }
        .into_any()
    });
    let bad = match imported.bad(schema) {
        0 => String::new(),
        n => format!(
            " {n} of them {} a look first.",
            agreeing(n, "needs", "need")
        ),
    };
    let count = imported.notes.len();
    let notes = imported
        .notes
        .into_iter()
        .take(MAX_NOTES)
        .map(|note| view! { <li>"Row " {note.row} ": " {note.message}</li> }.into_any())
        .collect_view();
    let more = (count > MAX_NOTES)
        .then(|| view! { <li>{format!("and {} more.", count - MAX_NOTES)}</li> }.into_any());
    view! {
        <div class="report">
            <p>{format!("{kind}: {} can be added.", counted(imported.rows.len(), "item"))} {bad}</p>
            {unknown}
            <ul>{notes} {more}</ul>
        </div>
    }
    .into_any()
}
