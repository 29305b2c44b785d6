//! The dialog in which a mask is drawn over a picture.

mod board;
mod tools;

use std::rc::Rc;

use atelier_contract::output::OutputKind;
use atelier_studio::form::upload::LocalFile;
use atelier_studio::mask::png::White;
use atelier_studio::mask::words;
use leptos::prelude::*;
use web_sys::{HtmlImageElement, KeyboardEvent};

use self::board::Board;
use crate::browser::chosen::ChosenFile;
use crate::browser::{lifecycle, mask_file};
use crate::reactive::boxed::{spawn, text, when};
use crate::state::masks::{self, Request};
use crate::view::parts::media::MediaView;
use crate::view::parts::picture_dialog::{self, PictureDialog};
use crate::view::parts::question::Question;

const HEADING_ID: &str = "mask-heading";

/// The dialog in which a mask is drawn. `state::masks` opens it.
#[component]
pub fn MaskDialog() -> impl IntoView {
    let is_open = when(masks::is_open);
    let board = StoredValue::new(None::<Board>);
    let question = Question::default();
    let leave = move || {
        let board = board.get_value();
        match board {
            Some(board) if board.leave_rectangle() => {}
            Some(board) if board.is_changed() => question.ask(),
            _ => masks::close(),
        }
    };
    let contents = move || match masks::request() {
        Some(request) => {
            let new = Board::new();
            board.set_value(Some(new));
            content(new, request, leave)
        }
        None => ().into_any(),
    };
    let key = move |event: KeyboardEvent| {
        if let Some(board) = board.get_value() {
            tools::key(board, &event);
        }
    };
    let dialog = PictureDialog {
        is_open,
        heading_id: HEADING_ID,
        question,
        question_texts: [
            "Discard the changes?",
            "The mask was changed since the dialog was opened.",
            "Keep drawing",
        ],
        close: masks::close,
        interrupt: masks::interrupt,
    };
    picture_dialog::view(dialog, leave, key, contents)
}

/// Remembers the mask if the dialog is closed without a decision, because its page was left.
fn keep_if_interrupted(board: Board, request: &Request) {
    let (key, picture) = (request.key.clone(), request.picture.clone());
    on_cleanup(move || {
        let bitmap = masks::request().and_then(|_| board.bitmap());
        if let Some(bitmap) = bitmap.filter(|_| board.is_changed()) {
            masks::remember(&key, &picture, &bitmap);
        }
        masks::close();
    });
}

fn content(board: Board, request: Request, leave: impl Fn() + Copy + 'static) -> AnyView {
    board.follow();
    let leaving = lifecycle::ask_before_leaving(move || board.is_changed());
    StoredValue::new_local(leaving);
    let model = request.key.model.clone();
    let white = RwSignal::new(masks::white(&model));
    let problem = RwSignal::new(String::new());
    let picture = request.picture.clone();
    let on_load = {
        let (key, picture) = (request.key.clone(), picture.clone());
        Callback::new(move |image: HtmlImageElement| {
            let size = (image.natural_width(), image.natural_height());
            if size.0 > 0 && size.1 > 0 {
                board.load(size, masks::recall(&key, &picture, size));
            }
        })
    };
    let request = Rc::new(request);
    keep_if_interrupted(board, &request);
    let done = move || {
        let request = request.clone();
        let Some(bitmap) = board.bitmap() else {
            return problem.set(words::NO_PICTURE.to_owned());
        };
        if bitmap.is_empty() {
            return problem.set(words::EMPTY.to_owned());
        }
        if board.is_locked.get_untracked() {
            return;
        }
        board.is_locked.set(true);
        board.status.set(words::WRITING.to_owned());
        problem.set(String::new());
        let white = white.get_untracked();
        spawn(async move {
            let file = mask_file::write(&bitmap, white).await;
            // The dialog may have been closed.
            if board.is_locked.try_set(false).is_some() {
                return;
            }
            let Some(content) = file else {
                return problem.set(words::NOT_WRITTEN.to_owned());
            };
            masks::remember(&request.key, &request.picture, &bitmap);
            let file = LocalFile {
                name: request.file_name.clone(),
                media_type: mask_file::TYPE.to_owned(),
                bytes: content.size() as u64,
                last_modified: None,
            };
            masks::remember_file(&request, &file);
            masks::close();
            (request.on_done)(ChosenFile { file, content });
        });
    };
    let choose_white = move |chosen: White| {
        white.set(chosen);
        masks::set_white(&model, chosen);
    };
    view! {
        {picture_dialog::head(HEADING_ID, "Mask", board.status)}
        {tools::tools(board)}
        <div
            class="picture-stage"
            node_ref=board.stage
            tabindex="0"
            autofocus
            role="application"
            aria-label="Picture with mask"
            aria-describedby="mask-keys"
        >
            <div
                class="picture-shown"
                style:left=text(move || board.place_of_picture()[0].clone())
                style:top=text(move || board.place_of_picture()[1].clone())
                style:width=text(move || board.place_of_picture()[2].clone())
                style:height=text(move || board.place_of_picture()[3].clone())
            >
                <MediaView url=picture kind=OutputKind::Image label="" on_load />
            </div>
            <canvas node_ref=board.canvas aria-hidden="true"></canvas>
            {tools::cursor(board)}
        </div>
        <p class="hint" id="mask-keys">
            {words::KEYS}
        </p>
        {tools::meaning(white, choose_white)}
        {picture_dialog::foot(problem, leave, done)}
    }
    .into_any()
}
