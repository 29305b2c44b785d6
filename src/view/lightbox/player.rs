//! The film or the sound that is shown large.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlMediaElement;

use crate::boxed::spawn;

/// Plays it, or pauses it; whether there is one.
pub fn turn() -> bool {
    let found = document().query_selector("dialog.lightbox[open] .stage :is(audio, video)");
    let player = found.ok().flatten();
    let Some(player) = player.and_then(|it| it.dyn_into::<HtmlMediaElement>().ok()) else {
        return false;
    };
    if !player.paused() {
        // It fails for no player.
        let _ = player.pause();
    } else if let Ok(playing) = player.play() {
        spawn(async move {
            // It fails where the file can't be played, which the player shows.
            let _ = wasm_bindgen_futures::JsFuture::from(playing).await;
        });
    }
    true
}
