//! Reads files that the user opened.

use atelier_studio::text::encoding::{self, Encoding};
use futures::channel::oneshot;
use gloo_events::EventListener;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, FileReader, TextDecoder, TextDecoderOptions};

/// The maximum size of a table of inputs, in bytes.
const MAX_BYTES: f64 = 32.0 * 1024.0 * 1024.0;

const UNREADABLE: &str = "The file could not be read.";

/// Returns the text of a file and its encoding.
///
/// # Errors
///
/// A sentence for the user: the file is too large, can't be read, is not text, or has an unknown encoding.
pub async fn text(file: &Blob) -> Result<(String, Encoding), String> {
    if file.size() > MAX_BYTES {
        return Err("The file is larger than 32 MB.".into());
    }
    let bytes = JsFuture::from(file.array_buffer()).await;
    let bytes = bytes.map_err(|_| UNREADABLE)?;
    let bytes = js_sys::Uint8Array::new(&bytes).to_vec();
    let encoding = encoding::encoding_of(&bytes, &languages())?;
    let text = decode(&bytes, encoding);
    let text = text.ok_or_else(|| encoding::refusal(encoding))?;
    Ok((text, encoding))
}

/// Returns the preferred languages of the user, most preferred first.
fn languages() -> Vec<String> {
    let languages = leptos::prelude::window().navigator().languages();
    languages.iter().filter_map(|it| it.as_string()).collect()
}

fn decode(bytes: &[u8], encoding: Encoding) -> Option<String> {
    let options = TextDecoderOptions::new();
    options.set_fatal(true);
    let decoder = TextDecoder::new_with_label_and_options(encoding.label, &options).ok()?;
    decoder.decode_with_u8_array(bytes).ok()
}

/// Returns the text of a UTF-8 file of any size.
///
/// # Errors
///
/// A sentence for the user: the file can't be read.
pub async fn all_text(file: &Blob) -> Result<String, String> {
    let text = JsFuture::from(file.text()).await.ok();
    text.and_then(|text| text.as_string())
        .ok_or_else(|| UNREADABLE.into())
}

/// Whether a file still exists and is unchanged since it was chosen.
pub async fn is_readable(file: &Blob) -> bool {
    match file.slice_with_f64_and_f64(0.0, 1.0) {
        Ok(start) => JsFuture::from(start.array_buffer()).await.is_ok(),
        Err(_) => false,
    }
}

/// Returns a file as a data URL, or `None` if it can't be read.
pub async fn data_url(file: &Blob) -> Option<String> {
    let reader = FileReader::new().ok()?;
    let (sender, receiver) = oneshot::channel();
    let _listener = EventListener::once(&reader, "loadend", move |_| {
        let _ = sender.send(());
    });
    reader.read_as_data_url(file).ok()?;
    receiver.await.ok()?;
    reader.result().ok()?.as_string()
}
