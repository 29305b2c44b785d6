//! The stored form of a canceled task: a failure with an additional field, which earlier releases ignore.

use atelier_contract::{ApiError, StatusWord, TaskId};
use serde::{Deserialize, Serialize, Serializer};

use super::TaskState;

/// The message that earlier releases show.
const MESSAGE: &str = "Canceled";

#[derive(Serialize)]
struct Canceled<'a> {
    id: &'a TaskId,
    message: &'static str,
    canceled: bool,
}

pub(super) fn serialize_canceled<S: Serializer>(
    id: &TaskId,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let stored = Canceled {
        id,
        message: MESSAGE,
        canceled: true,
    };
    stored.serialize(serializer)
}

/// A [`TaskState`] as it is read.
#[derive(Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub(super) enum StoredState {
    Queued,
    Submitting,
    Unconfirmed {
        error: ApiError,
    },
    Running {
        id: TaskId,
        word: StatusWord,
    },
    Fetching {
        id: TaskId,
    },
    Ready {
        id: TaskId,
        outputs: Vec<String>,
    },
    Failed {
        id: Option<TaskId>,
        message: String,
        #[serde(default)]
        canceled: bool,
    },
    Gone {
        id: TaskId,
    },
}

impl From<StoredState> for TaskState {
    fn from(stored: StoredState) -> Self {
        match stored {
            StoredState::Queued => Self::Queued,
            StoredState::Submitting => Self::Submitting,
            StoredState::Unconfirmed { error } => Self::Unconfirmed { error },
            StoredState::Running { id, word } => Self::Running { id, word },
            StoredState::Fetching { id } => Self::Fetching { id },
            StoredState::Ready { id, outputs } => Self::Ready { id, outputs },
            StoredState::Failed {
                id: Some(id),
                canceled: true,
                ..
            } => Self::Canceled { id },
            StoredState::Failed { id, message, .. } => Self::Failed { id, message },
            StoredState::Gone { id } => Self::Gone { id },
        }
    }
}
