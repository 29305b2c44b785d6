//! Files of the user's own as values of an axis. The URL of an uploaded file is appended to the typed values. Until then, Generate
//! is blocked.

use atelier_contract::{Media, Schema};
use atelier_studio::compose::table::files::FileReference;
use atelier_studio::form::upload::acceptance::{self, media_of};
use atelier_studio::form::upload::failure_message;
use atelier_studio::form::upload::state::{UploadState, percent, wait_text};
use atelier_studio::text::plural::counted;
use icondata_lu::LuImagePlus;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlInputElement;

use super::axis::TypedAxis;
use crate::browser::chosen::{self, ChosenFile};
use crate::browser::clock;
use crate::reactive::boxed::{dynamic, effect, handler, text, when};
use crate::state::contexts::{Contexts, contexts};
use crate::state::tables::{ModelTable, files};
use crate::state::uploads;
use crate::view::parts::glyph::Glyph;
use crate::view::shell::dropped_file::is_own_drag;

/// A file that is not among the values of its axis yet.
#[derive(Debug, Clone, PartialEq)]
struct AxisFile {
    axis: usize,
    parameter: String,
    file: FileReference,
}

/// The files of all axes, in the order in which they become values.
#[derive(Clone, Copy)]
pub struct AxisFiles {
    files: RwSignal<Vec<AxisFile>>,
    table: StoredValue<&'static ModelTable, LocalStorage>,
    all: StoredValue<Contexts, LocalStorage>,
}

impl AxisFiles {
    pub fn new(axes: RwSignal<Vec<TypedAxis>>, table: &'static ModelTable) -> Self {
        let all = contexts();
        let this = Self {
            files: RwSignal::new(Vec::new()),
            table: StoredValue::new_local(table),
            all: StoredValue::new_local(all),
        };
        on_cleanup(move || this.end());
        effect(move || {
            let files = this.files.read();
            let Some(first) = files.first() else {
                return;
            };
            // The user may have removed the axis, or chosen another parameter.
            let is_needed = axes.with(|axes| axes.iter().any(|axis| is_axis_of(axis, first)));
            let url = files::url(all, &first.file.key);
            if is_needed && url.is_none() {
                return;
            }
            let first = first.clone();
            drop(files);
            untrack(|| {
                this.forget(&first.file);
                axes.update(|axes| {
                    let axis = axes.iter_mut().find(|axis| is_axis_of(axis, &first));
                    if let Some((axis, url)) = axis.zip(url) {
                        axis.append_line(&url);
                    }
                });
            });
        });
        this
    }

    /// Ends the uploads when the panel is closed, and says so: a sweep without these files has fewer items.
    fn end(self) {
        let left = self.files.try_get_untracked().unwrap_or_default();
        if left.is_empty() {
            return;
        }
        for upload in left
            .iter()
            .filter_map(|file| untrack(|| uploads::of_row(&file.file.key)))
        {
            uploads::remove(upload.id);
        }
        if let Some(all) = self.all.try_get_value() {
            let files = counted(left.len(), "file");
            all.notices.say(format!(
                "The upload of {files} for the sweep ended when its panel was closed. Add the pictures again."
            ));
        }
    }

    /// Returns why Generate is blocked; `None` if all files are among the values. Tracked.
    pub fn block_message(self) -> Option<String> {
        let files = self.files.read();
        let what = match files.as_slice() {
            [] => return None,
            [one] => one.file.name.clone(),
            all => counted(all.len(), "file"),
        };
        Some(format!(
            "The sweep needs {what}: wait for the upload, or remove what you don't need."
        ))
    }

    fn add(self, axis: usize, parameter: &str, media: Media, chosen: Vec<ChosenFile>) {
        for file in chosen {
            let reference = files::reference(&file);
            self.files.update(|files| {
                files.push(AxisFile {
                    axis,
                    parameter: parameter.to_owned(),
                    file: reference.clone(),
                });
            });
            let (table, all) = (self.table.get_value(), self.all.get_value());
            table.upload(all, &reference, parameter, media, file);
        }
    }

    fn forget(self, file: &FileReference) {
        self.files
            .update(|files| files.retain(|it| it.file != *file));
    }

    fn remove(self, file: &FileReference) {
        self.forget(file);
        if let Some(upload) = untrack(|| uploads::of_row(&file.key)) {
            uploads::remove(upload.id);
        }
    }
}

fn is_axis_of(axis: &TypedAxis, file: &AxisFile) -> bool {
    axis.id == file.axis && axis.parameter == file.parameter
}

/// Handles a drop of files on an axis.
pub fn drop_files(
    of: AxisFiles,
    axis: usize,
    parameter: &str,
    schema: &Schema,
    event: &web_sys::DragEvent,
) {
    let found = schema.parameter(parameter);
    let Some(media) = found.and_then(|(parameter, _)| parameter.media()) else {
        return;
    };
    if event.default_prevented() || is_own_drag() {
        return;
    }
    let mut chosen = chosen::of_transfer(event.data_transfer());
    chosen.retain(|chosen| media_of(&chosen.file.media_type) == Some(media));
    if !chosen.is_empty() {
        event.prevent_default();
        of.add(axis, parameter, media, chosen);
    }
}

/// A button that adds files to an axis, and the files that are not among its values yet. `parameter`: that of the axis, with its
/// medium if it has one.
pub fn axis_files(of: AxisFiles, axis: usize, parameter: Memo<(String, Option<Media>)>) -> AnyView {
    let all = contexts();
    let choose = move |event: web_sys::Event| {
        let target = event.target().and_then(|it| it.dyn_into().ok());
        let (name, media) = parameter.get_untracked();
        if let (Some(input), Some(media)) = (target, media) {
            let input: HtmlInputElement = input;
            of.add(axis, &name, media, chosen::of_input(&input));
        }
    };
    let label = text(move || match parameter.read().1 {
        Some(Media::Video) => "Add videos".to_owned(),
        Some(Media::Audio) => "Add sounds".to_owned(),
        _ => "Add pictures".to_owned(),
    });
    let name = text(move || format!("{} to the axis", label.get()));
    let rows = move || {
        let files = of.files.read();
        let own = files.iter().filter(|file| file.axis == axis);
        own.map(|file| row(of, all, file.file.clone()))
            .collect_view()
    };
    view! {
        <div class="axis-files" hidden=when(move || parameter.read().1.is_none())>
            <label class="button small file">
                <Glyph icon=LuImagePlus />
                <span prop:textContent=label></span>
                <input
                    type="file"
                    multiple
                    aria-label=name
                    accept=text(move || match parameter.read().1 {
                        Some(media) => acceptance::accept(media, &uploads::support(all)),
                        None => String::new(),
                    })
                    on:change=handler(choose)
                />
            </label>
            <ul>{dynamic(move || rows().into_any())}</ul>
        </div>
    }
    .into_any()
}

fn row(of: AxisFiles, all: Contexts, file: FileReference) -> AnyView {
    let key = file.key.clone();
    let state = move || uploads::of_row(&key).map(|upload| (upload.id, upload.state));
    let (of_words, of_retry, of_press) = (state.clone(), state.clone(), state);
    let name = file.name.clone();
    let words = text(move || match of_words().map(|(_, state)| state) {
        Some(UploadState::Sending { sent, total }) => format!("{} %", percent(sent, total)),
        Some(UploadState::Failed { message, .. }) => failure_message(&name, &message),
        Some(UploadState::Done(_)) => "100 %".to_owned(),
        Some(state) => wait_text(&state, clock::time_of_day),
        None => String::new(),
    });
    let can_retry = when(move || {
        let state = of_retry().map(|(_, state)| state);
        matches!(
            state,
            Some(UploadState::Failed {
                can_retry: true,
                ..
            })
        )
    });
    let retry = move |_: leptos::ev::MouseEvent| {
        if let Some((id, _)) = untrack(&of_press) {
            uploads::retry(all, id);
        }
    };
    let shown = file.name.clone();
    view! {
        <li class="row tight">
            <span translate="no">{shown.clone()}</span>
            <span class="muted" translate="no" role="status" prop:textContent=words></span>
            <button
                class="button small"
                type="button"
                aria-label=format!("Try again: {shown}")
                hidden=when(move || !can_retry.get())
                on:click=handler(retry)
            >
                "Try again"
            </button>
            <button
                class="button small"
                type="button"
                aria-label=format!("Remove {shown}")
                on:click=handler(move |_: leptos::ev::MouseEvent| of.remove(&file))
            >
                "Remove"
            </button>
        </li>
    }
    .into_any()
}
