//! The panels that fill the table, one for each fill method.

mod axes;
mod axis;
mod axis_files;
mod base_hint;
mod import;
mod prompts;
mod shared_seed;
mod stored_panels;
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
    load_stored(composer);
    let methods = FillMethod::available(&composer.schema())
        .iter()
        .map(|method| {
            let is_chosen = when(move || chosen.get() == *method);
            segment("fill", method.name(), is_chosen, move || {
                chosen.set(*method)
            })
        });
    let methods = methods.collect_view();
    view! {
        <div class="fill">
            <div class="segments" role="radiogroup" aria-label="Fill the table by">
                {methods}
            </div>
            {dynamic(move || {
                composer.panel_builds.track();
                let state = composer.next_panel_state.try_update_value(std::mem::take);
                panel(composer, prompt.clone(), state.unwrap_or_default())
            })}
            <p class="problem" role="alert" prop:textContent=text(move || composer.refused.get().unwrap_or_default())></p>
        </div>
    }
    .into_any()
}

/// Loads the stored content of the panels as the initial content. The sweep of a batch that is edited again replaces the
/// stored sweep.
fn load_stored(composer: Composer) {
    let schema = composer.schema();
    let mut state = stored_panels::read(&schema.model);
    if composer.edited_sweep.read_untracked().is_some() {
        let method = state
            .fill_method(&schema)
            .unwrap_or(FillMethod::available(&schema)[0]);
        composer.offer_sweep_back(state.clone(), method);
        state.sweep = None;
    } else if let Some(method) = state.fill_method(&schema) {
        composer.way.set(method);
    }
    if state.has_unsent() {
        composer.is_opened.set(true);
    }
    composer.next_panel_state.set_value(state);
}

/// The panel of the chosen fill method. The content of the other panels is preserved.
fn panel(composer: Composer, prompt: Option<String>, state: PanelState) -> AnyView {
    let owner = Owner::current().unwrap_or_default();
    let pasted = RwSignal::new(state.pasted);
    let mapping = RwSignal::new(state.meant);
    let stored = state
        .sweep
        .map(|sweep| untrack(|| Axes::new(composer, None).restore(sweep)));
    let axes = RwSignal::new(stored);
    let current = move || {
        let schema = composer.try_schema()?;
        let sweep = axes.get().map(Axes::panel_sweep);
        let mut now = PanelState::new(composer.way.get(), sweep, pasted.get(), &schema);
        if !now.pasted.is_empty() {
            now.meant = mapping.get();
        }
        Some((schema, now))
    };
    let store = move || {
        if let Some((schema, mut now)) = untrack(current) {
            if names_secret(&now.pasted, &schema) {
                now.pasted.clear();
            }
            stored_panels::write(&schema.model, &now);
        }
    };
    effect(move || {
        let now = current().map(|(_, now)| now).unwrap_or_default();
        if !now.has_same_content(&composer.panel_state.read_untracked()) {
            composer.undo_offer.end_on_change();
        }
        composer.panel_state.set(now);
    });
    // Stored when the page is left and not at each key press: a pasted table can be long.
    StoredValue::new_local(lifecycle::on_leaving(store));
    on_cleanup(store);
    dynamic(move || {
        composer.edited_sweep.track();
        match (composer.way.get(), prompt.clone()) {
            (FillMethod::Lines, Some(prompt)) => prompts::prompts(composer, prompt),
            (FillMethod::Import, _) => import::import(composer, pasted, mapping),
            _ => {
                // Used only once, so that it does not overwrite later edits.
                let edited = composer.edited_sweep.write_untracked().take();
                let existing = axes.get_untracked().filter(|_| edited.is_none());
                let now = existing
                    .unwrap_or_else(|| owner.with(|| untrack(|| Axes::new(composer, edited))));
                if existing.is_none() {
                    axes.set(Some(now));
                }
                sweep::sweep(composer, now)
            }
        }
    })
}
