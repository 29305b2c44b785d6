use std::future::Future;

use js_sys::{Array, Function, Object, Promise, Reflect};
use leptos::prelude::window;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, future_to_promise};
use web_sys::Blob;

use super::picture;

/// The media type of the pictures that clipboards accept.
const PNG: &str = "image/png";

/// Copies a text to the clipboard, and returns whether that worked. The browser may refuse, e.g. on a page that is not
/// served over https or localhost.
pub async fn copy(text: &str) -> bool {
    let clipboard = window().navigator().clipboard();
    if clipboard.is_undefined() {
        return false;
    }
    JsFuture::from(clipboard.write_text(text)).await.is_ok()
}

/// Copies a picture to the clipboard, and returns whether that worked. `image` is a future because browsers allow the call
/// only while they handle a press, when the picture may not be loaded yet.
pub async fn copy_image(image: impl Future<Output = Option<Blob>> + 'static) -> bool {
    let png = future_to_promise(async move {
        let blob = image.await.ok_or(JsValue::NULL)?;
        let blob = match blob.type_() == PNG {
            true => blob,
            false => picture::convert(&blob, PNG).await?,
        };
        Ok(blob.into())
    });
    let written = (|| {
        let clipboard = Reflect::get(&window().navigator(), &"clipboard".into())?;
        let write: Function = Reflect::get(&clipboard, &"write".into())?.dyn_into()?;
        let make: Function = Reflect::get(&window(), &"ClipboardItem".into())?.dyn_into()?;
        let kinds = Object::new();
        Reflect::set(&kinds, &PNG.into(), &png)?;
        let item = Reflect::construct(&make, &Array::of1(&kinds))?;
        let written: Promise = write.call1(&clipboard, &Array::of1(&item))?.dyn_into()?;
        Ok::<_, JsValue>(written)
    })();
    match written {
        Ok(written) => JsFuture::from(written).await.is_ok(),
        Err(_) => false,
    }
}
