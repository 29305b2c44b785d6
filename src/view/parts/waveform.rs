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

/// The drawing of a sound; empty where there is none to be had.
type Drawing = Shared<LocalBoxFuture<'static, String>>;

/// As many are kept in mind.
const KNOWN: usize = 500;

thread_local! {
    static DRAWINGS: RefCell<HashMap<String, Drawing>> = RefCell::default();
    /// A list of sounds is drawn one after the other: a decoded sound is large.
    static TURN: Rc<Mutex<()>> = Rc::default();
}

fn drawing_of(url: &str) -> Drawing {
    DRAWINGS.with_borrow_mut(|known| {
        if known.len() >= KNOWN {
            known.clear();
        }
        let begin = || {
            let drawing = draw(url.to_owned()).boxed_local().shared();
            spawn(finish(url.to_owned(), drawing.clone()));
            drawing
        };
        known.entry(url.to_owned()).or_insert_with(begin).clone()
    })
}

/// Brings a drawing to its end though its view may go: a file that is left half read holds a connection, and
/// the service's calls wait for one. What came to nothing is tried again by the next view.
async fn finish(url: String, drawing: Drawing) {
    let turn = TURN.with(Rc::clone);
    let _turn = turn.lock().await;
    if drawing.await.is_empty() {
        DRAWINGS.with_borrow_mut(|known| drop(known.remove(&url)));
    }
}

async fn draw(url: String) -> String {
    let Some(sound) = sound::decoded(&url).await else {
        return String::new();
    };
    let mut loudness = Vec::new();
    let mut samples = Vec::new();
    for stretch in waveform::ranges(sound.length() as usize) {
        samples.clear();
        samples.resize(stretch.len(), 0.0);
        let start = stretch.start as u32;
        // It fails for a channel that is not there, and there is always one.
        let _ = sound.copy_from_channel_with_start_in_channel(&mut samples, 0, start);
        loudness.push(waveform::loudness(&samples));
    }
    waveform::path(&waveform::strokes(&loudness))
}

/// Puts the drawing of a sound where its view has room for it, if that is still there: nothing until it is
/// known, empty if there is none.
fn drawn(url: String) -> RwSignal<Option<String>> {
    let path = RwSignal::new(None);
    effect(move || {
        let drawing = drawing_of(&url);
        spawn_local_scoped_with_cancellation(async move {
            let turn = TURN.with(Rc::clone);
            let _turn = turn.lock().await;
            path.try_set(Some(drawing.await));
        });
    });
    path
}

/// A sound in a list: its drawing, or a mark until that is there.
pub fn small(url: String) -> AnyView {
    let path = drawn(url);
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

/// A sound to be heard: the drawing above the player follows it, and takes a press as the place to go on from.
pub fn large(url: String, player: NodeRef<Audio>, played: RwSignal<f64>) -> AnyView {
    let path = drawn(url);
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
    let left = text(move || format!("inset(0 {:.2}% 0 0)", 100.0 - played.get() * 100.0));
    // The player below says the same to those who do not see it, and takes keys.
    view! {
        <div
            class="waveform large"
            aria-hidden="true"
            hidden=when(move || path.read().as_deref() == Some(""))
            on:pointerdown=handler(seek)
        >
            {strokes(path)} <div class="played" style:clip-path=left>{strokes(path)}</div>
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
