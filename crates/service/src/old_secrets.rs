//! The secrets of tasks that ended before the service kept them apart.

use crate::models::Models;
use crate::store::Store;

/// Deletes the secrets of tasks that ended before the service kept them apart: under an earlier version, or before
/// their parameter was marked. Blocks; only models with secret parameters cost time.
pub fn delete_old(store: &dyn Store, models: &Models) {
    for model in models.iter() {
        let schema = model.schema();
        let parameters = schema.parameters().map(|(parameter, _)| parameter);
        let secret = parameters.filter(|parameter| parameter.is_secret());
        let names: Vec<&str> = secret.map(|parameter| parameter.name.as_str()).collect();
        if names.is_empty() {
            continue;
        }
        match store.delete_old_secrets(&schema.model, &names) {
            Ok(0) => {}
            Ok(count) => tracing::info!("secrets of {count} old tasks of {} deleted", schema.model),
            Err(error) => tracing::warn!(
                "secrets of old tasks of {} are deleted at the next start: {error}",
                schema.model
            ),
        }
    }
}
