use atelier_engine::output::SafeUrl;
use atelier_engine::output_cache;
use gloo_events::{EventListener, EventListenerOptions, EventListenerPhase};
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{HtmlImageElement, HtmlVideoElement};

use crate::boxed::{effect, spawn};
use crate::browser::{http, received};
use crate::contexts::{Contexts, contexts};
use crate::view::task::output_view::ShownOutput;

/// What an output measures, once that is known.
#[derive(Clone, Copy)]
pub struct Measures {
    all: Contexts,
    /// Width and height in pixels.
    sides: RwSignal<Option<(u32, u32)>>,
    bytes: RwSignal<Option<u64>>,
}

impl Measures {
    pub fn new() -> Self {
        Self {
            all: contexts(),
            sides: RwSignal::new(None),
            bytes: RwSignal::new(None),
        }
    }

    /// Follows what is shown on a stage.
    pub fn follow(self, stage: NodeRef<Div>, shown: &ShownOutput) {
        let shown = shown.clone();
        let listeners = StoredValue::new_local(Vec::new());
        effect(move || {
            let Some(stage) = stage.get() else {
                return;
            };
            // These events do not rise.
            let captured = EventListenerOptions {
                phase: EventListenerPhase::Capture,
                passive: true,
            };
            let listen = |name: &'static str| {
                let shown = shown.clone();
                EventListener::new_with_options(&stage, name, captured, move |event| {
                    self.sides.set(event.target().and_then(|it| sides(&it)));
                    if self.bytes.get_untracked().is_none() {
                        spawn(self.weigh(shown.clone()));
                    }
                })
            };
            listeners.set_value(vec![listen("load"), listen("loadedmetadata")]);
        });
    }

    /// By what the browser has received; else by the copy; else its host is asked, not for the file itself.
    async fn weigh(self, shown: ShownOutput) {
        let all = self.all;
        let address = all.session.settings_untracked().address;
        let Some(safe) = SafeUrl::media(&shown.url, address.as_str()) else {
            return;
        };
        let mut bytes = received::bytes(safe.as_str());
        if bytes.is_none() {
            let name = shown.task.key.output(shown.position);
            let copies = all.runner.copies().await.unwrap_or_default();
            let own = copies.iter().find(|copy| copy.key == name);
            bytes = own.map(|copy| copy.bytes);
        }
        if bytes.is_none() && safe.is_link() {
            bytes = http::content_length(safe.as_str()).await;
        }
        self.bytes.try_set(bytes);
    }

    /// `1024 × 768 · 1.3 MB`, or as much of it as is known; tracked.
    pub fn text(self) -> String {
        let sides = self.sides.get();
        let sides = sides.map(|(width, height)| format!("{width} × {height}"));
        let bytes = self.bytes.get().map(output_cache::size);
        let known: Vec<String> = sides.into_iter().chain(bytes).collect();
        known.join(" · ")
    }
}

fn sides(shown: &web_sys::EventTarget) -> Option<(u32, u32)> {
    if let Some(image) = shown.dyn_ref::<HtmlImageElement>() {
        return Some((image.natural_width(), image.natural_height()));
    }
    let video = shown.dyn_ref::<HtmlVideoElement>()?;
    Some((video.video_width(), video.video_height())).filter(|(width, _)| *width > 0)
}
