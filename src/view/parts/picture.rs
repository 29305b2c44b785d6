//! Pictures, and the first frames of videos.

use gloo_events::EventListener;
use leptos::html::Video;
use leptos::prelude::*;
use web_sys::{ErrorEvent, Event};

use crate::reactive::boxed::effect;

/// Returns a picture that is loaded without referrer and without credentials.
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

/// Returns a video that shows its first frame, and plays while the pointer is over its card or link.
pub fn still(source: &str, on_error: Box<dyn FnMut(ErrorEvent)>) -> AnyView {
    // Some browsers show no frame of a video until a time is requested.
    let source = format!("{source}#t=0.001");
    let video = NodeRef::<Video>::new();
    let listeners = StoredValue::new_local(None);
    effect(move || {
        let Some(video) = video.get() else {
            return;
        };
        // The link of a card covers the video and gets the pointer events.
        let card = video.closest("a, button, article, li").ok().flatten();
        let card = card.unwrap_or_else(|| video.clone().into());
        let play = {
            let video = video.clone();
            move |_: &Event| {
                if !prefers_reduced_motion() {
                    // It fails if the video was removed or has not loaded.
                    let _ = video.play();
                }
            }
        };
        let pause = move |_: &Event| {
            let _ = video.pause();
        };
        let enter = EventListener::new(&card, "pointerenter", play);
        let leave = EventListener::new(&card, "pointerleave", pause);
        listeners.set_value(Some([enter, leave]));
    });
    view! {
        <video
            node_ref=video
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

/// Returns whether the user prefers reduced motion.
pub fn prefers_reduced_motion() -> bool {
    let query = window().match_media("(prefers-reduced-motion: reduce)");
    query.ok().flatten().is_some_and(|query| query.matches())
}
