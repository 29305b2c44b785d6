//! A cell whose files are not uploaded yet.

use atelier_contract::Media;
use atelier_studio::compose::table::files::FileReference;
use atelier_studio::form::upload::acceptance;
use atelier_studio::form::upload::state::{UploadState, percent, wait_text};
use icondata_lu::{LuFolderOpen, LuRotateCcw, LuX};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlInputElement;

use super::composer::Composer;
use crate::browser::{chosen, clock};
use crate::reactive::boxed::{handler, memo, text, when};
use crate::state::contexts::contexts;
use crate::state::tables::files;
use crate::state::uploads;
use crate::view::parts::focus;
use crate::view::parts::glyph::Glyph;

/// The names of the files and the progress of their uploads. A failed upload can be tried again, or another file be chosen.
/// `media`: that of the column, and whether its cells are lists. `label`: that of the cell. `number`: that of the row.
pub fn file_cell(
    composer: Composer,
    (row, number): (u64, usize),
    parameter: &str,
    (media, is_list): (Media, bool),
    label: String,
    files: Vec<FileReference>,
) -> AnyView {
    let all = contexts();
    let names = files.iter().map(|file| file.name.as_str());
    let names = names.collect::<Vec<_>>().join(", ");
    // The upload that is shown: one that needs the user, or else one that has not ended.
    let upload = memo(move || {
        let uploads = files.iter().map(|file| {
            let upload = uploads::of_row(&file.key);
            upload.map(|upload| (upload.id, upload.state))
        });
        let rank = |upload: &Option<(u32, UploadState)>| match upload {
            None => 0,
            Some((_, UploadState::Failed { .. } | UploadState::Canceled)) => 1,
            Some((_, UploadState::Done(_))) => 3,
            Some(_) => 2,
        };
        uploads.min_by_key(rank).flatten()
    });
    let state = move || upload.get().map(|(_, state)| state);
    let is_running = when(move || state().is_some_and(|state| state.is_running()));
    let can_retry = when(move || {
        matches!(
            state(),
            Some(
                UploadState::Failed {
                    can_retry: true,
                    ..
                } | UploadState::RetryingAt { can_skip: true, .. }
            )
        )
    });
    let words = text(move || match state() {
        None => "Not uploaded".to_owned(),
        Some(UploadState::Sending { sent, total }) => format!("{} %", percent(sent, total)),
        Some(UploadState::Done(_)) => "100 %".to_owned(),
        Some(UploadState::Failed { .. }) => "Failed".to_owned(),
        Some(UploadState::Canceled) => "Canceled".to_owned(),
        Some(state) => wait_text(&state, clock::time_of_day),
    });
    let retry = move |_: leptos::ev::MouseEvent| {
        if let Some((id, _)) = upload.get_untracked() {
            uploads::retry(all, id);
        }
    };
    let cell = label.clone();
    let keep_focus = move || {
        let cell = cell.clone();
        focus::when_lost(move || {
            focus::to_without_scrolling(&format!(".sheet [aria-label={}]", focus::quoted(&cell)));
        });
    };
    let (parameter, of_removal, kept) = (
        parameter.to_owned(),
        parameter.to_owned(),
        keep_focus.clone(),
    );
    let choose = move |event: web_sys::Event| {
        let target = event.target().and_then(|it| it.dyn_into().ok());
        let Some::<HtmlInputElement>(input) = target else {
            return;
        };
        let chosen = chosen::of_input(&input);
        if !chosen.is_empty() {
            let references: Vec<FileReference> = chosen.iter().map(files::reference).collect();
            let (table, schema) = (composer.keeping(), composer.schema());
            table.edit_files(|table| table.set_files(row, &parameter, &references, &schema));
            for (reference, file) in references.iter().zip(chosen) {
                table.upload(all, reference, &parameter, media, file);
            }
            kept();
        }
    };
    let remove = move |_: leptos::ev::MouseEvent| {
        let schema = composer.schema();
        let table = composer.keeping();
        table.edit_files(|table| table.set(row, &of_removal, None, &schema));
        keep_focus();
    };
    view! {
        <div class="file-cell" role="group" aria-label=label tabindex="-1">
            <span class="file-name" title=names.clone()>
                {names.clone()}
            </span>
            <span class="row tight">
                <progress
                    hidden=when(move || !is_running.get())
                    aria-label=format!("Upload of {names}")
                    max=text(move || match state() {
                        Some(UploadState::Sending { total, .. }) => total.max(1).to_string(),
                        _ => "1".to_owned(),
                    })
                    prop:value=text(move || match state() {
                        Some(UploadState::Sending { sent, .. }) => sent.to_string(),
                        _ => "0".to_owned(),
                    })
                ></progress>
                <span class="file-state" title=words prop:textContent=words></span>
                <button
                    class="icon-button"
                    type="button"
                    aria-label=format!("Try again, row {number}")
                    title="Try again"
                    hidden=when(move || !can_retry.get())
                    on:click=handler(retry)
                >
                    <Glyph icon=LuRotateCcw />
                </button>
                <label class="icon-button file" title="Choose file" hidden=is_running>
                    <Glyph icon=LuFolderOpen />
                    <input
                        type="file"
                        multiple=is_list
                        aria-label=format!("Choose file, row {number}")
                        accept=text(move || acceptance::accept(media, &uploads::support(all)))
                        on:change=handler(choose)
                    />
                </label>
                <button
                    class="icon-button"
                    type="button"
                    aria-label=format!("Remove the file, row {number}")
                    title="Remove the file"
                    on:click=handler(remove)
                >
                    <Glyph icon=LuX />
                </button>
            </span>
        </div>
    }
    .into_any()
}
