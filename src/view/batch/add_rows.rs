//! The ways to fill the table.

mod axes;
mod axis;
mod base_hint;
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
