//! The dialog `Open file`: shows how a file was generated, and fills the form of a model with it.

mod found;
mod models;
mod use_as_input;

use std::rc::Rc;

use atelier_contract::output::OutputKind;
use atelier_studio::recipe_file;
use icondata_lu::LuFolderOpen;
use leptos::html::Dialog;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{ClipboardEvent, DragEvent, HtmlInputElement, Url};

use crate::browser::chosen::{self, ChosenFile};
use crate::files::metadata::{self, FileMetadata};
use crate::reactive::boxed::{dynamic, effect, handler, spawn, when};
use crate::state::contexts::contexts;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::{dialog, focus_return};
use crate::view::shell::dropped_file::{self, OPEN_FILE};
use crate::view::shell::shortcuts;

/// The file that the dialog shows.
#[derive(Clone)]
struct OpenedFile {
    chosen: ChosenFile,
    /// The address of the file for the preview.
    preview: Option<Rc<PreviewUrl>>,
    kind: OutputKind,
    /// Says that only one of several files is shown; empty otherwise.
    note: String,
    /// Identifies the file.
    token: Rc<()>,
    /// `None` while the file is being read.
    metadata: Option<Rc<FileMetadata>>,
}

/// An object URL, which is revoked once it is no longer needed.
struct PreviewUrl(String);

impl Drop for PreviewUrl {
    fn drop(&mut self) {
        // Fails only for an invalid URL.
        let _ = Url::revoke_object_url(&self.0);
    }
}

type Opened = RwSignal<Option<OpenedFile>, LocalStorage>;

/// Returns a button that opens the dialog.
pub fn button() -> AnyView {
    let navigation = contexts().navigation;
    view! {
        <button
            class="button small"
            type="button"
            aria-haspopup="dialog"
            on:click=handler(move |_| shortcuts::open(navigation, OPEN_FILE))
        >
            <Glyph icon=LuFolderOpen />
            "Open file"
        </button>
    }
    .into_any()
}

#[component]
pub fn OpenFile() -> impl IntoView {
    let navigation = contexts().navigation;
    let dialog = NodeRef::<Dialog>::new();
    let is_open = shortcuts::is_open(navigation, OPEN_FILE);
    dialog::follow(dialog, is_open);
    focus_return::follow(is_open);
    let opened: Opened = RwSignal::new_local(None);
    effect(move || match is_open.get() {
        true => show(opened, dropped_file::take()),
        false => opened.set(None),
    });
    let close = move || shortcuts::close(navigation, OPEN_FILE);
    let choose = move |event: web_sys::Event| {
        let target = event.target().and_then(|it| it.dyn_into().ok());
        let files = target.map(|input: HtmlInputElement| chosen::of_input(&input));
        show(opened, files.unwrap_or_default());
    };
    let drag_over = move |event: DragEvent| {
        if chosen::has_type(event.data_transfer().as_ref(), "Files") {
            event.prevent_default();
        }
    };
    let drop_file = move |event: DragEvent| {
        let is_own = dropped_file::is_own_drag();
        let files = chosen::of_transfer(event.data_transfer());
        if !files.is_empty() && !is_own {
            event.prevent_default();
            show(opened, files);
        }
    };
    let paste = move |event: ClipboardEvent| {
        let files = chosen::of_transfer(event.clipboard_data());
        if !files.is_empty() {
            event.prevent_default();
            show(opened, files);
        }
    };
    let contents = move || {
        view! {
            <div class="page-head">
                <h2>"Open file"</h2>
                {dialog::close_button(close, false)}
            </div>
            <div class="row">
                <label class="button file">
                    <Glyph icon=LuFolderOpen />
                    "Choose file"
                    <input type="file" aria-label="Choose file" autofocus on:change=handler(choose) />
                </label>
            </div>
            <p class="hint" hidden=when(move || opened.with(Option::is_some))>
                "A picture, video or sound that was generated: with Atelier, Stable Diffusion web UI, ComfyUI, SwarmUI or \
                 InvokeAI. You can also drop or paste it anywhere on a page. It is read in this browser and sent nowhere."
            </p>
            {dynamic(move || opened.get().map(|file| found::found(&file)).into_any())}
        }
        .into_any()
    };
    view! {
        <dialog
            class="open-file"
            node_ref=dialog
            aria-label="Open file"
            closedby="any"
            on:click=handler(dialog::close_if_outside)
            on:close=dialog::closed(close)
            on:dragover=handler(drag_over)
            on:drop=handler(drop_file)
            on:paste=handler(paste)
        >
            {dialog::contents(is_open, contents)}
        </dialog>
    }
}

/// Shows the first of these files and reads its metadata.
fn show(opened: Opened, files: Vec<ChosenFile>) {
    let count = files.len();
    let Some(chosen) = files.into_iter().next() else {
        return;
    };
    let note = recipe_file::several_message(&chosen.file.name, count);
    let content = chosen.content.clone();
    let kind = OutputKind::of_mime(&chosen.file.media_type);
    let preview = (kind != OutputKind::Other)
        .then(|| Url::create_object_url_with_blob(&content).ok())
        .flatten();
    let preview = preview.map(|url| Rc::new(PreviewUrl(url)));
    let token = Rc::new(());
    opened.set(Some(OpenedFile {
        chosen,
        preview,
        kind,
        note,
        token: token.clone(),
        metadata: None,
    }));
    spawn(async move {
        let metadata = Rc::new(metadata::read(&content).await);
        // Another file may have been opened, or the dialog closed.
        opened.try_update(|opened| {
            let now = opened.as_mut();
            if let Some(now) = now.filter(|now| Rc::ptr_eq(&now.token, &token)) {
                now.metadata = Some(metadata);
            }
        });
    });
}
