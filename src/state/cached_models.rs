//! What services said last of their models, kept in this browser for when they can't be reached: the reply's own
//! bytes, which are read again as any reply's are. What can't be read is not there.

use atelier_contract::{ApiError, ModelId, ModelList, Schema, json};
use atelier_engine::Millis;

use crate::boot::offline;
use crate::browser::clock;
use crate::browser::http::Body;
use crate::browser::storage::replies::{self, Reply};
use crate::reactive::boxed::{after, spawn};

/// What the page has to do for a person comes first.
const LATE_MS: u32 = 1_000;

/// Keeps what the service has just given at this URL, a little later; not where a person wants nothing to be
/// kept for a time without network.
pub fn keep(url: String, body: Body) {
    let since = clock::now();
    let write = move || {
        if !offline::is_wanted() {
            return;
        }
        spawn(async move {
            replies::write(&url, since, &body.array()).await;
        });
    };
    after(LATE_MS, write).forget();
}

/// The list that was last given at this URL, and when.
pub async fn models(url: &str) -> Option<(ModelList, Millis)> {
    let Reply { since, body } = replies::read(url).await?;
    let mut list = ModelList::from_body(&body).ok()?;
    for model in &mut list.models {
        // Which models were away then says nothing about now.
        model.unavailable_reason = String::new();
    }
    Some((list, since))
}

/// The schema of this model that was last given at this URL, and when.
pub async fn schema(url: &str, model: ModelId) -> Option<(Schema, Millis)> {
    let Reply { since, body } = replies::read(url).await?;
    let schema = read_schema(&body, model).ok()?;
    Some((schema, since))
}

/// The body of a reply. The page never has a secret parameter among the others: see [`crate::state::secrets`].
///
/// # Errors
/// [`ApiError::Malformed`] if it is no schema.
pub fn read_schema(body: &[u8], model: ModelId) -> Result<Schema, ApiError> {
    let value = json::parse(body).map_err(|_| ApiError::not_json(body))?;
    Ok(Schema::from_body(value, model)?.with_secrets_apart())
}
