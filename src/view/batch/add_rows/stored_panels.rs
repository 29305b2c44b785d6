//! Stores the content of the panels in the session storage, so that it survives navigation and reloads.

use atelier_contract::{ModelId, json};
use atelier_studio::compose::panel_state::PanelState;

use crate::browser::local::LocalStore;

/// The maximum size in bytes of JSON. Larger content is not stored, because the quota is shared.
const MAX_STORED: usize = 100_000;

fn place(model: &ModelId) -> String {
    format!("atelier.unfinished.{model}")
}

/// Returns the stored content; empty if there is none.
pub fn read(model: &ModelId) -> PanelState {
    let stored = LocalStore::Tab.read(&place(model));
    let stored = stored.and_then(|text| PanelState::from_value(json::read(&text)?));
    stored.unwrap_or_default()
}

/// Stores the content. Removes the stored content if the new one is empty, too large or refused by the browser.
pub fn write(model: &ModelId, unfinished: &PanelState) {
    let place = place(model);
    let text = unfinished.to_value().to_string();
    let is_stored =
        !unfinished.is_empty() && text.len() <= MAX_STORED && LocalStore::Tab.write(&place, &text);
    if !is_stored {
        LocalStore::Tab.remove(&place);
    }
}
