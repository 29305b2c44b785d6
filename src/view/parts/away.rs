//! A note that a model is unavailable, shown next to the button that submits to it.

use atelier_contract::ModelId;
use leptos::prelude::*;

use crate::reactive::boxed::{memo, text, when};
use crate::state::contexts::contexts;

/// Returns the note, hidden while the model is available.
pub fn unavailable_note(model: ModelId) -> AnyView {
    let catalog = contexts().catalog;
    let note = memo(move || {
        let reason = catalog.model(&model)?.unavailable_reason;
        (!reason.is_empty()).then(|| {
            let why = reason.trim_end_matches('.');
            format!("Unavailable: {why}. Tasks wait at the service until it is back.")
        })
    });
    view! {
        <p class="away-note" role="status" hidden=when(move || note.read().is_none()) prop:textContent=text(move || note.get().unwrap_or_default())></p>
    }
    .into_any()
}
