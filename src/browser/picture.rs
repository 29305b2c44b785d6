//! Converts and resizes pictures, and draws grids of them.

use atelier_studio::batch::grid_picture::{GridPicture, OutputPlace};
use js_sys::Promise;
use leptos::prelude::{document, window};
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Blob, CanvasRenderingContext2d, HtmlCanvasElement, ImageBitmap, ImageBitmapOptions,
    ResizeQuality,
};

/// Converts a picture to another format.
///
/// # Errors
/// If the picture can't be read.
pub async fn convert(picture: &Blob, mime: &str) -> Result<Blob, JsValue> {
    let bitmap = window().create_image_bitmap_with_blob(picture)?;
    encode_bitmap(&JsFuture::from(bitmap).await?.dyn_into()?, mime).await
}

/// A decoded picture.
pub struct DecodedPicture(ImageBitmap);

impl DecodedPicture {
    /// Decodes a picture.
    ///
    /// # Errors
    /// If the picture can't be read.
    pub async fn new(picture: &Blob) -> Result<Self, JsValue> {
        let bitmap = window().create_image_bitmap_with_blob(picture)?;
        Ok(Self(JsFuture::from(bitmap).await?.dyn_into()?))
    }

    /// Returns width and height in pixels.
    pub fn size(&self) -> (u32, u32) {
        (self.0.width(), self.0.height())
    }

    /// Encodes a copy of this width and height, as WebP, or as PNG if the browser can't write WebP.
    ///
    /// # Errors
    /// If the browser has not enough memory for it.
    pub async fn resized(&self, (width, height): (u32, u32)) -> Result<Blob, JsValue> {
        let (canvas, context) = canvas(width, height)?;
        // Otherwise a picture that is reduced to a fraction loses fine lines.
        let _ = js_sys::Reflect::set(&context, &"imageSmoothingQuality".into(), &"high".into());
        let (width, height) = (f64::from(width), f64::from(height));
        context.draw_image_with_image_bitmap_and_dw_and_dh(&self.0, 0.0, 0.0, width, height)?;
        encode_canvas(&canvas, "image/webp").await
    }
}

impl Drop for DecodedPicture {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Resizes a picture to this width and height, as WebP, or as PNG if the browser can't write WebP.
///
/// # Errors
/// If the picture can't be read.
pub async fn resize(picture: &Blob, (width, height): (u32, u32)) -> Result<Blob, JsValue> {
    let options = ImageBitmapOptions::new();
    options.set_resize_width(width);
    options.set_resize_height(height);
    options.set_resize_quality(ResizeQuality::Medium);
    // The browser decodes and resizes off the main thread.
    let bitmap =
        window().create_image_bitmap_with_blob_and_image_bitmap_options(picture, &options)?;
    encode_bitmap(&JsFuture::from(bitmap).await?.dyn_into()?, "image/webp").await
}

async fn encode_bitmap(bitmap: &ImageBitmap, mime: &str) -> Result<Blob, JsValue> {
    let (canvas, context) = canvas(bitmap.width(), bitmap.height())?;
    context.draw_image_with_image_bitmap(bitmap, 0.0, 0.0)?;
    bitmap.close();
    encode_canvas(&canvas, mime).await
}

fn canvas(
    width: u32,
    height: u32,
) -> Result<(HtmlCanvasElement, CanvasRenderingContext2d), JsValue> {
    let canvas: HtmlCanvasElement = document().create_element("canvas")?.dyn_into()?;
    canvas.set_width(width);
    canvas.set_height(height);
    let context = canvas.get_context("2d")?.ok_or(JsValue::NULL)?;
    Ok((canvas, context.dyn_into()?))
}

async fn encode_canvas(canvas: &HtmlCanvasElement, mime: &str) -> Result<Blob, JsValue> {
    let written = Promise::new(&mut |resolve, reject| {
        let take = Closure::once_into_js(move |blob: JsValue| resolve.call1(&JsValue::NULL, &blob));
        if let Err(error) = canvas.to_blob_with_type(take.unchecked_ref(), mime) {
            // A promise can always be rejected.
            let _ = reject.call1(&JsValue::NULL, &error);
        }
    });
    JsFuture::from(written).await?.dyn_into()
}

/// A grid that is drawn output by output, so that not all of them are in memory at the same time.
pub struct GridCanvas {
    canvas: HtmlCanvasElement,
    context: CanvasRenderingContext2d,
}

impl GridCanvas {
    /// Creates the canvas and draws the texts of the grid on white.
    ///
    /// # Errors
    /// If the browser can't create a canvas of this size.
    pub fn new(grid: &GridPicture) -> Result<Self, JsValue> {
        let (canvas, context) = canvas(grid.width as u32, grid.height as u32)?;
        context.set_fill_style_str("#fff");
        context.fill_rect(0.0, 0.0, grid.width, grid.height);
        context.set_fill_style_str("#1c1a17");
        context.set_text_baseline("middle");
        for line in &grid.texts {
            let weight = if line.is_heading { 600 } else { 400 };
            context.set_text_align(if line.is_centered { "center" } else { "left" });
            context.set_font(&format!("{weight} 16px system-ui, sans-serif"));
            context.fill_text(&line.text, line.x, line.y)?;
        }
        Ok(Self { canvas, context })
    }

    /// Draws an output at its place, scaled to fit. If it is not a picture, draws a grey area instead.
    ///
    /// # Errors
    /// If the browser has not enough memory for it.
    pub async fn draw(&self, place: &OutputPlace, file: Option<&Blob>) -> Result<(), JsValue> {
        let bitmap = async {
            let bitmap = window().create_image_bitmap_with_blob(file?).ok()?;
            JsFuture::from(bitmap).await.ok()?.dyn_into().ok()
        };
        let OutputPlace {
            x,
            y,
            width,
            height,
            ..
        } = *place;
        let Some::<ImageBitmap>(bitmap) = bitmap.await else {
            self.context.set_fill_style_str("#e8e4dc");
            self.context.fill_rect(x, y, width, height);
            return Ok(());
        };
        let (own_width, own_height) = (f64::from(bitmap.width()), f64::from(bitmap.height()));
        let scale = (width / own_width).min(height / own_height);
        let (shown_width, shown_height) = (own_width * scale, own_height * scale);
        let (left, top) = (
            x + (width - shown_width) / 2.0,
            y + (height - shown_height) / 2.0,
        );
        let drawn = self.context.draw_image_with_image_bitmap_and_dw_and_dh(
            &bitmap,
            left,
            top,
            shown_width,
            shown_height,
        );
        bitmap.close();
        drawn
    }

    /// Returns the grid as a PNG.
    ///
    /// # Errors
    /// If the browser can't write a PNG of this size.
    pub async fn finish(self) -> Result<Blob, JsValue> {
        encode_canvas(&self.canvas, "image/png").await
    }
}
