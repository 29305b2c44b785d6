use std::future::Future;

use js_sys::{Array, Function, Object, Promise, Reflect};
use leptos::prelude::{document, window};
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, future_to_promise};
use web_sys::{Blob, CanvasRenderingContext2d, HtmlCanvasElement, ImageBitmap};

/// What clipboards take for pictures.
const PNG: &str = "image/png";

/// Whether the text is on the clipboard now. The browser may refuse, e.g. on a page that is not
/// served over https or localhost.
pub async fn copy(text: &str) -> bool {
    let clipboard = window().navigator().clipboard();
    if clipboard.is_undefined() {
        return false;
    }
    JsFuture::from(clipboard.write_text(text)).await.is_ok()
}

/// Whether the picture is on the clipboard now. It may still be on its way: the browser wants to be asked
/// while it handles the press.
pub async fn copy_image(image: impl Future<Output = Option<Blob>> + 'static) -> bool {
    let coming = future_to_promise(async move {
        let blob = image.await.ok_or(JsValue::NULL)?;
        Ok(as_png(blob).await?.into())
    });
    let written = (|| {
        let clipboard = Reflect::get(&window().navigator(), &"clipboard".into())?;
        let write: Function = Reflect::get(&clipboard, &"write".into())?.dyn_into()?;
        let make: Function = Reflect::get(&window(), &"ClipboardItem".into())?.dyn_into()?;
        let kinds = Object::new();
        Reflect::set(&kinds, &PNG.into(), &coming)?;
        let item = Reflect::construct(&make, &Array::of1(&kinds))?;
        let written: Promise = write.call1(&clipboard, &Array::of1(&item))?.dyn_into()?;
        Ok::<_, JsValue>(written)
    })();
    match written {
        Ok(written) => JsFuture::from(written).await.is_ok(),
        Err(_) => false,
    }
}

/// The picture drawn once more, unless it is a PNG already.
async fn as_png(blob: Blob) -> Result<Blob, JsValue> {
    if blob.type_() == PNG {
        return Ok(blob);
    }
    let bitmap = JsFuture::from(window().create_image_bitmap_with_blob(&blob)?).await?;
    let bitmap: ImageBitmap = bitmap.dyn_into()?;
    let canvas: HtmlCanvasElement = document().create_element("canvas")?.dyn_into()?;
    canvas.set_width(bitmap.width());
    canvas.set_height(bitmap.height());
    let context = canvas.get_context("2d")?.ok_or(JsValue::NULL)?;
    let context: CanvasRenderingContext2d = context.dyn_into()?;
    context.draw_image_with_image_bitmap(&bitmap, 0.0, 0.0)?;
    let drawn = Promise::new(&mut |resolve, reject| {
        let take =
            Closure::once_into_js(move |drawn: JsValue| resolve.call1(&JsValue::NULL, &drawn));
        if let Err(error) = canvas.to_blob_with_type(take.unchecked_ref(), PNG) {
            // A promise can always be rejected.
            let _ = reject.call1(&JsValue::NULL, &error);
        }
    });
    JsFuture::from(drawn).await?.dyn_into()
}
