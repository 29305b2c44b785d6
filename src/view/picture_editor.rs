//! The dialog in which a picture is cropped, turned and scaled down.

mod frame;
mod tools;

use std::rc::Rc;

use atelier_studio::form::upload::LocalFile;
use atelier_studio::picture_edit::edit::{self, Edit};
use atelier_studio::picture_edit::ratio;
use leptos::html::{Canvas, Dialog};
use leptos::prelude::*;
use web_sys::{Blob, Event};

use crate::browser::chosen::ChosenFile;
use crate::browser::picture_canvas::{self, Decoded};
use crate::browser::{http, lifecycle};
use crate::reactive::boxed::{handler, spawn, text, when};
use crate::state::picture_edits::{self, Request};
use crate::view::parts::question::Question;
use crate::view::parts::{dialog, focus_return};

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
        let blob = http::get_blob(&request.original, u64::MAX).await.ok()?;
        let picture = picture_canvas::decode(&blob).await.ok()?;
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

/// The dialog in which a picture is edited. `state::picture_edits` opens it.
#[component]
pub fn PictureEditor() -> impl IntoView {
    let element = NodeRef::<Dialog>::new();
    let is_open = when(picture_edits::is_open);
    dialog::follow(element, is_open);
    focus_return::follow(is_open);
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
    view! {
        <dialog
            class="picture-dialog"
            node_ref=element
            aria-labelledby="edit-heading"
            on:cancel=handler(move |event: Event| {
                event.prevent_default();
                leave();
            })
            // Chromium closes a dialog at the second Esc without asking.
            on:close=handler(|_: Event| picture_edits::interrupt())
        >
            {dialog::contents(is_open, contents)}
        </dialog>
        {question
            .view(
                "Discard the edits?",
                text(|| "The picture was edited since the dialog was opened.".to_owned()),
                "Keep editing",
                "Discard",
                "danger",
                Callback::new(|()| picture_edits::close()),
            )}
    }
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
        <header class="row">
            <h2 id="edit-heading">"Edit picture"</h2>
            <p class="hint" role="status" prop:textContent=editor.status></p>
        </header>
        {tools::tools(editor, choices)}
        {frame::frame(editor)}
        <div class="row dialog-foot">
            <p class="problem" role="alert" prop:textContent=editor.problem></p>
            <button class="button" type="button" on:click=handler(move |_| leave())>
                "Cancel"
            </button>
            <button class="button primary" type="button" on:click=handler(move |_| done())>
                "Done"
            </button>
        </div>
    }
    .into_any()
}
