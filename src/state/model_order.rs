//! Favorite models, and which models come first in the list; kept in this browser, for all tabs.

use atelier_contract::ModelId;
use atelier_studio::navigation::model_order;
use leptos::prelude::*;

use crate::browser::local::{self, LocalStore};
use crate::reactive::boxed::effect;
use crate::state::contexts::Contexts;

const FAVORITES: &str = "atelier.favorite-models";

/// Read by the first view, which knows of no tasks yet: what stands there was seen when it was written.
const FIRST: &str = "atelier.first-models";

thread_local! {
    static KNOWN: ArcRwSignal<String> = ArcRwSignal::new(kept());
}

/// The models that come first, a line each.
pub fn first() -> String {
    LocalStore::Browser.read(FIRST).unwrap_or_default()
}

/// Keeps up with tasks and with other tabs, for as long as the page lives.
pub fn follow(contexts: Contexts) {
    local::on_change(FAVORITES, || known().set(kept()));
    let runner = contexts.runner;
    effect(move || {
        runner.track_phases();
        let is_open = runner.is_open();
        let favorites = known().get();
        let recent = runner.with_tasks(|tasks| model_order::recent(tasks.iter().copied()));
        if is_open {
            LocalStore::Browser.write(FIRST, &model_order::first(&favorites, &recent));
        }
    });
}

/// The favorites, a line each; tracked.
pub fn favorites() -> String {
    known().get()
}

/// Tracked.
pub fn is_favorite(model: &ModelId) -> bool {
    model_order::is_favorite(&known().read(), model)
}

pub fn toggle(model: &ModelId) {
    let favorites = model_order::toggled(&known().read_untracked(), model);
    // If storage refuses, the order holds for this visit.
    LocalStore::Browser.write(FAVORITES, &favorites);
    known().set(favorites);
}

fn kept() -> String {
    LocalStore::Browser.read(FAVORITES).unwrap_or_default()
}

fn known() -> ArcRwSignal<String> {
    KNOWN.with(Clone::clone)
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn stored_favorites_are_read_and_written_as_they_were() {
        let model = |name: &str| ModelId {
            category: "image".into(),
            subcategory: name.into(),
        };
        let place = "atelier.favorite-models";
        LocalStore::Browser.write(place, "image/strata\nimage/later model");
        known().set(kept());
        let is_favorite = |name| untrack(|| is_favorite(&model(name)));
        assert!(is_favorite("strata") && is_favorite("later model"));
        assert!(!is_favorite("tessera"));
        toggle(&model("tessera"));
        toggle(&model("strata"));
        let stored = LocalStore::Browser.read(place);
        assert_eq!(stored.as_deref(), Some("image/later model\nimage/tessera"));
        LocalStore::Browser.write("atelier.first-models", "image/tessera\nimage/strata");
        assert_eq!(first(), "image/tessera\nimage/strata");
        LocalStore::Browser.remove("atelier.first-models");
        LocalStore::Browser.remove(place);
        known().set(kept());
        assert!(!is_favorite("tessera"));
    }
}
