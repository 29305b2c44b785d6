use atelier_contract::Schema;
use atelier_studio::compose::import::{self, Format, Imported, example};
use atelier_studio::compose::panel_items::{PanelItems, not_in_table_message};
use atelier_studio::history::manifest::Manifest;
use atelier_studio::text::plural::counted;
use icondata_lu::LuFileUp;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use crate::browser::chosen::{self, ChosenFile};
use crate::browser::file;
use crate::reactive::boxed::{dynamic, effect, handler, memo, spawn, text, when};
use crate::state::contexts::contexts;
use crate::view::batch::composer::{Composer, Offer};
use crate::view::batch::dropped_files;
use crate::view::batch::removed_rows::focus_on_items;
use crate::view::form::unknown_names;
use crate::view::parts::focus;
use crate::view::parts::glyph::Glyph;
use crate::view::shell::dropped_file::is_own_drag;

/// The number of problems that are listed.
const MAX_NOTES: usize = 50;

const ALL_THERE: &str = "All of these rows are in the table already. Add them to duplicate them.";

/// The rows to put into the table.
#[derive(Clone, Copy)]
enum Addition {
    All,
    /// Only the rows that the table does not have.
    New,
    /// All rows; they replace the rows of the table.
    Replace,
}

/// The parameters that the user has assigned to unknown columns: pairs of column and parameter.
pub type ColumnMapping = RwSignal<Vec<(String, String)>>;

/// The panel that imports a table: pasted, dropped or chosen as a file. `typed`: its text.
pub fn import(composer: Composer, typed: RwSignal<String>, mapping: ColumnMapping) -> AnyView {
    let file_error = RwSignal::new(None::<String>);
    // The encoding of the file, if it had to be guessed.
    let guessed_encoding = RwSignal::new(None::<&str>);
    let read = memo(move || {
        let typed = typed.read();
        if typed.trim().is_empty() {
            return None;
        }
        Some(import::read(&typed, &composer.schema(), &mapping.read()))
    });
    let add = move |place: Addition| {
        let Some(Ok(imported)) = read.get_untracked() else {
            return;
        };
        let is_done = composer.change(|table, schema| match place {
            Addition::Replace => table.replace_by_imported(imported.numbered(), schema),
            Addition::All => table.append_imported(imported.numbered(), schema),
            Addition::New => {
                table.append_imported(table.unknown_imported(imported.numbered()), schema)
            }
        });
        if is_done {
            typed.set(String::new());
            mapping.set(Vec::new());
            // Shows the first row that has a problem.
            let bad = composer.table.with_untracked(|table| table.bad_rows(1));
            focus::when_lost(move || match bad.into_iter().next() {
                Some(row) => composer.row_to_fix.set(Some(row)),
                None => focus_on_items(),
            });
        }
    };
    let all = contexts();
    // The files of the table are matched to its rows by name.
    let open_files = move |files: Vec<ChosenFile>| {
        let (media, tables) = dropped_files::split(composer, files);
        let Some(table) = tables.into_iter().next() else {
            dropped_files::accept(composer, all, media);
            return;
        };
        file_error.set(None);
        guessed_encoding.set(None);
        spawn(async move {
            match file::text(&table.content).await {
                Ok((text, encoding)) => {
                    mapping.try_set(Vec::new());
                    guessed_encoding.try_set((!encoding.is_certain()).then_some(encoding.name));
                    if typed.try_set(text).is_none() && !media.is_empty() {
                        dropped_files::accept(composer, all, media);
                    }
                }
                Err(sentence) => drop(file_error.try_set(Some(sentence))),
            }
        });
    };
    let on_drop = move |event: leptos::ev::DragEvent| {
        let files = chosen::of_transfer(event.data_transfer());
        if !files.is_empty() && !is_own_drag() {
            event.prevent_default();
            open_files(files);
        }
    };
    composer.files.add_named.set(Some(Callback::new(move |()| {
        let has_names = read.with_untracked(|read| {
            let imported = read.as_ref().and_then(|read| read.as_ref().ok());
            imported.is_some_and(|imported| imported.has_file_names(&composer.schema()))
        });
        if has_names {
            add(Addition::New);
        }
    })));
    let rows = move || match &*read.read() {
        Some(Ok(imported)) => imported.rows.len(),
        _ => 0,
    };
    let add_new = Callback::new(move |()| add(Addition::New));
    effect(move || {
        let table = composer.table.read();
        let (offer, block_message) = match &*read.read() {
            Some(Ok(imported)) => match PanelItems::of(&imported.rows, None, &table) {
                // Rows with problems must be added before they can be fixed.
                PanelItems::Only(new)
                | PanelItems::Replacing(new)
                | PanelItems::Additional(new)
                    if !imported.bad(&composer.schema()).is_empty() =>
                {
                    (None, Some(not_in_table_message(new, &table)))
                }
                PanelItems::Only(_) | PanelItems::Replacing(_) | PanelItems::Additional(_) => {
                    let new = table.unknown(&imported.rows);
                    let offer = Offer {
                        left_out: imported.left_out_message(),
                        ..Offer::all(new, &composer.schema(), add_new)
                    };
                    (Some(offer), None)
                }
                PanelItems::InTable if imported.rows.is_empty() => (None, None),
                PanelItems::InTable => (None, Some(ALL_THERE.to_owned())),
            },
            _ => (None, None),
        };
        composer.offered.set(offer);
        composer.block_message.set(block_message);
    });
    on_cleanup(move || {
        // The composer may already be disposed.
        composer.offered.try_set(None);
        composer.block_message.try_set(None);
        composer.files.add_named.try_set(None);
    });
    let has_rows = when(move || composer.table.read().has_rows());
    let is_manifest = when(move || {
        matches!(
            &*read.read(),
            Some(Ok(Imported {
                format: Format::Manifest,
                ..
            }))
        )
    });
    let view_manifest = move |_| match Manifest::read(&typed.read_untracked()) {
        Ok(manifest) => composer.looked_at.set(Some(manifest)),
        Err(sentence) => file_error.set(Some(sentence)),
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
                    placeholder=example(&composer.schema())
                    prop:value=typed
                    on:input=handler(move |event| typed.set(event_target_value(&event)))
                ></textarea>
                <p class="hint" id="import-hint">
                    "Paste or drop CSV, JSON, JSON Lines or a manifest. Columns are matched to parameters by name; an empty CSV \
                     cell keeps its parameter's default."
                </p>
            </div>
            {file_field(open_files)}
            <p class="problem" role="alert" prop:textContent=text(move || file_error.get().unwrap_or_default())></p>
            <p
                class="hint"
                role="status"
                prop:textContent=text(move || {
                    let guessed_encoding = guessed_encoding.get().filter(|_| !typed.read().is_empty());
                    guessed_encoding
                        .map(|name| {
                            format!(
                                "The file is not UTF-8; it was read as {name}. Check the text above.",
                            )
                        })
                        .unwrap_or_default()
                })
            ></p>
            <div role="status">{dynamic(move || read.get().map(|read| report(read, &composer.schema(), mapping)).into_any())}</div>
            <div class="row" hidden=when(move || rows() == 0)>
                <button class="button" type="button" on:click=handler(move |_| add(Addition::All)) prop:textContent=text(move || format!("Add {}", counted(rows(), "item")))></button>
                <button
                    class="button quiet"
                    type="button"
                    hidden=when(move || !has_rows.get())
                    on:click=handler(move |_| add(Addition::Replace))
                >
                    "Replace the table"
                </button>
                <button
                    class="button quiet"
                    type="button"
                    hidden=when(move || !is_manifest.get())
                    on:click=handler(view_manifest)
                >
                    "View only"
                </button>
            </div>
        </div>
    }
    .into_any()
}

/// A button that opens files. `open_files`: called with the chosen ones.
fn file_field(open_files: impl Fn(Vec<ChosenFile>) + 'static) -> AnyView {
    let choose = move |event: leptos::ev::Event| {
        let input = event
            .target()
            .and_then(|target| target.dyn_into::<web_sys::HtmlInputElement>().ok());
        if let Some(input) = input {
            open_files(chosen::of_input(&input));
        }
    };
    view! {
        <label class="button file">
            <Glyph icon=LuFileUp />
            "Choose a file"
            <input
                type="file"
                // Without a label, Firefox appends the text of the native control to the accessible name.
                aria-label="Choose a file"
                accept=".csv,.tsv,.json,.jsonl,.ndjson,.txt,text/csv,application/json"
                on:change=handler(choose)
            />
        </label>
    }
    .into_any()
}

/// The result of the import, with the problems of each row.
fn report(read: Result<Imported, String>, schema: &Schema, mapping: ColumnMapping) -> AnyView {
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
    let left_out = imported.left_out_message();
    let unknown = (!left_out.is_empty()).then(|| {
        view! {
            <p>{left_out}</p>
        }
        .into_any()
    });
    let unknown_columns = imported.unknown_names(schema);
    let rename_column = Callback::new(move |(column, to): (String, Option<String>)| {
        mapping.update(|mapping| mapping.push((column, to.unwrap_or_default())));
        focus::when_lost(|| {
            focus::to_without_scrolling("#import");
        });
    });
    let suggestions = unknown_names(memo(move || unknown_columns.clone()), rename_column);
    let bad = imported.bad(schema);
    let count = imported.rows.len();
    let can_be_added = match bad.len() {
        0 if count == 0 && imported.format == Format::Csv => {
            "there are no rows below the names of the columns yet.".to_owned()
        }
        0 if count == 0 => "there are no items in it yet.".to_owned(),
        0 => format!(
            "{} can be added. Generate sends them at once; add them first to review them in the table.",
            counted(count, "item")
        ),
        n if n == count => format!(
            "{} can be added, but not sent until this is corrected:",
            counted(count, "item")
        ),
        n => format!(
            "{} can be added; {n} of them can't be sent until this is corrected:",
            counted(count, "item")
        ),
    };
    let mut notes: Vec<_> = imported.notes.into_iter().chain(bad).collect();
    notes.sort_by_key(|note| note.row);
    let count = notes.len();
    let notes = notes
        .into_iter()
        .take(MAX_NOTES)
        .map(|note| view! { <li>"Row " {note.row} ": " {note.message}</li> }.into_any())
        .collect_view();
    let more = (count > MAX_NOTES)
        .then(|| view! { <li>{format!("and {} more.", count - MAX_NOTES)}</li> }.into_any());
    view! {
        <div class="report">
            <p>{format!("{kind}: {can_be_added}")}</p>
            {unknown}
            {suggestions}
            <ul>{notes} {more}</ul>
        </div>
    }
    .into_any()
}
