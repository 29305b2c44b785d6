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
use crate::state::presets::KeptPresets;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::{dialog, focus, focus_return, viewport};

/// In the address of a phone while the dialog is open.
const OPEN: &str = "presets";

/// The button that opens them.
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

/// The dialog, which has a form of its own and so stands beside the input's. `put` takes a preset into
/// that.
pub fn dialog(
    is_open: RwSignal<bool>,
    model: &ModelId,
    draft: RwSignal<Draft>,
    put: impl Fn(Draft) + Clone + Send + Sync + 'static,
) -> AnyView {
    let kept = KeptPresets::of(model);
    let dialog = NodeRef::<Dialog>::new();
    dialog::follow(dialog, is_open.into());
    follow_back(is_open);
    let close = move || is_open.set(false);
    let name = RwSignal::new(String::new());
    let save = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let wanted = name.get_untracked();
        if wanted.trim().is_empty() {
            kept.said.set("A preset needs a name.".to_owned());
            return;
        }
        kept.change(|presets| presets.put(&wanted, draft.get_untracked()));
        name.set(String::new());
    };
    let replaces = when(move || kept.presets.read().get(name.read().trim()).is_some());
    let is_empty = when(move || kept.presets.read().is_empty());
    let model = model.clone();
    let contents = move || {
        let put = put.clone();
        let rows = dynamic(move || {
            let presets: Vec<Preset> = kept.presets.read().iter().cloned().collect();
            let rows = presets.into_iter().map(|preset| {
                let put = put.clone();
                row(kept, preset, move |draft| {
                    put(draft);
                    close();
                })
            });
            rows.collect_view().into_any()
        });
        let model = model.clone();
        let export = move |_| {
            let file = file_name::archive(&format!("{} presets", model.subcategory), "json");
            let presets = kept.presets.read_untracked().export(&model);
            download::text(&file, "application/json", &presets);
        };
        view! {
            <div class="page-head">
                <h2>"Presets"</h2>
                {dialog::close_button(close, false)}
            </div>
            <p class="muted" hidden=when(move || !kept.presets.read().is_empty())>
                "Save what is in the form under a name, to use it again."
            </p>
            <ul class="preset-list" aria-label="Kept presets" hidden=is_empty>
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
                    <input type="file" accept=".json,application/json" on:change=handler(move |event| import(kept, &event)) />
                </label>
            </div>
            <p class="muted" role="status">
                <span prop:textContent=text(move || kept.said.get())></span>
                <span prop:textContent=text(move || match &*kept.removed.read() {
                    Some((name, _)) => format!("Removed “{name}”."),
                    None => String::new(),
                })></span>
            </p>
            <button
                class="button small undoes"
                type="button"
                hidden=when(move || kept.removed.read().is_none())
                on:click=handler(move |_| bring_back(kept))
            >
                "Undo"
            </button>
        }
        .into_any()
    };
    view! {
        <dialog
            class="presets"
            node_ref=dialog
            aria-label="Presets"
            on:close=handler(move |_: web_sys::Event| {
                close();
                // What had it may be folded away again: that keeps a form open which is a sheet.
                focus::once_lost(|| {
                    focus::in_place_to(".model-page .form-scroll");
                });
            })
        >
            {dialog::contents(is_open.into(), contents)}
        </dialog>
    }
    .into_any()
}

/// On a phone Back closes the dialog before the sheet that it lies over, and Forward opens it again.
fn follow_back(is_open: RwSignal<bool>) {
    let navigation = contexts().navigation;
    let is_named = move || navigation.query(OPEN).is_some();
    let was_named = untrack(is_named);
    // After a reload.
    if was_named {
        is_open.set(true);
    }
    // Closing sets it twice, and only the first time must take the step out of the history.
    let is_shown = memo(move || is_open.get());
    effect(move || match is_shown.get() {
        true if viewport::is_one_pane() => navigation.push_query(OPEN, "open"),
        true => {}
        false => navigation.pop_query(OPEN),
    });
    let was_named = StoredValue::new(was_named);
    effect(move || {
        let is_named = is_named();
        if was_named.get_value() != is_named {
            is_open.set(is_named);
        }
        was_named.set_value(is_named);
    });
}

/// Brings back what was removed. The button goes: the focus goes to the preset.
fn bring_back(kept: KeptPresets) {
    let removed = kept.removed.get_untracked();
    kept.undo();
    let apply = removed.map(|(name, _)| format!("Apply {name}"));
    let apply = apply.map(|label| format!(".presets [aria-label={}]", focus::quoted(&label)));
    focus_return::once_built(apply.into_iter().chain([NAME.to_owned()]).collect());
}

/// Removes a preset. The focus goes to the one that takes its place, or to the last one.
fn take_away(kept: KeptPresets, name: &str) {
    let presets = kept.presets.read_untracked();
    let at = presets.iter().position(|preset| preset.name == name);
    drop(presets);
    kept.remove(name);
    let at = at.unwrap_or_default();
    let of = |place: usize| format!(".preset-list > li:nth-child({place}) > button:last-child");
    focus_return::once_built(vec![of(at + 1), of(at), NAME.to_owned()]);
}

/// The field for the name of a preset, which is always there.
const NAME: &str = ".preset-save input";

/// Takes in the presets of the file that was chosen.
fn import(kept: KeptPresets, event: &leptos::ev::Event) {
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
        let said = match file::text(&chosen).await {
            // Its page may have gone meanwhile.
            Ok(_) if kept.presets.is_disposed() => return,
            Ok((text, _)) => match kept.change(|presets| presets.import(&text)) {
                Ok(count) => format!("{} taken in.", counted(count, "preset")),
                Err(sentence) => sentence,
            },
            Err(sentence) => sentence,
        };
        kept.said.try_set(said);
        // The same file may be chosen again.
        input.set_value("");
    });
}

fn row(kept: KeptPresets, preset: Preset, put: impl Fn(Draft) + Send + Sync + 'static) -> AnyView {
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
                on:click=handler(move |_| put(draft.clone()))
            >
                "Apply"
            </button>
            <button
                class="icon-button"
                type="button"
                aria-label=remove
                title="Remove"
                on:click=handler(move |_| take_away(kept, &removed))
            >
                <Glyph icon=LuX />
            </button>
        </li>
    }
    .into_any()
}
