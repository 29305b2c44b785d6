//! Writes masks as PNG files. The compressor is the browser's.

use atelier_studio::mask::bitmap::Bitmap;
use atelier_studio::mask::png::{self, White};
use js_sys::{Array, Function, Reflect, Uint8Array};
use leptos::prelude::window;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, BlobPropertyBag, ReadableStreamDefaultReader, ReadableWritablePair};

/// The number of bytes that are handed to the browser at a time.
const CHUNK: u32 = 1_000_000;

/// The media type of the file.
pub const TYPE: &str = "image/png";

/// Returns a mask as a PNG; `None` if the browser can't compress it, because it is too old or out of memory.
pub async fn write(bitmap: &Bitmap, white: White) -> Option<Blob> {
    let (width, height) = bitmap.size();
    let step = (CHUNK / (width + 1)).max(1);
    let raw = Array::new();
    for start in (0..height).step_by(step as usize) {
        let rows = png::rows(bitmap, start..start + step, white);
        raw.push(&Uint8Array::from(rows.as_slice()));
    }
    let raw = Blob::new_with_u8_array_sequence(&raw).ok()?;
    let packed = raw.stream().pipe_through(&compressor()?);
    let reader: ReadableStreamDefaultReader = packed.get_reader().unchecked_into();
    let parts = Array::of1(&Uint8Array::from(png::head(bitmap).as_slice()));
    loop {
        let chunk = JsFuture::from(reader.read()).await.ok()?;
        let field = |name: &str| Reflect::get(&chunk, &JsValue::from_str(name)).ok();
        if field("done")?.is_truthy() {
            break;
        }
        let bytes: Uint8Array = field("value")?.unchecked_into();
        let data = png::data(&bytes.to_vec());
        parts.push(&Uint8Array::from(data.as_slice()));
    }
    parts.push(&Uint8Array::from(png::end().as_slice()));
    let options = BlobPropertyBag::new();
    options.set_type(TYPE);
    Blob::new_with_u8_array_sequence_and_options(&parts, &options).ok()
}

/// Returns the compressor for the zlib format, which older browsers don't have.
fn compressor() -> Option<ReadableWritablePair> {
    let stream = Reflect::get(&window(), &"CompressionStream".into()).ok()?;
    let format = Array::of1(&"deflate".into());
    let stream = Reflect::construct(&stream.dyn_into::<Function>().ok()?, &format).ok()?;
    // The stream has the properties of a pair: `readable` and `writable`.
    Some(stream.unchecked_into())
}
