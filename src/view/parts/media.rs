use crate::contexts::contexts;
use atelier_contract::{MAX_PROSE, bounded};
use atelier_engine::output::{self, OutputKind, SafeUrl};
use gloo_events::{EventListener, EventListenerOptions, EventListenerPhase};
use icondata_lu::{LuFileText, LuImageOff};
use leptos::html::{Audio, Div};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{EventTarget, HtmlImageElement, HtmlMediaElement, HtmlVideoElement};

use super::glyph::Glyph;
use super::{picture, waveform};
use crate::boxed::{dynamic, effect, handler};
use crate::returning;

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
            false => text_output(url),
        };
    };
    let source = safe.as_str().to_owned();
    // When it could not be loaded, as [`returning::times`] counts.
    let failed = RwSignal::new(None);
    let on_error = move |_| {
        failed.set(Some(untrack(returning::times)));
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
            // It is tried again once the page is back, or the network.
            if failed.get().is_some_and(|at| at == returning::times()) {
                let words = if thumbnail {
                    ""
                } else {
                    "Not shown: the network is away, or the file is gone, or its host does not let this page load it."
                };
                return view! { <Gone words=words.to_owned() /> }.into_any();
            }
            let (source, label) = (source.clone(), label.clone());
            match (kind, thumbnail) {
                (OutputKind::Image, _) => {
                    picture::image(&source, &label, thumbnail, Box::new(on_load), Box::new(on_error))
                }
                (OutputKind::Video, true) => picture::still(&source, Box::new(on_error)),
                (OutputKind::Audio, true) => waveform::small(source),
                (OutputKind::Video, false) => {
                    view! {
                        <video
                            src=source
                            aria-label=label
                            crossorigin="anonymous"
                            controls
                            loop
                            autoplay=!picture::prefers_stillness()
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
                (OutputKind::Other, false) => text_output(source),
            }
        })}
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
    follow_loaded(element, move |loaded| told(sides(loaded)));
}

/// Tells of each picture, film or sound in an element that its measures are known.
pub fn follow_loaded(element: NodeRef<Div>, told: impl Fn(&EventTarget) + Clone + 'static) {
    let listeners = StoredValue::new_local(Vec::new());
    effect(move || {
        let Some(element) = element.get() else {
            return;
        };
        // These events do not bubble.
        let captured = EventListenerOptions {
            phase: EventListenerPhase::Capture,
            passive: true,
        };
        let listen = |name: &'static str| {
            let told = told.clone();
            EventListener::new_with_options(&element, name, captured, move |event| {
                if let Some(loaded) = event.target() {
                    told(&loaded);
                }
            })
        };
        listeners.set_value(vec![listen("load"), listen("loadedmetadata")]);
    });
}

/// How long a film or a sound is, in milliseconds.
pub fn length(shown: &EventTarget) -> Option<u64> {
    let seconds = shown.dyn_ref::<HtmlMediaElement>()?.duration();
    seconds
        .is_finite()
        .then(|| (seconds * 1000.0).round() as u64)
}

/// Width and height in pixels.
pub fn sides(shown: &EventTarget) -> Option<(u32, u32)> {
    let sides = match shown.dyn_ref::<HtmlImageElement>() {
        Some(image) => (image.natural_width(), image.natural_height()),
        None => {
            let video = shown.dyn_ref::<HtmlVideoElement>()?;
            (video.video_width(), video.video_height())
        }
    };
    Some(sides).filter(|(width, height)| *width > 0 && *height > 0)
}

/// A text, or its beginning: browsers lay out megabytes for minutes.
fn text_output(text: String) -> AnyView {
    let rest = text.chars().nth(MAX_PROSE).map(|_| {
        let words = format!(
            "Only the first {MAX_PROSE} of {} characters are shown. Copying copies all of them.",
            text.chars().count()
        );
        view! { <p class="muted">{words}</p> }.into_any()
    });
    view! {
        <code class="unsafe-output">{bounded(text)}</code>
        {rest}
    }
    .into_any()
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
