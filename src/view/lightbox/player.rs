//! The player of the video or sound in the lightbox.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlMediaElement};

use crate::reactive::boxed::spawn;

const PLAYER: &str = "dialog.lightbox[open] .stage :is(audio, video)";

/// Returns whether the target of an event is the player.
pub fn is_target_of(event: &Event) -> bool {
    let target = event.target().and_then(|it| it.dyn_into::<Element>().ok());
    target.is_some_and(|it| it.matches(PLAYER) == Ok(true))
}

fn find() -> Option<HtmlMediaElement> {
    let found = document().query_selector(PLAYER);
    found.ok().flatten()?.dyn_into().ok()
}

/// Plays or pauses the player. Returns false if the output has no player.
pub fn toggle() -> bool {
    let Some(player) = find() else {
        return false;
    };
    match player.paused() {
        // If the file can't be played, the player shows that itself.
        true => play(&player, || {}),
        // `pause` never fails on a media element.
        false => drop(player.pause()),
    }
    true
}

fn play(player: &HtmlMediaElement, failed: impl FnOnce() + 'static) {
    if let Ok(playing) = player.play() {
        spawn(async move {
            let Err(error) = wasm_bindgen_futures::JsFuture::from(playing).await else {
                return;
            };
            // `AbortError`: paused or removed before playback started, which isn't a failure.
            let name = error.dyn_ref::<js_sys::Error>().map(|error| error.name());
            if name.is_none_or(|name| name != "AbortError") {
                failed();
            }
        });
    }
}

/// Plays the player once to its end, without looping. Does nothing if the output has no player.
pub fn play_once(failed: impl FnOnce() + 'static) {
    if let Some(player) = find() {
        // Removing an attribute never fails.
        let _ = player.remove_attribute("loop");
        play(&player, failed);
    }
}

/// Makes a video loop again.
pub fn restore_loop() {
    if let Some(video) = find().filter(|it| it.local_name() == "video") {
        // `loop` is a valid name, so this never fails.
        let _ = video.set_attribute("loop", "");
    }
}

/// Returns whether the output has a player whose metadata are loaded.
pub fn has_metadata() -> bool {
    find().is_some_and(|player| player.duration() > 0.0)
}
