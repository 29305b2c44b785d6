use atelier_contract::Draft;
use leptos::prelude::*;

use crate::reactive::boxed::text;

/// The usual source of the inherited inputs, as named on the page.
pub const SINGLE_FORM: &str = "the single form";

/// A sentence that lists the inputs that new rows inherit. `from`: the source, as named on the page. `own`: whether the
/// rows set a parameter themselves.
pub fn base_hint(
    from: Signal<String>,
    base: Signal<Draft>,
    own: impl Fn(&str) -> bool + Send + Sync + 'static,
) -> AnyView {
    let sentence = text(move || {
        let (base, from) = (base.read(), from.read());
        let parts: Vec<String> = base
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
            format!("Other settings come from {from}.")
        } else {
            let parts = parts.join(", ");
            let stop = if parts.ends_with('…') { "" } else { "." };
            format!("Other settings come from {from}: {parts}{stop}")
        }
    });
    view! { <p class="hint" prop:textContent=sentence></p> }.into_any()
}
