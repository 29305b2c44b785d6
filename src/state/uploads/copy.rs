//! Puts a copy of a picture into the request instead of an upload.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use atelier_contract::{ModelId, Uploaded};
use atelier_studio::form::upload::embedding;
use atelier_studio::form::upload::state::{UploadEvent, UploadState};
use leptos::prelude::untrack;
use web_sys::Blob;

use super::copy_side::copy_side;
use super::sending::prepare;
use super::{allow_copy, apply, known, of_id};
use crate::browser::file;
use crate::browser::picture::DecodedPicture;
use crate::reactive::boxed::spawn;
use crate::state::contexts::Contexts;

/// A copy of a picture that is to be put into a request.
#[derive(Clone)]
pub struct PictureCopy {
    /// The upload that the service does not accept.
    id: u32,
    max_length: Rc<dyn Fn() -> u64>,
}

impl PictureCopy {
    /// `max_length` returns the maximum length of the data URI when the copy is made: other copies may need the space first.
    pub fn new(id: u32, max_length: impl Fn() -> u64 + 'static) -> Self {
        let max_length = Rc::new(max_length);
        Self { id, max_length }
    }
}

thread_local! {
    /// The copies to make; the first one is being made.
    static QUEUE: RefCell<VecDeque<PictureCopy>> = RefCell::default();
}

/// Puts copies of pictures into the request, as data URIs, one after the other: decoded pictures are large, and a copy gets
/// the space that the earlier ones leave.
pub fn embed_all(all: Contexts, mut copies: Vec<PictureCopy>) {
    copies.retain(|copy| apply(copy.id, UploadEvent::Embed) == Some(UploadState::Embedding));
    let is_running = QUEUE.with_borrow_mut(|queue| {
        let is_running = !queue.is_empty();
        queue.extend(copies);
        is_running
    });
    if is_running {
        return;
    }
    spawn(async move {
        while let Some(copy) = QUEUE.with_borrow(|queue| queue.front().cloned()) {
            embed_one(all, &copy).await;
            QUEUE.with_borrow_mut(VecDeque::pop_front);
        }
    });
}

async fn embed_one(all: Contexts, copy: &PictureCopy) {
    let id = copy.id;
    // The user may have removed or canceled it.
    let Some(upload) = of_id(id).filter(|upload| upload.state == UploadState::Embedding) else {
        return;
    };
    let prepared = prepare(all, id).await;
    let max_length = (copy.max_length)();
    if !embedding::has_space(Some(max_length)) {
        let message = embedding::no_space(&upload.file.name);
        apply(id, UploadEvent::Embedded(Err(message)));
        return;
    }
    let copy = match prepared {
        Ok(Some(picture)) => Ok(copy_of(&picture, &upload.key.model, max_length).await),
        Ok(None) => Ok(None),
        Err(message) => Err(message),
    };
    let result = match copy {
        Err(message) => Err(message),
        Ok(Some(uploaded)) => {
            known::describe(&upload.file, &uploaded);
            Ok(uploaded)
        }
        Ok(None) => {
            allow_copy(id, false);
            Err(embedding::failure(&upload.file.name))
        }
    };
    apply(id, UploadEvent::Embedded(result));
}

/// Returns the largest copy of a picture that fits into a request and is not larger than the user has chosen for the model.
async fn copy_of(picture: &Blob, model: &ModelId, max_length: u64) -> Option<Uploaded> {
    let side = untrack(|| copy_side(model));
    let decoded = DecodedPicture::new(picture).await.ok()?;
    for size in embedding::sizes(decoded.size(), side) {
        let is_unchanged =
            size == decoded.size() && embedding::fits(picture.size() as u64, max_length);
        let copy = match is_unchanged {
            true => picture.clone(),
            false => decoded.resized(size).await.ok()?,
        };
        let bytes = copy.size() as u64;
        if embedding::fits(bytes, max_length) {
            let (width, height) = size;
            return Some(Uploaded {
                url: file::data_url(&copy).await?,
                media_type: copy.type_(),
                bytes: Some(bytes),
                size: Some((width.into(), height.into())),
                expires_at: None,
            });
        }
    }
    None
}
