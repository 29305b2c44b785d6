//! Extracts `:category/:subcategory` from a path.

use atelier_contract::ModelId;
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;

use crate::failure::Failure;

/// The model in a path. A malformed path gets an error response like every other failure.
pub struct ModelPath(pub ModelId);

impl<S: Send + Sync> FromRequestParts<S> for ModelPath {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        Path::<(String, String)>::from_request_parts(parts, state)
            .await
            .map(|Path((category, subcategory))| Self(ModelId::new(category, subcategory)))
            .map_err(|error| Failure::bad_request(format!("{}.", error.body_text())))
    }
}
