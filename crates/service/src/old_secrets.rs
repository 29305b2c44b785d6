//! Deletes the secrets of tasks that ended before secrets were stored separately.

use crate::models::Models;
use crate::store::Store;

/// Deletes secrets from the inputs of old tasks: tasks of earlier versions, and tasks from before a parameter was marked
/// as secret. Blocks; takes time only for models with secret parameters.
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
                "can't delete the secrets of old tasks of {}; the next start retries: {error}",
                schema.model
            ),
        }
    }
}
