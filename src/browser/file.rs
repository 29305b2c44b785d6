//! Files that a person brings.

use atelier_studio::text::encoding::{self, Encoding};
use futures::channel::oneshot;
use gloo_events::EventListener;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, FileReader, TextDecoder, TextDecoderOptions};

/// Larger files are no tables of inputs.
const MAX_BYTES: f64 = 32.0 * 1024.0 * 1024.0;

const UNREADABLE: &str = "The file could not be read.";

/// The text of a file, and the encoding in which it was.
///
/// # Errors
///
/// A sentence for a person: the file is too large, can't be read, is no text, or its encoding can't be told.
pub async fn text(file: &Blob) -> Result<(String, Encoding), String> {
    if file.size() > MAX_BYTES {
        return Err("The file is larger than 32 MB.".into());
    }
    let bytes = JsFuture::from(file.array_buffer()).await;
    let bytes = bytes.map_err(|_| UNREADABLE)?;
    let bytes = js_sys::Uint8Array::new(&bytes).to_vec();
    let encoding = encoding::encoding_of(&bytes, &languages())?;
    let text = decoded(&bytes, encoding);
    let text = text.ok_or_else(|| encoding::refusal(encoding))?;
    Ok((text, encoding))
}

/// The languages that the person prefers, the first one most.
fn languages() -> Vec<String> {
    let languages = leptos::prelude::window().navigator().languages();
    languages.iter().filter_map(|it| it.as_string()).collect()
}

fn decoded(bytes: &[u8], encoding: Encoding) -> Option<String> {
    let options = TextDecoderOptions::new();
    options.set_fatal(true);
    let decoder = TextDecoder::new_with_label_and_options(encoding.label, &options).ok()?;
    decoder.decode_with_u8_array(bytes).ok()
}

/// The text of a file in UTF-8, however large it is.
///
/// # Errors
///
/// A sentence for a person: the file can't be read.
pub async fn all_text(file: &Blob) -> Result<String, String> {
    let text = JsFuture::from(file.text()).await.ok();
    text.and_then(|text| text.as_string())
        .ok_or_else(|| UNREADABLE.into())
}

/// All of a file as a `data:` address; none if it can't be read.
pub async fn data_url(file: &Blob) -> Option<String> {
    let reader = FileReader::new().ok()?;
    let (end, ended) = oneshot::channel();
    let _listener = EventListener::once(&reader, "loadend", move |_| {
        let _ = end.send(());
    });
    reader.read_as_data_url(file).ok()?;
    ended.await.ok()?;
    reader.result().ok()?.as_string()
}
