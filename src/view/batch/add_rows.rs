//! The ways to fill the table.

mod axes;
mod axis;
mod base_hint;
mod held_seed;
mod import;
pub mod kept;
mod prompts;
mod sweep;

use atelier_studio::compose::fill_method::FillMethod;
use atelier_studio::compose::panel_state::PanelState;
use atelier_studio::form::parameter_name::names_secret;
use leptos::prelude::*;

use axes::Axes;

use super::composer::Composer;
use crate::browser::lifecycle;
use crate::reactive::boxed::{dynamic, effect, text, when};
use crate::view::parts::segment::segment;

pub fn add_rows(composer: Composer) -> AnyView {
    let prompt = atelier_studio::compose::prompt_of(&composer.schema());
    let chosen = composer.way;
    begin(composer);
    let ways = FillMethod::available(&composer.schema()).iter().map(|way| {
        let is_chosen = when(move || chosen.get() == *way);
        segment("fill", way.name(), is_chosen, move || chosen.set(*way))
    });
    let ways = ways.collect_view();
    view! {
        <div class="fill">
            <div class="segments" role="radiogroup" aria-label="Fill the table by">
                {ways}
            </div>
            {dynamic(move || {
                composer.begun_anew.track();
                // Of a new batch nothing stands there.
                let left = composer.left.try_update_value(std::mem::take);
                panel(composer, prompt.clone(), left.unwrap_or_default())
            })}
            <p class="problem" role="alert" prop:textContent=text(move || composer.refused.get().unwrap_or_default())></p>
        </div>
    }
    .into_any()
}

/// What stood in the panels when they were left, for the first of them to begin with. What is edited again takes its
/// place.
fn begin(composer: Composer) {
    let schema = composer.schema();
    let mut begun = kept::read(&schema.model);
    if composer.begun.read_untracked().is_some() {
        let way = begun
            .fill_method(&schema)
            .unwrap_or(FillMethod::available(&schema)[0]);
        composer.offer_sweep_back(begun.clone(), way);
        begun.sweep = None;
    } else if let Some(way) = begun.fill_method(&schema) {
        composer.way.set(way);
    }
    if begun.has_unsent() {
        composer.is_wanted.set(true);
    }
    composer.left.set_value(begun);
}

/// The way that is chosen. What stands in one stays there while another one is looked at.
fn panel(composer: Composer, prompt: Option<String>, begun: PanelState) -> AnyView {
    let owner = Owner::current().unwrap_or_default();
    let pasted = RwSignal::new(begun.pasted);
    let meant = RwSignal::new(begun.meant);
    let unfinished = begun
        .sweep
        .map(|sweep| untrack(|| Axes::new(composer, None).with(sweep)));
    let axes = RwSignal::new(unfinished);
    let now = move || {
        let schema = composer.try_schema()?;
        let sweep = axes.get().map(Axes::unfinished);
        let mut now = PanelState::new(composer.way.get(), sweep, pasted.get(), &schema);
        if !now.pasted.is_empty() {
            now.meant = meant.get();
        }
        Some((schema, now))
    };
    let keep = move || {
        if let Some((schema, mut now)) = untrack(now) {
            if names_secret(&now.pasted, &schema) {
                now.pasted.clear();
            }
            kept::write(&schema.model, &now);
        }
    };
    effect(move || {
        let now = now().map(|(_, now)| now).unwrap_or_default();
        if !now.has_same_content(&composer.written.read_untracked()) {
            composer.way_back.end_by_change();
        }
        composer.written.set(now);
    });
    // Not at each key press: a pasted table is long.
    StoredValue::new_local(lifecycle::on_leaving(keep));
    on_cleanup(keep);
    dynamic(move || {
        composer.begun.track();
        match (composer.way.get(), prompt.clone()) {
            (FillMethod::Lines, Some(prompt)) => prompts::prompts(composer, prompt),
            (FillMethod::Import, _) => import::import(composer, pasted, meant),
            _ => {
                // It is begun with once: what a person makes of it is theirs.
                let begun = composer.begun.write_untracked().take();
                let kept = axes.get_untracked().filter(|_| begun.is_none());
                let now =
                    kept.unwrap_or_else(|| owner.with(|| untrack(|| Axes::new(composer, begun))));
                if kept.is_none() {
                    axes.set(Some(now));
                }
                sweep::sweep(composer, now)
            }
        }
    })
}
