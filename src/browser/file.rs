//! Files that a person brings.

use wasm_bindgen_futures::JsFuture;
use web_sys::Blob;

/// Larger files are no tables of inputs.
const MAX_BYTES: f64 = 32.0 * 1024.0 * 1024.0;

/// The text of a file.
///
/// # Errors
///
/// A sentence for a person: the file is too large, or can't be read.
pub async fn text(file: &Blob) -> Result<String, String> {
    if file.size() > MAX_BYTES {
        return Err("The file is larger than 32 MB.".into());
    }
    all_text(file).await
}

/// The same, however large it is.
///
/// # Errors
///
/// A sentence for a person: the file can't be read.
pub async fn all_text(file: &Blob) -> Result<String, String> {
    let text = JsFuture::from(file.text()).await.ok();
    text.and_then(|text| text.as_string())
        .ok_or_else(|| "The file could not be read.".into())
}
