use atelier_contract::output::SafeUrl;
use atelier_engine::{duration, stored_output};
use atelier_studio::output::output_cache;
use leptos::html::Div;
use leptos::prelude::*;

use crate::browser::{http, received};
use crate::reactive::boxed::spawn;
use crate::state::contexts::{Contexts, contexts};
use crate::view::parts::media;
use crate::view::task::shown_output::ShownOutput;

/// What an output measures, once that is known.
#[derive(Clone, Copy)]
pub struct Measures {
    all: Contexts,
    /// Width and height in pixels.
    sides: RwSignal<Option<(u32, u32)>>,
    /// How long a film or a sound is, in milliseconds.
    length: RwSignal<Option<u64>>,
    bytes: RwSignal<Option<u64>>,
}

impl Measures {
    pub fn new() -> Self {
        Self {
            all: contexts(),
            sides: RwSignal::new(None),
            length: RwSignal::new(None),
            bytes: RwSignal::new(None),
        }
    }

    /// Follows what is shown on a stage.
    pub fn follow(self, stage: NodeRef<Div>, shown: &ShownOutput) {
        let shown = shown.clone();
        media::follow_loaded(stage, move |loaded| {
            self.sides.set(media::sides(loaded));
            self.length.set(media::length(loaded));
            if self.bytes.get_untracked().is_none() {
                spawn(self.weigh(shown.clone()));
            }
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
            if stored_output::is_reference(&shown.url) {
                let file = all.runner.copy(&name).await;
                bytes = file.map(|file| file.size() as u64);
            }
        }
        if bytes.is_none() && safe.is_link() {
            bytes = http::content_length(safe.as_str()).await;
        }
        self.bytes.try_set(bytes);
    }

    /// Width by height; tracked.
    pub fn ratio(self) -> Option<String> {
        let (width, height) = self.sides.get()?;
        Some((f64::from(width) / f64::from(height)).to_string())
    }

    /// In pixels; tracked.
    pub fn width(self) -> Option<String> {
        let (width, _) = self.sides.get()?;
        Some(format!("{width}px"))
    }

    /// `1024 × 768 · 12 s long · 1.3 MB`, or as much of it as is known; tracked.
    pub fn text(self) -> String {
        let sides = self.sides.get();
        let sides = sides.map(|(width, height)| format!("{width} × {height}"));
        let length = self.length.get();
        let length = length.map(|length| format!("{} long", duration::text(length)));
        let bytes = self.bytes.get().map(output_cache::size);
        let known: Vec<String> = sides.into_iter().chain(length).chain(bytes).collect();
        known.join(" · ")
    }
}
