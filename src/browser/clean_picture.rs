//! Removes location and camera data from pictures. `studio::form::upload::metadata` decides how.

use atelier_studio::form::upload::metadata::{self, Piece, Plan};
use js_sys::{Array, Uint8Array};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, BlobPropertyBag};

use super::picture;

/// The result for a file.
pub enum Cleaned {
    /// It is sent unchanged.
    Unchanged,
    /// It is sent unchanged because of its Content Credentials.
    HasCredentials,
    /// This file is sent instead.
    Changed(Blob),
}

/// Returns what to send for a file.
///
/// # Errors
///
/// The file can't be read, or must be drawn again and the browser can't do that.
pub async fn clean(file: &Blob) -> Result<Cleaned, JsValue> {
    let bytes = JsFuture::from(file.array_buffer()).await?;
    let bytes = Uint8Array::new(&bytes).to_vec();
    match metadata::plan(&bytes) {
        Plan::Keep => Ok(Cleaned::Unchanged),
        Plan::KeepCredentials => Ok(Cleaned::HasCredentials),
        Plan::Join(pieces) => join(file, &pieces).map(Cleaned::Changed),
        // Browsers apply the orientation when they decode a picture.
        Plan::Redraw(format, otherwise) => {
            let drawn = match picture::convert(file, format.mime()).await {
                Ok(drawn) => drawn,
                // A photo of many megapixels is too large for a canvas on some phones.
                Err(error) if otherwise.is_empty() => return Err(error),
                Err(_) => join(file, &otherwise)?,
            };
            Ok(Cleaned::Changed(drawn))
        }
    }
}

/// Whether a file carries Content Credentials.
pub async fn has_credentials(file: &Blob) -> bool {
    let Ok(bytes) = JsFuture::from(file.array_buffer()).await else {
        return false;
    };
    let bytes = Uint8Array::new(&bytes).to_vec();
    metadata::plan(&bytes) == Plan::KeepCredentials
}

/// Returns the first bytes of a file.
pub async fn head(file: &Blob, length: usize) -> Option<Vec<u8>> {
    let start = file.slice_with_f64_and_f64(0.0, length as f64).ok()?;
    let bytes = JsFuture::from(start.array_buffer()).await.ok()?;
    Some(Uint8Array::new(&bytes).to_vec())
}

fn join(file: &Blob, pieces: &[Piece]) -> Result<Blob, JsValue> {
    let parts = Array::new();
    for piece in pieces {
        match piece {
            Piece::Original(range) => {
                let (start, end) = (range.start as f64, range.end as f64);
                let piece = file.slice_with_f64_and_f64(start, end)?;
                parts.push(&piece);
            }
            Piece::New(bytes) => {
                parts.push(&Uint8Array::from(bytes.as_slice()));
            }
        }
    }
    let options = BlobPropertyBag::new();
    options.set_type(&file.type_());
    Blob::new_with_blob_sequence_and_options(&parts, &options)
}
