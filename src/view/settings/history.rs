use atelier_studio::history::history_file::{Owner, stored_message};
use atelier_studio::output::output_cache;
use atelier_studio::output::upload_copy;
use atelier_studio::share::recipe;
use icondata_lu::{LuDownload, LuUpload};
use leptos::prelude::*;
use web_sys::HtmlInputElement;

use super::tick::Tick;
use crate::browser::{clock, download};
use crate::files::history_file::{self, Progress};
use crate::reactive::boxed::{effect, handler, spawn, text, when};
use crate::state::batches::Batches;
use crate::state::contexts::contexts;
use crate::view::parts::glyph::Glyph;

/// Exports and imports the history of this browser as one file.
#[component]
pub fn HistoryFile() -> impl IntoView {
    let all = contexts();
    // Batches are read only once they are needed.
    Batches::new(all).follow();
    let with_outputs = RwSignal::new(false);
    let are_mine = RwSignal::new(false);
    let progress = RwSignal::new(None::<Progress>);
    let outcome = RwSignal::new(Ok(String::new()));
    let copies = RwSignal::new(String::new());
    effect(move || {
        all.runner.track_copies();
        all.runner.track_phases();
        // Outputs that were sent as data are always packed: they have no address from which they could be fetched again.
        let stored = all.runner.with_tasks(stored_message);
        let stored = stored.map_or_else(String::new, |stored| format!("; {stored}, in any case"));
        spawn(async move {
            let known = all.runner.copies().await.unwrap_or_default();
            let size = output_cache::size(output_cache::total(&known));
            let count = upload_copy::counted_copies(&known);
            copies.try_set(format!("{count}, {size}{stored}"));
        });
    });
    let suspects = text(move || {
        all.runner.track_phases();
        let found = all
            .runner
            .with_tasks(|tasks| recipe::suspects_of(tasks.iter().copied()));
        match found.is_empty() {
            true => String::new(),
            false => recipe::suspects_message(&found, "file"),
        }
    });
    let on_progress = move |now| {
        progress.try_set(Some(now));
    };
    let begin = move || {
        outcome.set(Ok(String::new()));
        progress.set(Some(Progress::Started));
    };
    let end = move |result| {
        progress.try_set(None);
        outcome.try_set(result);
    };
    let export = move |_| {
        begin();
        spawn(async move {
            let with_outputs = with_outputs.get_untracked();
            let packed = history_file::export(all, with_outputs, on_progress).await;
            end(packed.map(|blob| {
                let day = clock::local(clock::now()).day;
                let name = format!("atelier-history-{}.zip", day.iso());
                download::blob(&name, &blob);
                format!("{name} saved.")
            }));
        });
    };
    let import = move |event: web_sys::Event| {
        let input = event_target::<HtmlInputElement>(&event);
        let Some(file) = input.files().and_then(|files| files.get(0)) else {
            return;
        };
        begin();
        let owner = match are_mine.get_untracked() {
            true => Owner::Importer,
            false => Owner::Named,
        };
        spawn(async move {
            let imported = history_file::import(all, file.into(), owner, on_progress).await;
            end(imported.map(|imported| imported.user_message()));
            // Allows the user to choose the same file again.
            input.set_value("");
        });
    };
    let is_busy = when(move || progress.read().is_some());
    view! {
        <section class="panel form" aria-labelledby="history-heading">
            <h2 id="history-heading">"History"</h2>
            <p class="hint">
                "Every task of this browser in one file: inputs, states, addresses of outputs, favorites and \
                batches, but neither token nor User ID. Importing adds what is missing, and sends nothing."
            </p>
            <p class="hint" hidden=when(move || suspects.read().is_empty()) prop:textContent=suspects></p>
            <div class="field">
                <Tick
                    id="history-outputs"
                    label="With kept outputs"
                    checked=with_outputs
                    on_change=|()| ()
                />
                <p class="hint">{copies}</p>
            </div>
            <div class="field">
                <Tick
                    id="history-mine"
                    label="Imported tasks are mine"
                    checked=are_mine
                    on_change=|()| ()
                />
                <p class="hint">
                    "Tasks exported by this browser are recognized as yours. From another browser: tasks still under way at \
                     this service are followed with your User ID."
                </p>
            </div>
            <div class="row">
                <button class="button" type="button" prop:disabled=is_busy on:click=handler(export)>
                    <Glyph icon=LuDownload />
                    "Export history"
                </button>
                <label class="button file">
                    <Glyph icon=LuUpload />
                    "Import history"
                    <input
                        type="file"
                        aria-label="Import history"
                        accept=".zip,application/zip"
                        prop:disabled=is_busy
                        on:change=handler(import)
                    />
                </label>
            </div>
            <p role="status" class:problem=when(move || outcome.read().is_err()) prop:textContent=text(move || match progress.get() {
                    Some(progress) => progress.user_message(),
                    None => outcome.get().unwrap_or_else(|sentence| sentence),
                })></p>
        </section>
    }
}
