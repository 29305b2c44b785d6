//! The dialog in which a picture is cropped, turned and scaled down.

mod frame;
mod tools;

use std::rc::Rc;

use atelier_studio::form::upload::{LocalFile, metadata};
use atelier_studio::picture_edit::edit::{self, Edit};
use atelier_studio::picture_edit::ratio;
use leptos::html::Canvas;
use leptos::prelude::*;
use web_sys::Blob;

use crate::browser::chosen::ChosenFile;
use crate::browser::picture_canvas::{self, Decoded};
use crate::browser::{clean_picture, http, lifecycle};
use crate::reactive::boxed::{spawn, text, when};
use crate::state::picture_edits::{self, Request};
use crate::state::uploads;
use crate::view::parts::picture_dialog::{self, PictureDialog};
use crate::view::parts::question::Question;

/// The edits of the open picture.
#[derive(Clone, Copy)]
pub struct Editor {
    /// `None` until the picture is loaded.
    edit: RwSignal<Option<Edit>>,
    /// The edits when the dialog was opened.
    opened: RwSignal<Option<Edit>>,
    /// The ratio of the crop, if it is fixed.
    ratio: RwSignal<Option<f64>>,
    status: RwSignal<String>,
    problem: RwSignal<String>,
    /// Whether the file of the original carries Content Credentials.
    has_credentials: RwSignal<bool>,
    picture: StoredValue<Option<Rc<Decoded>>, LocalStorage>,
    /// The file of the original.
    file: StoredValue<Option<Blob>, LocalStorage>,
    canvas: NodeRef<Canvas>,
}

impl Editor {
    fn new() -> Self {
        Self {
            edit: RwSignal::new(None),
            opened: RwSignal::new(None),
            ratio: RwSignal::new(None),
            status: RwSignal::new("Loading the picture.".to_owned()),
            problem: RwSignal::new(String::new()),
            has_credentials: RwSignal::new(false),
            picture: StoredValue::new_local(None),
            file: StoredValue::new_local(None),
            canvas: NodeRef::new(),
        }
    }

    fn change(self, change: impl FnOnce(&mut Edit)) {
        self.edit.update(|edit| {
            if let Some(edit) = edit {
                change(edit);
            }
        });
    }

    /// Announces the size of the result.
    fn announce(self) {
        if let Some(edit) = self.edit.try_get_untracked().flatten() {
            self.status.try_set(edit::result_text(edit.result()));
        }
    }

    fn apply(self, change: impl FnOnce(&mut Edit)) {
        self.change(change);
        self.announce();
    }

    /// Keeps to a ratio, or to none.
    fn set_ratio(self, ratio: Option<f64>) {
        self.ratio.set(ratio);
        if let Some(ratio) = ratio {
            self.apply(|edit| edit.crop = edit.crop.fitted(ratio, edit.turned_size()));
        }
    }

    /// Turns the picture. The crop keeps to a fixed ratio.
    fn turn(self, is_clockwise: bool) {
        let ratio = self.ratio.get_untracked();
        self.apply(|edit| {
            edit.turn(is_clockwise);
            if let Some(ratio) = ratio {
                edit.crop = edit.crop.fitted(ratio, edit.turned_size());
            }
        });
    }

    /// Undoes all edits.
    fn restore(self) {
        self.ratio.set(None);
        self.apply(|edit| *edit = Edit::new(edit.original()));
    }

    fn is_changed(self) -> bool {
        let edit = self.edit.try_get_untracked().flatten();
        edit != self.opened.try_get_untracked().flatten()
    }

    /// Loads the picture of a request.
    async fn load(self, request: &Request) -> Option<()> {
        // The service may be unavailable, or not allow reading its files.
        let stored = match uploads::content_at(&request.original) {
            Some(blob) => decode(blob).await,
            None => None,
        };
        let (blob, picture) = match stored {
            Some(stored) => stored,
            None => decode(http::get_blob(&request.original, u64::MAX).await.ok()?).await?,
        };
        let has_credentials = clean_picture::has_credentials(&blob).await;
        self.has_credentials.try_set(has_credentials);
        let size = picture.size();
        let fits = |edit: &Edit| edit.original() == size;
        let opened = request.edit.filter(fits);
        let opened = opened.unwrap_or_else(|| Edit::new(size));
        let edit = request.interrupted.filter(fits).unwrap_or(opened);
        self.picture.try_set_value(Some(Rc::new(picture)));
        self.opened.try_set(Some(opened));
        self.edit.try_set(Some(edit));
        self.file.try_set_value(Some(blob));
        self.announce();
        Some(())
    }

    /// Returns the result as a file, with its name. Without edits, it is the original.
    async fn result(self, edit: Edit, name: Option<&str>) -> Option<(Blob, String)> {
        let (picture, file) = (self.picture.get_value()?, self.file.get_value()?);
        if edit.is_empty() {
            let name = name.unwrap_or("picture");
            return Some((file, name.to_owned()));
        }
        let mime = edit::result_type(&file.type_());
        let written = picture_canvas::encode(&picture, edit, mime).await.ok()?;
        let name = edit::file_name(name, &written.type_());
        Some((written, name))
    }
}

/// Returns a file with its picture, if the browser can read it.
async fn decode(blob: Blob) -> Option<(Blob, Decoded)> {
    let picture = picture_canvas::decode(&blob).await.ok()?;
    Some((blob, picture))
}

const HEADING_ID: &str = "edit-heading";

/// The dialog in which a picture is edited. `state::picture_edits` opens it.
#[component]
pub fn PictureEditor() -> impl IntoView {
    let is_open = when(picture_edits::is_open);
    let editor = StoredValue::new(None::<Editor>);
    let question = Question::default();
    let leave = move || match editor.get_value() {
        Some(editor) if editor.is_changed() => question.ask(),
        _ => picture_edits::close(),
    };
    let contents = move || match picture_edits::request() {
        Some(request) => {
            let new = Editor::new();
            editor.set_value(Some(new));
            content(new, request, leave)
        }
        None => ().into_any(),
    };
    let dialog = PictureDialog {
        is_open,
        heading_id: HEADING_ID,
        question,
        question_texts: [
            "Discard the edits?",
            "The picture was edited since the dialog was opened.",
            "Keep editing",
        ],
        close: picture_edits::close,
        interrupt: picture_edits::interrupt,
    };
    picture_dialog::view(dialog, leave, |_| {}, contents)
}

/// Remembers the edits if the dialog is closed without a decision, because its page was left.
fn keep_if_interrupted(editor: Editor, request: &Request) {
    let (key, original) = (request.key.clone(), request.original.clone());
    on_cleanup(move || {
        let edit = editor.edit.try_get_untracked().flatten();
        let is_undecided = picture_edits::request().is_some() && editor.is_changed();
        if let Some(edit) = edit.filter(|_| is_undecided) {
            picture_edits::keep_interrupted(key, original, edit);
        }
        picture_edits::close();
    });
}

fn content(editor: Editor, request: Request, leave: impl Fn() + Copy + 'static) -> AnyView {
    let choices = ratio::choices(request.ratio);
    let leaving = lifecycle::ask_before_leaving(move || editor.is_changed());
    StoredValue::new_local(leaving);
    let request = Rc::new(request);
    keep_if_interrupted(editor, &request);
    let loading = request.clone();
    spawn(async move {
        if editor.load(&loading).await.is_none() {
            editor.status.try_set(String::new());
            editor.problem.try_set(edit::NOT_READ.to_owned());
        }
    });
    let is_writing = StoredValue::new(false);
    let done = move || {
        let Some(edit) = editor.edit.get_untracked() else {
            return;
        };
        if !editor.is_changed() {
            return picture_edits::close();
        }
        if is_writing.get_value() {
            return;
        }
        is_writing.set_value(true);
        let request = request.clone();
        spawn(async move {
            let result = editor.result(edit, request.name.as_deref()).await;
            // The dialog may have been closed.
            if is_writing.try_set_value(false).is_some() {
                return;
            }
            let Some((content, name)) = result else {
                return editor.problem.set(edit::NOT_WRITTEN.to_owned());
            };
            let file = LocalFile {
                name,
                media_type: content.type_(),
                bytes: content.size() as u64,
                last_modified: None,
            };
            picture_edits::remember(&request, file.clone(), edit);
            picture_edits::close();
            (request.on_done)(ChosenFile { file, content });
        });
    };
    view! {
        {picture_dialog::head(HEADING_ID, "Edit picture", editor.status)}
        {tools::tools(editor, choices)}
        {frame::frame(editor)}
        <p class="hint" role="status" prop:textContent=text(move || match editor.has_credentials.get() {
            true => metadata::CREDENTIALS_OF_EDITED.to_owned(),
            false => String::new(),
        })></p>
        {picture_dialog::foot(editor.problem, leave, done)}
    }
    .into_any()
}
