//! The paths at which the samples of models are served; [`crate::sample`] renders them.

use atelier_contract::ModelId;
use atelier_procedural::SOURCE_HASH;

use crate::model::Model;
use crate::outputs::{POSTERS, PREVIEWS, ROUTE};

/// Returns the path of a model's preview.
pub fn preview(model: &dyn Model) -> String {
    format!("{ROUTE}/{PREVIEWS}/{}", file_name(model, model.extension()))
}

/// Returns the path of a model's poster.
pub fn poster(model: &dyn Model) -> String {
    format!("{ROUTE}/{POSTERS}/{}", file_name(model, "webp"))
}

/// Returns the file name of a model's preview or poster.
pub fn file_name(model: &dyn Model, extension: &str) -> String {
    let ModelId {
        category,
        subcategory,
    } = model.id();
    // Samples are served as immutable, so the name changes whenever the picture may change.
    format!("{category}_{subcategory}_{SOURCE_HASH}.{extension}")
}
