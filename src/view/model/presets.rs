//! The dialog of a model's presets.

use atelier_contract::{Draft, ModelId};
use atelier_studio::form::preset::Preset;
use atelier_studio::output::file_name;
use atelier_studio::text::plural::counted;
use icondata_lu::{LuBookmark, LuX};
use leptos::html::Dialog;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlInputElement;

use crate::browser::{download, file};
use crate::reactive::boxed::{dynamic, effect, handler, memo, spawn, text, when};
use crate::state::contexts::contexts;
use crate::state::presets::StoredPresets;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::{dialog, focus, focus_return, viewport};

/// Query parameter that is set while the dialog is open in a window with one pane.
const QUERY: &str = "presets";

/// Returns the button that opens the dialog.
pub fn button(is_open: RwSignal<bool>) -> AnyView {
    view! {
        <button
            class="button quiet small"
            type="button"
            on:click=handler(move |_| is_open.set(true))
        >
            <Glyph icon=LuBookmark />
            "Presets"
        </button>
    }
    .into_any()
}

/// Returns the dialog. It contains a form, so it must be placed outside the input form. `load`: loads a preset into the
/// input form.
pub fn dialog(
    is_open: RwSignal<bool>,
    model: &ModelId,
    draft: RwSignal<Draft>,
    load: impl Fn(Draft) + Clone + Send + Sync + 'static,
) -> AnyView {
    let stored = StoredPresets::of(model);
    let dialog = NodeRef::<Dialog>::new();
    dialog::follow(dialog, is_open.into());
    follow_history(is_open);
    let close = move || is_open.set(false);
    let name = RwSignal::new(String::new());
    let save = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let new_name = name.get_untracked();
        if new_name.trim().is_empty() {
            stored.said.set("A preset needs a name.".to_owned());
            return;
        }
        stored.save(&new_name, draft.get_untracked());
        name.set(String::new());
    };
    let replaces = when(move || stored.presets.read().get(name.read().trim()).is_some());
    let is_empty = when(move || stored.presets.read().is_empty());
    let model = model.clone();
    let contents = move || {
        let load = load.clone();
        let rows = dynamic(move || {
            let presets: Vec<Preset> = stored.presets.read().iter().cloned().collect();
            let rows = presets.into_iter().map(|preset| {
                let load = load.clone();
                row(stored, preset, move |draft| {
                    load(draft);
                    close();
                })
            });
            rows.collect_view().into_any()
        });
        let model = model.clone();
        let export = move |_| {
            let file = file_name::archive(&format!("{} presets", model.subcategory), "json");
            let presets = stored.presets.read_untracked().export(&model);
            download::text(&file, "application/json", &presets);
        };
        view! {
            <div class="page-head">
                <h2>"Presets"</h2>
                {dialog::close_button(close, false)}
            </div>
            <p class="muted" hidden=when(move || !stored.presets.read().is_empty())>
                "Save the form's values under a name to reuse them."
            </p>
            <ul class="preset-list" aria-label="Saved presets" hidden=is_empty>
                {rows}
            </ul>
            <form class="row preset-save" aria-label="Save a preset" on:submit=handler(save)>
                <input
                    type="text"
                    aria-label="Name of the preset"
                    placeholder="Name"
                    autofocus=is_empty
                    maxlength="80"
                    autocomplete="off"
                    prop:value=name
                    on:input=handler(move |event| name.set(event_target_value(&event)))
                />
                <button class="button" type="submit" prop:textContent=text(move || if replaces.get() { "Replace" } else { "Save" }.to_owned())></button>
            </form>
            <div class="row">
                <button class="button quiet small" type="button" hidden=is_empty on:click=handler(export)>
                    "Export"
                </button>
                <label class="button quiet small file">
                    "Import"
                    <input type="file" accept=".json,application/json" on:change=handler(move |event| import(stored, &event)) />
                </label>
            </div>
            <div class="row preset-note">
                <p class="muted" role="status">
                    <span prop:textContent=text(move || stored.said.get())></span>
                    <span prop:textContent=text(move || match &*stored.previous.read() {
                        Some(previous) if previous.is_replaced => format!("Replaced “{}”.", previous.name),
                        Some(previous) => format!("Removed “{}”.", previous.name),
                        None => String::new(),
                    })></span>
                </p>
                <button
                    class="button small undoes"
                    type="button"
                    hidden=when(move || stored.previous.read().is_none())
                    on:click=handler(move |_| restore(stored))
                >
                    "Undo"
                </button>
            </div>
        }
        .into_any()
    };
    view! {
        <dialog
            class="presets"
            node_ref=dialog
            aria-label="Presets"
            on:close=dialog::closed(move || {
                close();
                // The button that opened the dialog may be hidden by now. The focus keeps a form open that is a sheet.
                focus::when_lost(|| {
                    focus::to_without_scrolling(".model-page .form-scroll");
                });
            })
        >
            {dialog::contents(is_open.into(), contents)}
        </dialog>
    }
    .into_any()
}

/// Lets Back close the dialog and Forward open it again in a window with one pane. The next Back closes the sheet below.
fn follow_history(is_open: RwSignal<bool>) {
    let navigation = contexts().navigation;
    let is_in_url = move || navigation.query(QUERY).is_some();
    let was_in_url = untrack(is_in_url);
    // The page was reloaded while the dialog was open.
    if was_in_url {
        is_open.set(true);
    }
    // Whether the entry is being removed: the browser goes back a moment later.
    let is_leaving = StoredValue::new(false);
    // Closing the dialog sets `is_open` twice, but the history entry must be removed only once.
    let is_shown = memo(move || is_open.get());
    effect(move || match is_shown.get() {
        true if viewport::is_one_pane() => navigation.push_query(QUERY, "open"),
        false if !is_leaving.get_value() => {
            is_leaving.set_value(untrack(is_in_url));
            navigation.pop_query(QUERY);
        }
        _ => {}
    });
    let was_in_url = StoredValue::new(was_in_url);
    effect(move || {
        let is_in_url = is_in_url();
        if was_in_url.get_value() == is_in_url {
            return;
        }
        was_in_url.set_value(is_in_url);
        let has_left = is_leaving.get_value();
        is_leaving.set_value(false);
        match has_left && is_open.get_untracked() {
            // The dialog was opened again before the browser went back.
            true => navigation.push_query(QUERY, "open"),
            false => is_open.set(is_in_url),
        }
    });
}

/// Restores the preset that was removed or replaced, and moves the focus to it, because the Undo button disappears.
fn restore(stored: StoredPresets) {
    let previous = stored.previous.get_untracked();
    stored.undo();
    let apply = previous.map(|previous| format!("Apply {}", previous.name));
    let apply = apply.map(|label| format!(".presets [aria-label={}]", focus::quoted(&label)));
    focus_return::when_rendered(apply.into_iter().chain([NAME_FIELD.to_owned()]).collect());
}

/// Removes a preset and moves the focus to the next one, or to the last one.
fn remove_preset(stored: StoredPresets, name: &str) {
    let presets = stored.presets.read_untracked();
    let at = presets.iter().position(|preset| preset.name == name);
    drop(presets);
    stored.remove(name);
    let at = at.unwrap_or_default();
    let selector =
        |place: usize| format!(".preset-list > li:nth-child({place}) > button:last-child");
    focus_return::when_rendered(vec![selector(at + 1), selector(at), NAME_FIELD.to_owned()]);
}

/// CSS selector of the field for the name of a preset.
const NAME_FIELD: &str = ".preset-save input";

/// Imports the presets of the chosen file.
fn import(stored: StoredPresets, event: &leptos::ev::Event) {
    let input = event
        .target()
        .and_then(|it| it.dyn_into::<HtmlInputElement>().ok());
    let Some((input, chosen)) = input.and_then(|input| {
        let chosen = input.files()?.get(0)?;
        Some((input, chosen))
    }) else {
        return;
    };
    spawn(async move {
        let message = match file::text(&chosen).await {
            // The page was left meanwhile.
            Ok(_) if stored.presets.is_disposed() => return,
            Ok((text, _)) => match stored.change(|presets| presets.import(&text)) {
                Ok(count) => format!("{} imported.", counted(count, "preset")),
                Err(sentence) => sentence,
            },
            Err(sentence) => sentence,
        };
        stored.said.try_set(message);
        // Reset the input, so that choosing the same file again fires `change`.
        input.set_value("");
    });
}

fn row(
    stored: StoredPresets,
    preset: Preset,
    load: impl Fn(Draft) + Send + Sync + 'static,
) -> AnyView {
    let summary = preset.summary();
    let Preset { name, draft } = preset;
    let (apply, remove) = (format!("Apply {name}"), format!("Remove {name}"));
    let removed = name.clone();
    view! {
        <li>
            <div class="preset-text">
                <strong dir="auto">{name}</strong>
                <p class="muted" dir="auto">
                    {summary}
                </p>
            </div>
            <button
                class="button"
                type="button"
                aria-label=apply
                on:click=handler(move |_| load(draft.clone()))
            >
                "Apply"
            </button>
            <button
                class="icon-button"
                type="button"
                aria-label=remove
                title="Remove"
                on:click=handler(move |_| remove_preset(stored, &removed))
            >
                <Glyph icon=LuX />
            </button>
        </li>
    }
    .into_any()
}
