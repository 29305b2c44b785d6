use crate::state::contexts::contexts;
use atelier_contract::output::{OutputAddress, OutputKind, SafeUrl};
use atelier_contract::{MAX_PROSE, bounded};
use atelier_engine::output_recovery::cannot_show;
use atelier_studio::output::file_type;
use atelier_studio::output::output_access::{FileInfo, Step, is_kind_unknown};
use atelier_studio::text::excerpt::excerpt;
use gloo_events::{EventListener, EventListenerOptions, EventListenerPhase};
use icondata_lu::{LuFileText, LuImageOff};
use leptos::html::{Audio, Div};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{EventTarget, HtmlImageElement, HtmlMediaElement, HtmlVideoElement};

use super::glyph::Glyph;
use super::{picture, waveform};
use crate::browser::http;
use crate::reactive::boxed::{dynamic, effect, handler, spawn};
use crate::state::known_files;
use crate::state::retry_signal;

/// The message for media that can't be loaded for an unknown reason.
const NOT_SHOWN: &str =
    "Not shown: the network is down, the file is gone, or its host does not let this page load it.";

/// Shows an output: an image, a video or a sound. It is loaded without referrer, and without credentials unless its host
/// refuses CORS.
///
/// If the browser can't show a file, its start is read to find its real kind. A file that can't be shown is replaced with a
/// message, and a URL that isn't safe is shown as text.
#[component]
pub fn MediaView(
    url: String,
    kind: OutputKind,
    /// The accessible name.
    #[prop(into)]
    label: String,
    /// Whether to show a small still picture without controls.
    #[prop(optional)]
    thumbnail: bool,
    /// Called when the media can't be loaded from its URL.
    #[prop(optional, into)]
    on_gone: Option<Callback<()>>,
    /// Called when an image has loaded.
    #[prop(optional, into)]
    on_load: Option<Callback<HtmlImageElement>>,
) -> impl IntoView {
    let address = contexts().session.settings_untracked().address;
    let Some(safe) = SafeUrl::media(&url, address.as_str()) else {
        return match thumbnail {
            true => text_thumbnail(&url),
            false => unsafe_output(url),
        };
    };
    let source = safe.as_str().to_owned();
    // The value of `retry_signal::times` at the failure, and the message.
    let failed = RwSignal::new(None::<(u32, String)>);
    let fail = move |words: String| {
        failed.try_set(Some((untrack(retry_signal::times), words)));
    };
    let give_up = move || {
        fail(NOT_SHOWN.to_owned());
        if let Some(on_gone) = on_gone.filter(|_| !failed.is_disposed()) {
            on_gone.run(());
        }
    };
    let file_info = {
        let safe = safe.clone();
        move || {
            let FileInfo {
                kind: found,
                is_unreadable,
            } = known_files::of(&safe);
            (found.unwrap_or(kind), is_unreadable)
        }
    };
    let has_retried = StoredValue::new(false);
    let on_error = {
        let (safe, file_info) = (safe.clone(), file_info.clone());
        move |()| {
            let (kind, is_unreadable) = untrack(&file_info);
            if is_unreadable || !safe.is_link() {
                return give_up();
            }
            match thumbnail {
                // The caller may show a stored copy until the kind is known.
                true => give_up(),
                false => fail(String::new()),
            }
            let safe = safe.clone();
            spawn(async move {
                let step = known_files::look(&safe, kind).await;
                let is_first = has_retried.try_get_value() == Some(false);
                has_retried.try_set_value(true);
                match step {
                    Step::Show(_) => drop(failed.try_set(None)),
                    // The network may have been down for a moment.
                    Step::CannotShow if is_first => drop(failed.try_set(None)),
                    Step::CannotShow => fail(cannot_show(Some(kind))),
                    Step::Recover if !thumbnail => give_up(),
                    Step::Recover => {}
                }
            });
        }
    };
    if is_kind_unknown(safe.as_str(), kind) {
        let safe = safe.clone();
        spawn(async move {
            known_files::look(&safe, kind).await;
        });
    }
    let on_load = move |event: web_sys::Event| {
        if let Some(on_load) = on_load {
            on_load.run(event_target(&event));
        }
    };
    view! {
        {dynamic(move || {
            // Retry when the page becomes visible again or the network is back.
            if let Some((_, words)) = failed.get().filter(|(at, _)| *at == retry_signal::times()) {
                let words = if thumbnail { String::new() } else { words };
                return view! { <Gone words /> }.into_any();
            }
            let (source, label, on_error) = (source.clone(), label.clone(), on_error.clone());
            let (kind, is_unreadable) = file_info();
            let cors = (!is_unreadable).then_some("anonymous");
            match (kind, thumbnail) {
                (OutputKind::Image, _) if is_unreadable => {
                    view! {
                        <img
                            src=source
                            alt=label
                            referrerpolicy="no-referrer"
                            loading=if thumbnail { "lazy" } else { "eager" }
                            decoding="async"
                            on:load=handler(on_load)
                            on:error=handler(move |_: web_sys::ErrorEvent| on_error(()))
                        />
                    }
                        .into_any()
                }
                (OutputKind::Video, true) if is_unreadable => {
                    view! {
                        <video
                            class="still"
                            src=format!("{source}#t=0.001")
                            playsinline
                            preload="metadata"
                            tabindex="-1"
                            prop:muted=true
                            on:error=handler(move |_: web_sys::ErrorEvent| on_error(()))
                        ></video>
                    }
                        .into_any()
                }
                (OutputKind::Image, _) => {
                    picture::image(&source, &label, thumbnail, Box::new(on_load), Box::new(move |_| on_error(())))
                }
                (OutputKind::Video, true) => picture::still(&source, Box::new(move |_| on_error(()))),
                (OutputKind::Audio, true) => waveform::thumbnail(source),
                (OutputKind::Video, false) => {
                    let no_picture = on_error.clone();
                    // If the browser supports only the audio codec of a video, it plays the sound without a picture.
                    let on_metadata = move |event: web_sys::Event| {
                        if event_target::<HtmlVideoElement>(&event).video_width() == 0 {
                            no_picture(());
                        }
                    };
                    let on_error = move |_: web_sys::ErrorEvent| on_error(());
                    view! {
                        <video
                            src=source
                            aria-label=label
                            crossorigin=cors
                            controls
                            loop
                            autoplay=!picture::prefers_reduced_motion()
                            prop:muted=true
                            playsinline
                            preload="metadata"
                            on:loadedmetadata=handler(on_metadata)
                            on:error=handler(on_error)
                        ></video>
                    }
                        .into_any()
                }
                (OutputKind::Audio, false) => sound(source, label, cors, Box::new(move |_| on_error(()))),
                (OutputKind::Other, true) => text_thumbnail(&source),
                (OutputKind::Other, false) => text_output(source, COPY),
            }
        })}
    }
    .into_any()
}

/// Returns an audio player below the waveform of its sound.
fn sound(
    source: String,
    label: String,
    cors: Option<&'static str>,
    on_error: Box<dyn FnMut(web_sys::ErrorEvent)>,
) -> AnyView {
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
        {waveform::seekable(source.clone(), player, played)}
        <audio
            node_ref=player
            src=source
            aria-label=label
            crossorigin=cors
            controls
            preload="metadata"
            on:timeupdate=handler(follow)
            on:error=on_error
        ></audio>
    }
    .into_any()
}

/// Calls a function with the width and height in pixels of each picture or video that is loaded in an element, or with
/// `None` if it has neither.
pub fn follow_sides(element: NodeRef<Div>, act: impl Fn(Option<(u32, u32)>) + Clone + 'static) {
    follow_loaded(element, move |loaded| act(sides(loaded)));
}

/// Calls a function for each picture, video or sound in an element whose dimensions or duration have become known.
pub fn follow_loaded(element: NodeRef<Div>, act: impl Fn(&EventTarget) + Clone + 'static) {
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
            let act = act.clone();
            EventListener::new_with_options(&element, name, captured, move |event| {
                if let Some(loaded) = event.target() {
                    act(&loaded);
                }
            })
        };
        listeners.set_value(vec![listen("load"), listen("loadedmetadata")]);
    });
}

/// Returns the duration of a video or a sound, in milliseconds.
pub fn length(shown: &EventTarget) -> Option<u64> {
    let seconds = shown.dyn_ref::<HtmlMediaElement>()?.duration();
    seconds
        .is_finite()
        .then(|| (seconds * 1000.0).round() as u64)
}

/// Returns the width and height of a picture or a video, in pixels.
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

/// Returns an output that isn't media: the content of a data URL as text or file, or else the URL itself.
fn unsafe_output(url: String) -> AnyView {
    let mime = match OutputAddress::of(&url) {
        OutputAddress::Data(mime) if SafeUrl::file(&url, "").is_some() => mime,
        _ => return text_output(url, COPY),
    };
    if !file_type::is_text(&mime) {
        let mime = excerpt(&mime, MAX_TYPE_CHARS);
        let words = format!("A file of type {mime}. “Download” saves it.");
        return view! { <p class="muted">{words}</p> }.into_any();
    }
    let read = RwSignal::new(None);
    spawn(async move {
        let text = http::get_text(url.trim()).await;
        read.try_set(Some(text.map_err(|_| url)));
    });
    dynamic(move || match read.get() {
        None => ().into_any(),
        Some(Ok(text)) => text_output(text, "“Download” saves all of it."),
        Some(Err(url)) => text_output(url, COPY),
    })
}

/// Maximum number of characters shown of a MIME type. The service can send any text.
const MAX_TYPE_CHARS: usize = 100;

const COPY: &str = "“Copy output URL” copies all of it.";

/// Returns a text, shortened if it is long: browsers need minutes to lay out megabytes of text.
fn text_output(text: String, all: &str) -> AnyView {
    let rest = text.chars().nth(MAX_PROSE).map(|_| {
        let words = format!(
            "Only the first {MAX_PROSE} of {} characters are shown. {all}",
            text.chars().count()
        );
        view! { <p class="muted">{words}</p> }.into_any()
    });
    view! {
        <code class="unsafe-output" translate="no">{bounded(text)}</code>
        {rest}
    }
    .into_any()
}

/// Returns the start of a text, or an icon with the file name extension.
fn text_thumbnail(url: &str) -> AnyView {
    const SHOWN: usize = 60;
    if SafeUrl::file(url, "").is_none() {
        let start: String = url.chars().take(SHOWN).collect();
        return view! { <span class="media-text" translate="no">{start}</span> }.into_any();
    }
    let extension = file_type::extension(&[], "", url, OutputKind::Other);
    view! {
        <span class="media-stand-in">
            <Glyph icon=LuFileText />
            <span class="media-kind">{extension}</span>
        </span>
    }
    .into_any()
}

/// The placeholder for media that can't be shown, with the reason.
#[component]
pub fn Gone(words: String) -> AnyView {
    view! {
        <div class="media-gone">
            <Glyph icon=LuImageOff />
            <p aria-live="polite" prop:textContent=words></p>
        </div>
    }
    .into_any()
}
