use crate::contexts::contexts;
use atelier_engine::output::{OutputKind, SafeUrl};
use icondata_lu::{LuAudioLines, LuFilm, LuImageOff};
use leptos::prelude::*;

use super::glyph::Glyph;
use crate::boxed::{dynamic, handler};

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
) -> impl IntoView {
    let address = contexts().session.settings_untracked().address;
    let Some(safe) = SafeUrl::media(&url, address.as_str()) else {
        return view! { <code class="unsafe-output">{url}</code> }.into_any();
    };
    let source = safe.as_str().to_owned();
    let failed = RwSignal::new(false);
    let on_error = move |_| {
        failed.set(true);
        if let Some(on_gone) = on_gone {
            on_gone.run(());
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
                            on:error=handler(on_error)
                        />
                    }
                        .into_any()
                }
                (OutputKind::Video, true) => {
                    view! {
                        <span class="media-stand-in">
                            <Glyph icon=LuFilm />
                        </span>
                    }
                        .into_any()
                }
                (OutputKind::Audio, true) => {
                    view! {
                        <span class="media-stand-in">
                            <Glyph icon=LuAudioLines />
                        </span>
                    }
                        .into_any()
                }
                (OutputKind::Video, false) => {
                    view! {
                        <video
                            src=source
                            aria-label=label
                            crossorigin="anonymous"
                            controls
                            loop
                            playsinline
                            preload="metadata"
                            on:error=handler(on_error)
                        ></video>
                    }
                        .into_any()
                }
                (OutputKind::Audio, false) => {
                    view! {
                        <audio
                            src=source
                            aria-label=label
                            crossorigin="anonymous"
                            controls
                            preload="metadata"
                            on:error=handler(on_error)
                        ></audio>
                    }
                        .into_any()
                }
                (OutputKind::Other, _) => {
                    view! { <code class="unsafe-output">{source}</code> }.into_any()
                }
            }
        })}
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
