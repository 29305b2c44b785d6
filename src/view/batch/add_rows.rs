//! The ways to fill the table.

mod axes;
mod axis;
mod base_hint;
mod held_seed;
mod import;
mod prompts;
mod sweep;

use atelier_engine::compose::way::Way;
use leptos::prelude::*;

use super::composer::Composer;
use crate::boxed::{dynamic, text, when};
use crate::view::parts::segment::segment;

pub fn add_rows(composer: Composer) -> AnyView {
    let prompt = atelier_engine::compose::prompt_of(&composer.schema());
    let chosen = composer.way;
    let ways = Way::of(&composer.schema()).iter().map(|way| {
        let is_chosen = when(move || chosen.get() == *way);
        segment("fill", way.name(), is_chosen, move || chosen.set(*way))
    });
    let ways = ways.collect_view();
    view! {
        <div class="fill">
            <div class="segments" role="radiogroup" aria-label="Fill the table by">
                {ways}
            </div>
            {dynamic(move || match (chosen.get(), prompt.clone()) {
                (Way::Lines, Some(prompt)) => prompts::prompts(composer, prompt),
                (Way::Import, _) => import::import(composer),
                _ => sweep::sweep(composer),
            })}
            <p class="problem" role="alert">
                {text(move || composer.refused.get().unwrap_or_default())}
            </p>
        </div>
    }
    .into_any()
}
