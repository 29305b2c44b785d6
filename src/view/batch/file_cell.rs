//! A cell whose file is not uploaded yet.

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

/// The name of the file and the progress of its upload. A failed upload can be tried again, or another file be chosen.
/// `label`: that of the cell. `number`: that of the row.
pub fn file_cell(
    composer: Composer,
    (row, number): (u64, usize),
    parameter: &str,
    media: Media,
    label: String,
    file: FileReference,
) -> AnyView {
    let all = contexts();
    let upload = memo(move || uploads::of_row(&file.key).map(|upload| (upload.id, upload.state)));
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
        if let Some(file) = chosen::of_input(&input).into_iter().next() {
            let reference = files::reference(&file);
            let (table, schema) = (composer.keeping(), composer.schema());
            table.edit_files(|table| table.set_file(row, &parameter, &reference, &schema));
            table.upload(all, &reference, &parameter, media, file);
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
            <span class="file-name" title=file.name.clone()>
                {file.name.clone()}
            </span>
            <span class="row tight">
                <progress
                    hidden=when(move || !is_running.get())
                    aria-label=format!("Upload of {}", file.name)
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
