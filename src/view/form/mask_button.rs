//! The button that draws a mask over the picture of the same form.

use std::rc::Rc;

use atelier_contract::Media;
use atelier_contract::output::SafeUrl;
use atelier_studio::form::upload::state::UploadState;
use atelier_studio::mask::target::{self, Candidate, Target};
use atelier_studio::mask::words;
use icondata_lu::LuBrush;
use leptos::prelude::*;
use web_sys::MouseEvent;

use super::output_input;
use super::own_file::MediaField;
use crate::reactive::boxed::{effect, handler, memo, text};
use crate::state::contexts::contexts;
use crate::state::masks::{self, Request};
use crate::state::uploads;
use crate::view::parts::glyph::Glyph;

/// The fields for images of a form.
#[derive(Clone)]
struct Pictures(Vec<MediaField>);

/// Provides the fields of a form to [`view`].
pub fn provide(fields: &[MediaField]) {
    let images = fields.iter().filter(|of| of.media == Media::Image);
    provide_context(Pictures(images.cloned().collect()));
}

/// Returns the button if the field is a mask and the form has a picture for it.
pub fn view(of: &MediaField) -> AnyView {
    if !target::is_mask(&of.field.parameter) {
        return ().into_any();
    }
    let Some(Pictures(fields)) = use_context::<Pictures>() else {
        return ().into_any();
    };
    if find(&fields) == Target::None {
        return ().into_any();
    }
    let message = RwSignal::new(String::new());
    let is_of_other = is_of_other_picture(of, fields.clone());
    store_picture(of);
    // The mask is part of the form, which may be left with the browser's Back.
    on_cleanup(masks::interrupt);
    follow_wish(of, fields.clone(), message);
    let of = of.clone();
    let press = move |_: MouseEvent| {
        let problem = match find(&fields) {
            // The mask would not fit the picture that is about to replace this one.
            Target::Picture(at) if is_uploading(&fields[at]) => Some(missing(&fields[at])),
            Target::Picture(at) => open(&of, &fields[at]),
            Target::Empty(at) => Some(missing(&fields[at])),
            Target::None => None,
        };
        message.set(problem.unwrap_or_default());
    };
    view! {
        <button
            class="button small"
            type="button"
            aria-haspopup="dialog"
            on:click=handler(press)
        >
            <Glyph icon=LuBrush />
            "Draw mask"
        </button>
        <p class="hint" role="status" prop:textContent=text(move || message.get())></p>
        <p class="problem" role="status" prop:textContent=text(move || match is_of_other.get() {
            true => words::OTHER_PICTURE.to_owned(),
            false => String::new(),
        })></p>
    }
    .into_any()
}

/// Opens the dialog once the picture of a form that was opened to draw a mask has its final address.
fn follow_wish(of: &MediaField, fields: Vec<MediaField>, message: RwSignal<String>) {
    let of = of.clone();
    let forgotten = of.clone();
    on_cleanup(move || masks::forget_wanted(&untrack(|| forgotten.key())));
    effect(move || {
        let key = of.key();
        if !masks::is_wanted(&key) {
            return;
        }
        let problem = match find_tracked(&fields) {
            Target::Picture(at) => {
                let picture = fields[at].key();
                let upload = uploads::of_field(&picture);
                let state = upload.map(|upload| upload.state);
                if output_input::may_be_replaced(&picture)
                    || state.as_ref().is_some_and(UploadState::is_running)
                {
                    message.set(words::OPENS_AFTER_UPLOAD.to_owned());
                    return;
                }
                match state {
                    // Its address is about to be put into the field.
                    Some(UploadState::Done(_)) => return,
                    // The field shows why.
                    Some(_) => None,
                    None => untrack(|| open(&of, &fields[at])),
                }
            }
            Target::Empty(_) | Target::None => None,
        };
        masks::forget_wanted(&key);
        message.set(problem.unwrap_or_default());
    });
}

fn find(fields: &[MediaField]) -> Target {
    untrack(|| find_tracked(fields))
}

fn find_tracked(fields: &[MediaField]) -> Target {
    let candidates: Vec<Candidate<'_>> = (fields.iter())
        .map(|of| Candidate {
            parameter: &of.field.parameter,
            is_filled: !of.field.text().trim().is_empty(),
        })
        .collect();
    target::picture_of(&candidates)
}

/// Remembers which picture the mask belongs to, whenever another mask is in the field.
fn store_picture(mask: &MediaField) {
    let mask = mask.clone();
    effect(move || {
        let value = mask.field.text();
        masks::store_picture(&mask.key(), value.trim());
    });
}

/// Whether the mask was drawn over a picture that the form no longer has, or that is about to be replaced.
fn is_of_other_picture(mask: &MediaField, fields: Vec<MediaField>) -> Memo<bool> {
    let (session, mask) = (contexts().session, mask.clone());
    memo(move || {
        let value = mask.field.text();
        let Some(drawn) = masks::picture_of(&mask.key(), value.trim()) else {
            return false;
        };
        let upload = match find_tracked(&fields) {
            Target::Picture(at) | Target::Empty(at) => uploads::of_field(&fields[at].key()),
            Target::None => None,
        };
        // A lost file is uploaded again as it was.
        let is_replaced =
            upload.is_some_and(|upload| upload.state.is_running() && !upload.is_renewed);
        let Target::Picture(at) = find_tracked(&fields) else {
            return is_replaced;
        };
        let picture = fields[at].field.text();
        let address = session.settings().address;
        let now = SafeUrl::media(picture.trim(), address.as_str());
        is_replaced || now.is_none_or(|now| now.as_str() != drawn)
    })
}

fn is_uploading(picture: &MediaField) -> bool {
    let upload = untrack(|| uploads::of_field(&picture.key()));
    upload.is_some_and(|upload| upload.state.is_running())
}

/// Opens the dialog, or returns why it can't.
fn open(mask: &MediaField, picture: &MediaField) -> Option<String> {
    let value = untrack(|| picture.field.text());
    let address = contexts().session.settings_untracked().address;
    let Some(url) = SafeUrl::media(value.trim(), address.as_str()) else {
        return Some(missing(picture));
    };
    let file = uploads::file(value.trim());
    let name = file.map(|file| file.name);
    let of = mask.clone();
    masks::open(Request {
        key: mask.key(),
        picture: url.as_str().to_owned(),
        file_name: target::file_name(name.as_deref(), url.as_str()),
        on_done: Rc::new(move |file| of.accept(vec![file])),
    });
    None
}

/// Explains that the picture must be filled first.
fn missing(picture: &MediaField) -> String {
    let name = &picture.field.parameter.name;
    match is_uploading(picture) {
        true => words::is_uploading(name),
        false => words::needs_picture(name),
    }
}
