use crate::contexts::contexts;
use atelier_engine::output::{self, OutputKind, SafeUrl};
use gloo_events::{EventListener, EventListenerOptions, EventListenerPhase};
use icondata_lu::{LuFileText, LuImageOff};
use leptos::html::{Audio, Div, Video};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{HtmlImageElement, HtmlVideoElement};

use super::glyph::Glyph;
use super::waveform;
use crate::boxed::{dynamic, effect, handler};

/// Shows an output: an image, a video or a sound, loaded without referrer and without credentials.
/// What cannot be shown is said; what is no safe address is text.
#[component]
pub fn MediaView(
    url: String,
    kind: OutputKind,
    /// What it is, for those who do not see it.
    #[prop(into)]
    label: String,
    /// A still, small stand-in: no controls.
    #[prop(optional)]
    thumbnail: bool,
    /// Called when the media can't be loaded from its address.
    #[prop(optional, into)]
    on_gone: Option<Callback<()>>,
    /// Called when an image is there.
    #[prop(optional, into)]
    on_load: Option<Callback<HtmlImageElement>>,
) -> impl IntoView {
    let address = contexts().session.settings_untracked().address;
    let Some(safe) = SafeUrl::media(&url, address.as_str()) else {
        return match thumbnail {
            true => text_thumbnail(&url),
            false => view! { <code class="unsafe-output">{url}</code> }.into_any(),
        };
    };
    let source = safe.as_str().to_owned();
    let failed = RwSignal::new(false);
    let on_error = move |_| {
        failed.set(true);
        if let Some(on_gone) = on_gone {
            on_gone.run(());
        }
    };
    let on_load = move |event: web_sys::Event| {
        if let Some(on_load) = on_load {
            on_load.run(event_target(&event));
        }
    };
    view! {
        {dynamic(move || {
            if failed.get() {
                let words = if thumbnail {
                    ""
                } else {
                    "Not shown: the file is gone, or its host does not let this page load it."
                };
                return view! { <Gone words=words.to_owned() /> }.into_any();
            }
            let (source, label) = (source.clone(), label.clone());
            match (kind, thumbnail) {
                (OutputKind::Image, _) => {
                    view! {
                        <img
                            src=source
                            alt=label
                            crossorigin="anonymous"
                            referrerpolicy="no-referrer"
                            loading=if thumbnail { "lazy" } else { "eager" }
                            decoding="async"
                            on:load=handler(on_load)
                            on:error=handler(on_error)
                        />
                    }
                        .into_any()
                }
                (OutputKind::Video, true) => still(&source, Box::new(on_error)),
                (OutputKind::Audio, true) => waveform::small(source),
                (OutputKind::Video, false) => {
                    view! {
                        <video
                            src=source
                            aria-label=label
                            crossorigin="anonymous"
                            controls
                            loop
                            autoplay=!prefers_stillness()
                            prop:muted=true
                            playsinline
                            preload="metadata"
                            on:error=handler(on_error)
                        ></video>
                    }
                        .into_any()
                }
                (OutputKind::Audio, false) => sound(source, label, Box::new(on_error)),
                (OutputKind::Other, true) => text_thumbnail(&source),
                (OutputKind::Other, false) => {
                    view! { <code class="unsafe-output">{source}</code> }.into_any()
                }
            }
        })}
    }
    .into_any()
}

/// The first frame of a film, which plays while the pointer is on what it stands for.
fn still(source: &str, on_error: Box<dyn FnMut(web_sys::ErrorEvent)>) -> AnyView {
    // Engines that load only what is asked for show nothing of a film whose time is not named.
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
            move |_: &web_sys::Event| {
                if !prefers_stillness() {
                    // It is refused where the film is gone, or not there yet.
                    let _ = film.play();
                }
            }
        };
        let pause = move |_: &web_sys::Event| {
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

/// A sound, and above its player what it looks like.
fn sound(source: String, label: String, on_error: Box<dyn FnMut(web_sys::ErrorEvent)>) -> AnyView {
    let player = NodeRef::<Audio>::new();
    let played = RwSignal::new(0.0);
    let follow = move |_: web_sys::Event| {
        let Some(player) = player.get_untracked() else {
            return;
        };
        let share = player.current_time() / player.duration();
        played.set(if share.is_finite() { share } else { 0.0 });
    };
    view! {
        {waveform::large(source.clone(), player, played)}
        <audio
            node_ref=player
            src=source
            aria-label=label
            crossorigin="anonymous"
            controls
            preload="metadata"
            on:timeupdate=handler(follow)
            on:error=on_error
        ></audio>
    }
    .into_any()
}

/// Tells the width and height in pixels of each picture or film that is loaded in an element; none where it
/// has neither.
pub fn follow_sides(element: NodeRef<Div>, told: impl Fn(Option<(u32, u32)>) + Clone + 'static) {
    let listeners = StoredValue::new_local(Vec::new());
    effect(move || {
        let Some(element) = element.get() else {
            return;
        };
        // These events do not rise.
        let captured = EventListenerOptions {
            phase: EventListenerPhase::Capture,
            passive: true,
        };
        let listen = |name: &'static str| {
            let told = told.clone();
            EventListener::new_with_options(&element, name, captured, move |event| {
                told(event.target().and_then(|it| sides(&it)));
            })
        };
        listeners.set_value(vec![listen("load"), listen("loadedmetadata")]);
    });
}

fn sides(shown: &web_sys::EventTarget) -> Option<(u32, u32)> {
    let sides = match shown.dyn_ref::<HtmlImageElement>() {
        Some(image) => (image.natural_width(), image.natural_height()),
        None => {
            let video = shown.dyn_ref::<HtmlVideoElement>()?;
            (video.video_width(), video.video_height())
        }
    };
    Some(sides).filter(|(width, height)| *width > 0 && *height > 0)
}

/// A person wants nothing to move that need not.
fn prefers_stillness() -> bool {
    let query = window().match_media("(prefers-reduced-motion: reduce)");
    query.ok().flatten().is_some_and(|query| query.matches())
}

/// The start of a text, or what kind of file it is.
fn text_thumbnail(url: &str) -> AnyView {
    const SHOWN: usize = 60;
    if SafeUrl::link(url, "").is_none() {
        let start: String = url.chars().take(SHOWN).collect();
        return view! { <span class="media-text">{start}</span> }.into_any();
    }
    let extension = output::extension("", url, OutputKind::Other);
    view! {
        <span class="media-stand-in">
            <Glyph icon=LuFileText />
            <span class="media-kind">{extension}</span>
        </span>
    }
    .into_any()
}

/// Stands where media would, and says why it does not.
#[component]
pub fn Gone(words: String) -> AnyView {
    view! {
        <div class="media-gone">
            <Glyph icon=LuImageOff />
            <p aria-live="polite">{words}</p>
        </div>
    }
    .into_any()
}
