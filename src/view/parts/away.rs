//! That a model can't be reached at present, where something is about to be sent to it.

use atelier_contract::ModelId;
use leptos::prelude::*;

use crate::reactive::boxed::{memo, text, when};
use crate::state::contexts::contexts;

/// Nothing while the model is there.
pub fn away_note(model: ModelId) -> AnyView {
    let catalog = contexts().catalog;
    let note = memo(move || {
        let away = catalog.model(&model)?.unavailable_reason;
        (!away.is_empty()).then(|| {
            let why = away.trim_end_matches('.');
            format!("Away: {why}. What is sent waits at the service until it is back.")
        })
    });
    view! {
        <p class="away-note" role="status" hidden=when(move || note.read().is_none()) prop:textContent=text(move || note.get().unwrap_or_default())></p>
    }
    .into_any()
}
