//! Puts a copy of a picture into the request instead of an upload.

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

/// Puts the picture of an upload that the service does not accept into the request, as a data URI. `max_length`: the
/// maximum length of the data URI.
pub fn embed(all: Contexts, id: u32, max_length: u64) {
    embed_all(all, vec![(id, max_length)]);
}

/// Puts the pictures of several uploads into the request, as [`embed`], one after the other: decoded pictures are large.
pub fn embed_all(all: Contexts, mut uploads: Vec<(u32, u64)>) {
    uploads.retain(|(id, _)| apply(*id, UploadEvent::Embed) == Some(UploadState::Embedding));
    spawn(async move {
        for (id, max_length) in uploads {
            embed_one(all, id, max_length).await;
        }
    });
}

async fn embed_one(all: Contexts, id: u32, max_length: u64) {
    // The user may have removed or canceled it.
    let Some(upload) = of_id(id).filter(|upload| upload.state == UploadState::Embedding) else {
        return;
    };
    let copy = match prepare(all, id).await {
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
