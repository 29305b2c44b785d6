//! The longest side of copies for requests, as the user has chosen it for each model.

use atelier_contract::ModelId;
use atelier_studio::form::upload::embedding;
use leptos::prelude::*;

use crate::browser::local::LocalStore;

thread_local! {
    /// The choices that this page has read or changed. Other tabs don't change them.
    static CHOSEN: ArcRwSignal<Vec<(ModelId, Option<u32>)>> = ArcRwSignal::default();
}

fn chosen() -> ArcRwSignal<Vec<(ModelId, Option<u32>)>> {
    CHOSEN.with(Clone::clone)
}

/// Returns the longest side of the copies for a model, in pixels; tracked. `None` for copies as large as fits.
pub fn copy_side(model: &ModelId) -> Option<u32> {
    let chosen = chosen();
    let known = (chosen.read().iter()).find_map(|(of, side)| (of == model).then_some(*side));
    known.unwrap_or_else(|| {
        let text = LocalStore::Browser.read(&storage_key(model));
        let side = text.and_then(|text| embedding::parse_side(&text));
        chosen.update_untracked(|chosen| chosen.push((model.clone(), side)));
        side
    })
}

/// Remembers the longest side of the copies for a model, in pixels.
pub fn set_copy_side(model: &ModelId, side: Option<u32>) {
    let key = storage_key(model);
    match side {
        // A browser that refuses to store it forgets it with the page.
        Some(side) => drop(LocalStore::Browser.write(&key, &side.to_string())),
        None => LocalStore::Browser.remove(&key),
    }
    chosen().update(|chosen| {
        chosen.retain(|(of, _)| of != model);
        chosen.push((model.clone(), side));
    });
}

fn storage_key(model: &ModelId) -> String {
    format!("atelier.copy-side.{model}")
}
