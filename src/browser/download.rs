//! Saves files for the user. A download never opens a tab.

use js_sys::Array;
use leptos::prelude::document;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, BlobPropertyBag, HtmlAnchorElement, Url};

/// Saves text as a file.
pub fn text(name: &str, mime: &str, text: &str) -> bool {
    let parts = Array::of1(&JsValue::from_str(text));
    blob_of(&parts, mime).is_some_and(|file| blob(name, &file))
}

/// Saves a blob as a file.
pub fn blob(name: &str, file: &Blob) -> bool {
    let Ok(url) = Url::create_object_url_with_blob(file) else {
        return false;
    };
    let saved = click(name, &url);
    // The download starts after this function has returned, and needs the URL until then. A minute is enough.
    gloo_timers::callback::Timeout::new(60_000, move || {
        let _ = Url::revoke_object_url(&url);
    })
    .forget();
    saved
}

fn blob_of(parts: &Array, mime: &str) -> Option<Blob> {
    let options = BlobPropertyBag::new();
    options.set_type(mime);
    Blob::new_with_u8_array_sequence_and_options(parts, &options).ok()
}

fn click(name: &str, url: &str) -> bool {
    let Some(link) = document()
        .create_element("a")
        .ok()
        .and_then(|element| element.dyn_into::<HtmlAnchorElement>().ok())
    else {
        return false;
    };
    link.set_href(url);
    link.set_download(name);
    link.click();
    true
}
