//! Caches the last replies of services about their models, for use while a service is unavailable. The body of a reply is
//! stored unchanged, and read like any other reply. A reply that can't be read is ignored.

use atelier_contract::{ApiError, ModelId, ModelList, Schema, json};
use atelier_engine::Millis;

use crate::boot::offline;
use crate::browser::clock;
use crate::browser::http::Body;
use crate::browser::storage::replies::{self, Reply};
use crate::reactive::boxed::{after, spawn};

/// The delay before a reply is stored, in milliseconds, so that storing does not slow down other work.
const STORE_DELAY_MS: u32 = 1_000;

/// Stores the reply from a URL after a delay. Does nothing if the user does not want the page to work offline.
pub fn store(url: String, body: Body) {
    let since = clock::now();
    let write = move || {
        if !offline::is_wanted() {
            return;
        }
        spawn(async move {
            replies::write(&url, since, &body.array()).await;
        });
    };
    after(STORE_DELAY_MS, write).forget();
}

/// Returns the cached list of models from a URL, and when it was received.
pub async fn models(url: &str) -> Option<(ModelList, Millis)> {
    let Reply { since, body } = replies::read(url).await?;
    let mut list = ModelList::from_body(&body).ok()?;
    for model in &mut list.models {
        // Models that were unavailable then may be available now.
        model.unavailable_reason = String::new();
    }
    Some((list, since))
}

/// Returns the cached schema of a model from a URL, and when it was received.
pub async fn schema(url: &str, model: ModelId) -> Option<(Schema, Millis)> {
    let Reply { since, body } = replies::read(url).await?;
    let schema = read_schema(&body, model).ok()?;
    Some((schema, since))
}

/// Reads a schema from the body of a reply, and separates its secret parameters: see [`crate::state::secrets`].
///
/// # Errors
///
/// [`ApiError::Malformed`] if the body is not a schema.
pub fn read_schema(body: &[u8], model: ModelId) -> Result<Schema, ApiError> {
    let value = json::parse(body).map_err(|_| ApiError::not_json(body))?;
    Ok(Schema::from_body(value, model)?.with_secrets_apart())
}
