//! The content of an item in the grid of a batch.

use atelier_contract::output::OutputKind;
use atelier_engine::{Task, TaskKey, TaskState};
use atelier_studio::navigation::route::Route;

use crate::view::task::words::why_unconfirmed;

/// The content of an item in the grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Thumb {
    /// The position in the batch, from 0.
    pub index: usize,
    /// The phase that decides its color.
    pub phase: String,
    /// The state as shown to the user.
    pub state: String,
    pub title: String,
    /// A shorter title for the caption.
    pub caption: String,
    /// The error, or empty.
    pub note: String,
    /// The URL and the kind of the first output.
    pub picture: Option<(String, OutputKind)>,
    /// The number of outputs in addition to the one that is shown.
    pub more: usize,
    pub href: Option<String>,
    /// `None` if this browser has no such task.
    pub task: Option<TaskKey>,
    /// Whether the item was not sent with this batch.
    pub is_left_out: bool,
}

impl Thumb {
    /// An item that was not sent with this batch.
    pub fn left_out(index: usize, title: String, caption: String) -> Self {
        Self {
            state: "Not sent".into(),
            note: "Its row could not be sent, is in the table again, or was sent by another tab."
                .into(),
            is_left_out: true,
            ..Self::of(index, None, title, caption)
        }
    }

    /// The content for a task; `None` if the task was removed. `title` and `caption` distinguish it from the other items.
    pub fn of(index: usize, task: Option<&Task>, title: String, caption: String) -> Self {
        let Some(task) = task else {
            return Self {
                index,
                phase: "removed".into(),
                state: "Removed".into(),
                title,
                caption,
                note: "No longer in this browser.".into(),
                picture: None,
                more: 0,
                href: None,
                task: None,
                is_left_out: false,
            };
        };
        let outputs = task.outputs();
        let kind = |url: &String| task.output_kind(url);
        Self {
            index,
            phase: match task.taken_back {
                true => "removed".into(),
                false => task.state.phase().word().into(),
            },
            state: task.label().into(),
            title,
            caption,
            note: match &task.state {
                TaskState::Failed { message, .. } => message.clone(),
                TaskState::Fetching { .. } if task.poll_error.is_some() => {
                    "Completed; its output could not be fetched yet.".into()
                }
                _ => why_unconfirmed(task).unwrap_or_default(),
            },
            picture: outputs.first().map(|url| (url.clone(), kind(url))),
            more: outputs.len().saturating_sub(1),
            href: Some(Route::Task(task.key.clone()).path()),
            task: Some(task.key.clone()),
            is_left_out: false,
        }
    }
}
