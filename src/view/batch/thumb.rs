//! What an item of a batch shows in the grid.

use atelier_contract::output::OutputKind;
use atelier_engine::{Task, TaskKey, TaskState};
use atelier_studio::navigation::route::Route;

use crate::view::task::words::why_unconfirmed;

/// One item as the grid shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Thumb {
    /// From 0.
    pub index: usize,
    /// What its colour goes by.
    pub phase: String,
    /// Its state as a word.
    pub state: String,
    pub title: String,
    /// The same where there is little room.
    pub caption: String,
    /// What went wrong.
    pub note: String,
    pub picture: Option<(String, OutputKind)>,
    /// Outputs in addition to the one that is shown.
    pub more: usize,
    pub href: Option<String>,
    /// None where it is no task of this browser.
    pub task: Option<TaskKey>,
    /// It was not sent with this batch.
    pub is_left_out: bool,
}

impl Thumb {
    /// It was not sent with this batch.
    pub fn left_out(index: usize, title: String, caption: String) -> Self {
        Self {
            state: "Not sent".into(),
            note: "Its row could not be sent, is in the table again, or was sent by another tab."
                .into(),
            is_left_out: true,
            ..Self::of(index, None, title, caption)
        }
    }

    /// `None`: its task was removed. `title` and `caption`: what it is called among the others.
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
