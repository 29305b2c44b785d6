//! Pictures drawn anew: in another format, or smaller.

use js_sys::Promise;
use leptos::prelude::{document, window};
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Blob, CanvasRenderingContext2d, HtmlCanvasElement, ImageBitmap, ImageBitmapOptions,
    ResizeQuality,
};

/// The picture in another format.
///
/// # Errors
/// If it can't be read.
pub async fn converted(picture: &Blob, mime: &str) -> Result<Blob, JsValue> {
    let bitmap = window().create_image_bitmap_with_blob(picture)?;
    drawn(&JsFuture::from(bitmap).await?.dyn_into()?, mime).await
}

/// The picture in so many pixels, as WebP, or as PNG where the browser writes no WebP.
///
/// # Errors
/// If it can't be read.
pub async fn resized(picture: &Blob, (width, height): (u32, u32)) -> Result<Blob, JsValue> {
    let options = ImageBitmapOptions::new();
    options.set_resize_width(width);
    options.set_resize_height(height);
    options.set_resize_quality(ResizeQuality::Medium);
    // Decoded and resized off the main thread.
    let bitmap =
        window().create_image_bitmap_with_blob_and_image_bitmap_options(picture, &options)?;
    drawn(&JsFuture::from(bitmap).await?.dyn_into()?, "image/webp").await
}

async fn drawn(bitmap: &ImageBitmap, mime: &str) -> Result<Blob, JsValue> {
    let canvas: HtmlCanvasElement = document().create_element("canvas")?.dyn_into()?;
    canvas.set_width(bitmap.width());
    canvas.set_height(bitmap.height());
    let context = canvas.get_context("2d")?.ok_or(JsValue::NULL)?;
    let context: CanvasRenderingContext2d = context.dyn_into()?;
    context.draw_image_with_image_bitmap(bitmap, 0.0, 0.0)?;
    bitmap.close();
    let written = Promise::new(&mut |resolve, reject| {
        let take = Closure::once_into_js(move |blob: JsValue| resolve.call1(&JsValue::NULL, &blob));
        if let Err(error) = canvas.to_blob_with_type(take.unchecked_ref(), mime) {
            // A promise can always be rejected.
            let _ = reject.call1(&JsValue::NULL, &error);
        }
    });
    JsFuture::from(written).await?.dyn_into()
}
