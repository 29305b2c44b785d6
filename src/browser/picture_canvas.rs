//! Draws edited pictures. `studio::picture_edit` computes where.

use atelier_studio::picture_edit::crop::{Crop, Size};
use atelier_studio::picture_edit::edit::{Edit, QUALITY};
use js_sys::Promise;
use leptos::prelude::{document, window};
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, CanvasRenderingContext2d, HtmlCanvasElement, ImageBitmap};

/// A decoded picture. Its memory is released when it is dropped.
pub struct Decoded(ImageBitmap);

impl Decoded {
    /// Returns width and height in pixels.
    pub fn size(&self) -> Size {
        (self.0.width(), self.0.height())
    }
}

impl Drop for Decoded {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Decodes a picture, with its orientation applied.
///
/// # Errors
///
/// If the browser can't read it.
pub async fn decode(picture: &Blob) -> Result<Decoded, JsValue> {
    let bitmap = window().create_image_bitmap_with_blob(picture)?;
    Ok(Decoded(JsFuture::from(bitmap).await?.dyn_into()?))
}

/// Draws a part of the edited picture so that it fills a canvas, which gets this size.
///
/// # Errors
///
/// If the browser can't create a canvas of this size.
pub fn draw(
    canvas: &HtmlCanvasElement,
    picture: &Decoded,
    edit: Edit,
    part: Crop,
    size: Size,
) -> Result<(), JsValue> {
    canvas.set_width(size.0);
    canvas.set_height(size.1);
    let context = canvas.get_context("2d")?.ok_or(JsValue::NULL)?;
    let context: CanvasRenderingContext2d = context.dyn_into()?;
    let [a, b, c, d, e, f] = edit.matrix(part, size);
    context.set_transform(a, b, c, d, e, f)?;
    // Without it, pictures that are scaled down a lot look rough.
    js_sys::Reflect::set(&context, &"imageSmoothingQuality".into(), &"high".into())?;
    context.draw_image_with_image_bitmap(&picture.0, 0.0, 0.0)
}

/// Returns the result of the edits as a file. A browser that can't write the type writes a PNG.
///
/// # Errors
///
/// If the browser has not enough memory for it.
pub async fn encode(picture: &Decoded, edit: Edit, mime: &str) -> Result<Blob, JsValue> {
    let canvas: HtmlCanvasElement = document().create_element("canvas")?.dyn_into()?;
    draw(&canvas, picture, edit, edit.crop, edit.result())?;
    let written = Promise::new(&mut |resolve, reject| {
        let take = Closure::once_into_js(move |blob: JsValue| resolve.call1(&JsValue::NULL, &blob));
        let quality = JsValue::from_f64(QUALITY);
        let result =
            canvas.to_blob_with_type_and_encoder_options(take.unchecked_ref(), mime, &quality);
        if let Err(error) = result {
            // A promise can always be rejected.
            let _ = reject.call1(&JsValue::NULL, &error);
        }
    });
    JsFuture::from(written).await?.dyn_into()
}
