//! The favorite models, and the models that are listed first. Both are stored in this browser, for all tabs.

use atelier_contract::ModelId;
use atelier_studio::navigation::model_order;
use leptos::prelude::*;

use crate::browser::local::{self, LocalStore};
use crate::reactive::boxed::effect;
use crate::state::contexts::Contexts;

const FAVORITES: &str = "atelier.favorite-models";

/// The key of the models that are listed first. They are stored because the first view is shown before the tasks are read.
const FIRST: &str = "atelier.first-models";

thread_local! {
    static KNOWN: ArcRwSignal<String> = ArcRwSignal::new(read_stored());
}

/// Returns the models that are listed first, one per line.
pub fn first() -> String {
    LocalStore::Browser.read(FIRST).unwrap_or_default()
}

/// Follows tasks and other tabs, as long as the page is open.
pub fn follow(contexts: Contexts) {
    local::on_change(FAVORITES, || known().set(read_stored()));
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

/// Returns the favorite models, one per line; tracked.
pub fn favorites() -> String {
    known().get()
}

/// Returns whether a model is a favorite; tracked.
pub fn is_favorite(model: &ModelId) -> bool {
    model_order::is_favorite(&known().read(), model)
}

/// Adds a model to the favorites, or removes it from them.
pub fn toggle(model: &ModelId) {
    let favorites = model_order::toggled(&known().read_untracked(), model);
    // If storage refuses, the order is used during this visit only.
    LocalStore::Browser.write(FAVORITES, &favorites);
    known().set(favorites);
}

fn read_stored() -> String {
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
    fn stored_favorites_are_read_and_written_in_the_same_format() {
        let model = |name: &str| ModelId {
            category: "image".into(),
            subcategory: name.into(),
        };
        let key = "atelier.favorite-models";
        LocalStore::Browser.write(key, "image/strata\nimage/later model");
        known().set(read_stored());
        let is_favorite = |name| untrack(|| is_favorite(&model(name)));
        assert!(is_favorite("strata") && is_favorite("later model"));
        assert!(!is_favorite("tessera"));
        toggle(&model("tessera"));
        toggle(&model("strata"));
        let stored = LocalStore::Browser.read(key);
        assert_eq!(stored.as_deref(), Some("image/later model\nimage/tessera"));
        LocalStore::Browser.write("atelier.first-models", "image/tessera\nimage/strata");
        assert_eq!(first(), "image/tessera\nimage/strata");
        LocalStore::Browser.remove("atelier.first-models");
        LocalStore::Browser.remove(key);
        known().set(read_stored());
        assert!(!is_favorite("tessera"));
    }
}
