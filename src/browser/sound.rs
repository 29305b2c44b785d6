//! Decodes sounds.

use futures::future::{Either, FutureExt, select};
use gloo_timers::future::TimeoutFuture;
use js_sys::ArrayBuffer;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AudioBuffer, OfflineAudioContext};

use super::http;

/// The maximum size of a file, in bytes.
const MAX_BYTES: u64 = 32 * 1024 * 1024;

/// The maximum size of a compressed file, in bytes: a few megabytes may contain hours of sound.
const MAX_COMPRESSED_BYTES: f64 = 4.0 * 1024.0 * 1024.0;

/// How long to wait for a file, in milliseconds.
const TIMEOUT_MS: u32 = 30_000;

/// Few samples per second are enough for a waveform; one hour takes 115 MB.
const SAMPLE_RATE: f32 = 8_000.0;

/// Fetches and decodes a sound. Returns `None` if the page can't fetch the file, or it is too large or not a sound.
pub async fn decoded(url: &str) -> Option<AudioBuffer> {
    let fetched = http::get_blob(url, MAX_BYTES).boxed_local();
    let Either::Left((file, _)) = select(fetched, TimeoutFuture::new(TIMEOUT_MS)).await else {
        return None;
    };
    let file = file.ok()?;
    if !file.type_().contains("wav") && file.size() > MAX_COMPRESSED_BYTES {
        return None;
    }
    let bytes = JsFuture::from(file.array_buffer()).await.ok()?;
    let decoder = OfflineAudioContext::new_with_number_of_channels_and_length_and_sample_rate(
        1,
        1,
        SAMPLE_RATE,
    )
    .ok()?;
    let bytes: ArrayBuffer = bytes.dyn_into().ok()?;
    let sound = JsFuture::from(decoder.decode_audio_data(&bytes).ok()?);
    sound.await.ok()?.dyn_into().ok()
}
