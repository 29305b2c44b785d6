use leptos::prelude::*;

use crate::boxed::text;
use crate::view::batch::composer::Composer;

/// What new rows take over from the form for one, but for what they set themselves.
pub fn base_hint(
    composer: Composer,
    own: impl Fn(&str) -> bool + Send + Sync + 'static,
) -> AnyView {
    let sentence = text(move || {
        let one = composer.one.read();
        let parts: Vec<String> = one
            .iter()
            .filter(|(name, _)| !own(name))
            .map(|(name, entry)| {
                let text = entry.to_text();
                let start: String = text.chars().take(24).collect();
                let more = if start.len() < text.len() { "…" } else { "" };
                format!("{name} {start}{more}")
            })
            .collect();
        if parts.is_empty() {
            "Other settings come from One.".into()
        } else {
            let parts = parts.join(", ");
            let stop = if parts.ends_with('…') { "" } else { "." };
            format!("Other settings come from One: {parts}{stop}")
        }
    });
    view! { <p class="hint">{sentence}</p> }.into_any()
}
