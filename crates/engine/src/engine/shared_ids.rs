//! Rejects ids that a batch response assigns to several items.

use atelier_contract::{Accepted, ApiError, TaskId};
use serde_json::Value;

use super::Engine;
use super::call::InFlight;
use crate::Task;

const SHARED: &str = "the reply gives one id to several tasks";

impl Engine {
    /// Rejects ids that were assigned to tasks with different inputs. The id belongs to only one of the tasks, and it
    /// is unknown to which one, so no task gets it.
    pub(super) fn refuse_shared_ids(
        &self,
        call: &InFlight,
        responses: &mut [Result<Value, ApiError>],
    ) {
        let id = |response: &Result<Value, ApiError>| -> Option<TaskId> {
            Some(Accepted::from_body(response.as_ref().ok()?).ok()?.id)
        };
        let numbered = call.tasks.iter().zip(responses.iter()).enumerate();
        let given: Vec<_> = numbered
            .filter_map(|(at, (key, response))| Some((at, id(response)?, self.task(key)?)))
            .collect();
        let is_shared = |id: &TaskId, task: &Task| {
            let mut others = given.iter();
            others.any(|(_, other, of)| other == id && of.input != task.input)
        };
        for (at, id, task) in &given {
            if is_shared(id, task) {
                responses[*at] = Err(ApiError::malformed(SHARED));
            }
        }
    }
}

/// Whether the error is a shared id. The user decides, because the service would return the same id for the same key.
pub(super) fn is_of_shared_id(error: &ApiError) -> bool {
    matches!(error, ApiError::Malformed { detail } if detail == SHARED)
}
