//! A picture, or the first frame of a film.

use gloo_events::EventListener;
use leptos::html::Video;
use leptos::prelude::*;
use web_sys::{ErrorEvent, Event};

use crate::reactive::boxed::effect;

/// Loaded without referrer and without credentials.
pub fn image(
    source: &str,
    label: &str,
    is_small: bool,
    on_load: Box<dyn FnMut(Event)>,
    on_error: Box<dyn FnMut(ErrorEvent)>,
) -> AnyView {
    view! {
        <img
            src=source.to_owned()
            alt=label.to_owned()
            crossorigin="anonymous"
            referrerpolicy="no-referrer"
            loading=if is_small { "lazy" } else { "eager" }
            decoding="async"
            on:load=on_load
            on:error=on_error
        />
    }
    .into_any()
}

/// The first frame of a film, which plays while the pointer is on what it stands for.
pub fn still(source: &str, on_error: Box<dyn FnMut(ErrorEvent)>) -> AnyView {
    // Some engines show nothing of a film until a time in it is asked for.
    let source = format!("{source}#t=0.001");
    let film = NodeRef::<Video>::new();
    let listeners = StoredValue::new_local(None);
    effect(move || {
        let Some(film) = film.get() else {
            return;
        };
        // A card's link lies over all of the card, and takes the pointer.
        let card = film.closest("a, button, article, li").ok().flatten();
        let card = card.unwrap_or_else(|| film.clone().into());
        let play = {
            let film = film.clone();
            move |_: &Event| {
                if !prefers_stillness() {
                    // It is refused where the film is gone, or not there yet.
                    let _ = film.play();
                }
            }
        };
        let pause = move |_: &Event| {
            let _ = film.pause();
        };
        let enter = EventListener::new(&card, "pointerenter", play);
        let leave = EventListener::new(&card, "pointerleave", pause);
        listeners.set_value(Some([enter, leave]));
    });
    view! {
        <video
            node_ref=film
            class="still"
            src=source
            crossorigin="anonymous"
            loop
            playsinline
            preload="metadata"
            tabindex="-1"
            prop:muted=true
            on:error=on_error
        ></video>
    }
    .into_any()
}

/// A person wants nothing to move that need not.
pub fn prefers_stillness() -> bool {
    let query = window().match_media("(prefers-reduced-motion: reduce)");
    query.ok().flatten().is_some_and(|query| query.matches())
}
