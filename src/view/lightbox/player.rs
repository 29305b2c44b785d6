//! The film or the sound that is shown large.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlMediaElement};

use crate::reactive::boxed::spawn;

const PLAYER: &str = "dialog.lightbox[open] .stage :is(audio, video)";

/// What an event is about is the player.
pub fn is_of(event: &Event) -> bool {
    let target = event.target().and_then(|it| it.dyn_into::<Element>().ok());
    target.is_some_and(|it| it.matches(PLAYER) == Ok(true))
}

fn find() -> Option<HtmlMediaElement> {
    let found = document().query_selector(PLAYER);
    found.ok().flatten()?.dyn_into().ok()
}

/// Plays it, or pauses it; whether there is one.
pub fn turn() -> bool {
    let Some(player) = find() else {
        return false;
    };
    match player.paused() {
        // It fails where the file can't be played, which the player shows.
        true => play(&player, || {}),
        // It fails for no player.
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
            // Paused, or taken away, before it began: that is no failure.
            let name = error.dyn_ref::<js_sys::Error>().map(|error| error.name());
            if name.is_none_or(|name| name != "AbortError") {
                failed();
            }
        });
    }
}

/// Plays it to its end, if there is one.
pub fn play_once(failed: impl FnOnce() + 'static) {
    if let Some(player) = find() {
        // What is there can be taken away.
        let _ = player.remove_attribute("loop");
        play(&player, failed);
    }
}

/// A film repeats again.
pub fn repeat() {
    if let Some(film) = find().filter(|it| it.local_name() == "video") {
        // What is missing can be put there.
        let _ = film.set_attribute("loop", "");
    }
}

/// It is there, and its length is known.
pub fn has_begun() -> bool {
    find().is_some_and(|player| player.duration() > 0.0)
}
