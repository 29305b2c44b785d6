use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use atelier_studio::output::waveform::{self, HEIGHT, WIDTH};
use futures::future::{FutureExt, LocalBoxFuture, Shared};
use futures::lock::Mutex;
use icondata_lu::LuAudioLines;
use leptos::html::Audio;
use leptos::prelude::*;
use leptos::task::spawn_local_scoped_with_cancellation;
use web_sys::Element;

use super::glyph::Glyph;
use crate::browser::sound;
use crate::reactive::boxed::{dynamic, effect, handler, spawn, text, when};

/// The waveform of a sound as an SVG path; empty if it can't be computed.
type Waveform = Shared<LocalBoxFuture<'static, String>>;

/// Maximum number of cached waveforms.
const MAX_CACHED: usize = 500;

thread_local! {
    static WAVEFORMS: RefCell<HashMap<String, Waveform>> = RefCell::default();
    /// Held while a sound is decoded, so that only one is in memory: decoded sounds are large.
    static DECODING: Rc<Mutex<()>> = Rc::default();
}

fn cached_waveform(url: &str) -> Waveform {
    WAVEFORMS.with_borrow_mut(|cache| {
        if cache.len() >= MAX_CACHED {
            cache.clear();
        }
        let start = || {
            let waveform_path = compute_path(url.to_owned()).boxed_local().shared();
            spawn(complete(url.to_owned(), waveform_path.clone()));
            waveform_path
        };
        cache.entry(url.to_owned()).or_insert_with(start).clone()
    })
}

/// Completes a waveform even if its view is disposed: a half-read file would occupy a connection that calls to the service
/// need. A failed waveform is removed from the cache, so that the next view retries it.
async fn complete(url: String, waveform_path: Waveform) {
    let decoding = DECODING.with(Rc::clone);
    let _guard = decoding.lock().await;
    if waveform_path.await.is_empty() {
        WAVEFORMS.with_borrow_mut(|cache| drop(cache.remove(&url)));
    }
}

async fn compute_path(url: String) -> String {
    let Some(sound) = sound::decoded(&url).await else {
        return String::new();
    };
    let mut loudness = Vec::new();
    let mut samples = Vec::new();
    for range in waveform::ranges(sound.length() as usize) {
        samples.clear();
        samples.resize(range.len(), 0.0);
        let start = range.start as u32;
        // It fails only for a missing channel, but every sound has at least one.
        let _ = sound.copy_from_channel_with_start_in_channel(&mut samples, 0, start);
        loudness.push(waveform::loudness(&samples));
    }
    waveform::path(&waveform::strokes(&loudness))
}

/// Returns a signal with the waveform of a sound: `None` until it is known, empty if it can't be computed.
fn waveform_signal(url: String) -> RwSignal<Option<String>> {
    let path = RwSignal::new(None);
    effect(move || {
        let waveform_path = cached_waveform(&url);
        spawn_local_scoped_with_cancellation(async move {
            let decoding = DECODING.with(Rc::clone);
            let _guard = decoding.lock().await;
            path.try_set(Some(waveform_path.await));
        });
    });
    path
}

/// Returns the waveform of a sound in a list, or an icon until it is known.
pub fn thumbnail(url: String) -> AnyView {
    let path = waveform_signal(url);
    dynamic(move || {
        if path.read().as_deref().unwrap_or_default().is_empty() {
            return view! {
                <span class="media-stand-in">
                    <Glyph icon=LuAudioLines />
                </span>
            }
            .into_any();
        }
        view! { <span class="waveform">{strokes(path)}</span> }.into_any()
    })
}

/// Returns the waveform above an audio player. It shows the playback position, and a press on it seeks.
pub fn seekable(url: String, player: NodeRef<Audio>, played: RwSignal<f64>) -> AnyView {
    let path = waveform_signal(url);
    let seek = move |event: web_sys::PointerEvent| {
        let bounds = event_target::<Element>(&event).get_bounding_client_rect();
        let Some(player) = player.get_untracked() else {
            return;
        };
        let share = (f64::from(event.client_x()) - bounds.left()) / bounds.width();
        let time = share.clamp(0.0, 1.0) * player.duration();
        if time.is_finite() {
            player.set_current_time(time);
        }
    };
    let clip = text(move || format!("inset(0 {:.2}% 0 0)", 100.0 - played.get() * 100.0));
    // The player itself is accessible to screen readers and the keyboard.
    view! {
        <div
            class="waveform large"
            aria-hidden="true"
            hidden=when(move || path.read().as_deref() == Some(""))
            on:pointerdown=handler(seek)
        >
            {strokes(path)} <div class="played" style:clip-path=clip>{strokes(path)}</div>
        </div>
    }
    .into_any()
}

fn strokes(path: RwSignal<Option<String>>) -> AnyView {
    let path = text(move || path.get().unwrap_or_default());
    view! {
        <svg viewBox=format!("0 0 {WIDTH} {HEIGHT}") preserveAspectRatio="none">
            <path d=path />
        </svg>
    }
    .into_any()
}
