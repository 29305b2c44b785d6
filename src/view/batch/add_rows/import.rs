use atelier_contract::Schema;
use atelier_studio::compose::import::{self, Format, Imported, example};
use atelier_studio::compose::panel_items::{PanelItems, not_in_table_message};
use atelier_studio::history::manifest::Manifest;
use atelier_studio::text::plural::counted;
use icondata_lu::LuFileUp;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use crate::browser::file;
use crate::reactive::boxed::{dynamic, effect, handler, memo, spawn, text, when};
use crate::view::batch::composer::{Composer, Offer};
use crate::view::batch::removed_rows::focus_on_items;
use crate::view::form::unknown_names;
use crate::view::parts::focus;
use crate::view::parts::glyph::Glyph;

/// Lines of the report that are shown; a table with more is wrong as a whole.
const MAX_NOTES: usize = 50;

const ALL_THERE: &str = "The table has all of these already. Add them to have them once more.";

/// Which of the rows are put into the table.
#[derive(Clone, Copy)]
enum Addition {
    All,
    /// Those that it does not have.
    New,
    /// All, in the place of what is there.
    Instead,
}

/// Columns that a person has said to be other parameters.
pub type Meant = RwSignal<Vec<(String, String)>>;

/// A table that a person brings: pasted, dropped or chosen as a file. `typed`: its text.
pub fn import(composer: Composer, typed: RwSignal<String>, meant: Meant) -> AnyView {
    let trouble = RwSignal::new(None::<String>);
    // How the file was read, where it does not say that itself.
    let judged = RwSignal::new(None::<&str>);
    let read = memo(move || {
        let typed = typed.read();
        if typed.trim().is_empty() {
            return None;
        }
        Some(import::read(&typed, &composer.schema(), &meant.read()))
    });
    let take = move |files: web_sys::FileList| {
        let Some(chosen) = files.get(0) else {
            return;
        };
        trouble.set(None);
        judged.set(None);
        spawn(async move {
            match file::text(&chosen).await {
                Ok((text, encoding)) => {
                    meant.try_set(Vec::new());
                    judged.try_set((!encoding.is_certain()).then_some(encoding.name));
                    typed.try_set(text);
                }
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
    let add = move |place: Addition| {
        let Some(Ok(imported)) = read.get_untracked() else {
            return;
        };
        let is_done = composer.change(|table, schema| match place {
            Addition::Instead => table.replace_by_imported(imported.numbered(), schema),
            Addition::All => table.append_imported(imported.numbered(), schema),
            Addition::New => {
                table.append_imported(table.unknown_imported(imported.numbered()), schema)
            }
        });
        if is_done {
            typed.set(String::new());
            meant.set(Vec::new());
            // What needs a look is led to.
            let bad = composer.table.with_untracked(|table| table.bad_rows(1));
            focus::once_lost(move || match bad.into_iter().next() {
                Some(row) => composer.shown_bad.set(Some(row)),
                None => focus_on_items(),
            });
        }
    };
    let rows = move || match &*read.read() {
        Some(Ok(imported)) => imported.rows.len(),
        _ => 0,
    };
    let add_new = Callback::new(move |()| add(Addition::New));
    effect(move || {
        let table = composer.table.read();
        let (offer, held_up) = match &*read.read() {
            Some(Ok(imported)) => match PanelItems::of(&imported.rows, None, &table) {
                // What needs a look is added first.
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
        composer.held_up.set(held_up);
    });
    on_cleanup(move || {
        // Its form may be gone as well.
        composer.offered.try_set(None);
        composer.held_up.try_set(None);
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
                    placeholder=example(&composer.schema())
                    prop:value=typed
                    on:input=handler(move |event| typed.set(event_target_value(&event)))
                ></textarea>
                <p class="hint" id="import-hint">
                    "Paste or drop CSV, JSON, JSON Lines or a manifest. Columns go by the parameters' names; \
                     an empty CSV cell leaves its parameter at the default."
                </p>
            </div>
            {file_field(take)}
            <p class="problem" role="alert" prop:textContent=text(move || trouble.get().unwrap_or_default())></p>
            <p
                class="hint"
                role="status"
                prop:textContent=text(move || {
                    let judged = judged.get().filter(|_| !typed.read().is_empty());
                    judged
                        .map(|name| {
                            format!(
                                "The file is not UTF-8; it was read as {name}. Check the texts, which stand above.",
                            )
                        })
                        .unwrap_or_default()
                })
            ></p>
            <div role="status">{dynamic(move || read.get().map(|read| report(read, &composer.schema(), meant)).into_any())}</div>
            <div class="row" hidden=when(move || rows() == 0)>
                <button class="button" type="button" on:click=handler(move |_| add(Addition::All)) prop:textContent=text(move || format!("Add {}", counted(rows(), "item")))></button>
                <button
                    class="button quiet"
                    type="button"
                    hidden=when(move || !has_rows.get())
                    on:click=handler(move |_| add(Addition::Instead))
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
fn report(read: Result<Imported, String>, schema: &Schema, meant: Meant) -> AnyView {
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
    let mend = Callback::new(move |(column, to): (String, Option<String>)| {
        meant.update(|meant| meant.push((column, to.unwrap_or_default())));
        focus::once_lost(|| {
            focus::in_place_to("#import");
        });
    });
    let slips = unknown_names(memo(move || unknown_columns.clone()), mend);
    let bad = imported.bad(schema);
    let count = imported.rows.len();
    let can_be_added = match bad.len() {
        0 if count == 0 && imported.format == Format::Csv => {
            "there are no rows below the names of the columns yet.".to_owned()
        }
        0 if count == 0 => "there are no items in it yet.".to_owned(),
        0 => format!(
            "{} can be added. Generate sends them at once; add them first to look at them in the table.",
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
            {slips}
            <ul>{notes} {more}</ul>
        </div>
    }
    .into_any()
}
