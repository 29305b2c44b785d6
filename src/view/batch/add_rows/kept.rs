//! What stands in the panels and not in the table, kept over visits to other pages and reloads for as long as its tab
//! lives.

use atelier_contract::{ModelId, json};
use atelier_studio::compose::panel_state::PanelState;

use crate::browser::local::LocalStore;

/// In bytes of JSON: what is longer does not outlive its panel, for the room is not this one's alone.
const MAX_STORED: usize = 100_000;

fn place(model: &ModelId) -> String {
    format!("atelier.unfinished.{model}")
}

pub fn read(model: &ModelId) -> PanelState {
    let stored = LocalStore::Tab.read(&place(model));
    let stored = stored.and_then(|text| PanelState::from_value(json::read(&text)?));
    stored.unwrap_or_default()
}

pub fn write(model: &ModelId, unfinished: &PanelState) {
    let place = place(model);
    let text = unfinished.to_value().to_string();
    let is_stored =
        !unfinished.is_empty() && text.len() <= MAX_STORED && LocalStore::Tab.write(&place, &text);
    if !is_stored {
        LocalStore::Tab.remove(&place);
    }
}
