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

/// The dimensions, duration and file size of an output, once they are known.
#[derive(Clone, Copy)]
pub struct Measures {
    all: Contexts,
    /// Width and height in pixels.
    dimensions: RwSignal<Option<(u32, u32)>>,
    /// Duration of a video or a sound, in milliseconds.
    duration: RwSignal<Option<u64>>,
    bytes: RwSignal<Option<u64>>,
}

impl Measures {
    pub fn new() -> Self {
        Self {
            all: contexts(),
            dimensions: RwSignal::new(None),
            duration: RwSignal::new(None),
            bytes: RwSignal::new(None),
        }
    }

    /// Reads the measures each time a file has loaded on the stage.
    pub fn follow(self, stage: NodeRef<Div>, shown: &ShownOutput) {
        let shown = shown.clone();
        media::follow_loaded(stage, move |loaded| {
            self.dimensions.set(media::sides(loaded));
            self.duration.set(media::length(loaded));
            if self.bytes.get_untracked().is_none() {
                spawn(self.find_file_size(shown.clone()));
            }
        });
    }

    /// Finds the file size: from the browser's resource timing, else from the stored copy, else with a HEAD request.
    async fn find_file_size(self, shown: ShownOutput) {
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

    /// Returns the aspect ratio, width divided by height; tracked.
    pub fn ratio(self) -> Option<String> {
        let (width, height) = self.dimensions.get()?;
        Some((f64::from(width) / f64::from(height)).to_string())
    }

    /// Returns the width as a CSS length; tracked.
    pub fn width(self) -> Option<String> {
        let (width, _) = self.dimensions.get()?;
        Some(format!("{width}px"))
    }

    /// Returns the file size in bytes; tracked.
    pub fn bytes(self) -> Option<u64> {
        self.bytes.get()
    }

    /// Returns a text such as `1024 × 768 · 12 s long · 1.3 MB`, without the parts that are unknown; tracked.
    pub fn text(self) -> String {
        let dimensions = self.dimensions.get();
        let dimensions = dimensions.map(|(width, height)| format!("{width} × {height}"));
        let duration = self.duration.get();
        let duration = duration.map(|duration| format!("{} long", duration::text(duration)));
        let bytes = self.bytes.get().map(output_cache::size);
        let known: Vec<String> = dimensions
            .into_iter()
            .chain(duration)
            .chain(bytes)
            .collect();
        known.join(" · ")
    }
}
