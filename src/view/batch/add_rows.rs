//! The ways to fill the table.

mod axes;
mod axis;
mod held_seed;
mod import;
mod prompts;
mod sweep;

use leptos::prelude::*;

use super::composer::Composer;
use crate::boxed::{dynamic, text, when};
use crate::view::parts::segment::segment;

const WAYS: [&str; 3] = ["Lines", "Sweep", "Import"];

pub fn add_rows(composer: Composer) -> AnyView {
    let prompt = atelier_engine::compose::prompt_of(&composer.schema());
    // A model without any text is swept or imported.
    let way = RwSignal::new(usize::from(prompt.is_none()));
    let ways = WAYS
        .into_iter()
        .enumerate()
        .skip(usize::from(prompt.is_none()))
        .map(|(at, name)| {
            let is_chosen = when(move || way.get() == at);
            segment("fill", name, is_chosen, move || way.set(at))
        })
        .collect_view();
    view! {
        <div class="fill">
            <div class="segments" role="radiogroup" aria-label="Fill the table by">
                {ways}
            </div>
            {dynamic(move || match (way.get(), prompt.clone()) {
                (0, Some(prompt)) => prompts::prompts(composer, prompt),
                (2, _) => import::import(composer),
                _ => sweep::sweep(composer),
            })}
            <p class="problem" role="alert">
                {text(move || composer.refused.get().unwrap_or_default())}
            </p>
        </div>
    }
    .into_any()
}

/// What new rows take over from the form for one, but for what they set themselves.
fn base_hint(composer: Composer, own: impl Fn(&str) -> bool + Send + Sync + 'static) -> AnyView {
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
            format!("Other settings come from One: {}.", parts.join(", "))
        }
    });
    view! { <p class="hint">{sentence}</p> }.into_any()
}
