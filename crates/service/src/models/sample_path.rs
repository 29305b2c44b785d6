//! The addresses at which the samples of models are served; [`crate::sample`] makes them.

use atelier_contract::ModelId;
use atelier_procedural::SOURCE_HASH;

use crate::model::Model;
use crate::outputs::{POSTERS, PREVIEWS, ROUTE};

/// The path that a model's preview is served at.
pub fn preview(model: &dyn Model) -> String {
    format!("{ROUTE}/{PREVIEWS}/{}", file_name(model, model.extension()))
}

/// The path that a model's poster is served at.
pub fn poster(model: &dyn Model) -> String {
    format!("{ROUTE}/{POSTERS}/{}", file_name(model, "webp"))
}

/// The name of either.
pub fn file_name(model: &dyn Model, extension: &str) -> String {
    let ModelId {
        category,
        subcategory,
    } = model.id();
    // What an address shows never changes: whatever changes a picture changes its name.
    format!("{category}_{subcategory}_{SOURCE_HASH}.{extension}")
}
