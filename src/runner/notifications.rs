//! Notifies the user of the end of a task while the page is hidden.

use crate::browser::{lifecycle, notify};
use atelier_engine::{Phase, Task};

/// Shows a notification that a task has ended, if the page is hidden.
pub(super) fn announce(task: &Task) {
    if lifecycle::is_visible() {
        return;
    }
    let what = match task.state.phase() {
        Phase::Ready => "completed",
        Phase::Unconfirmed => "is unconfirmed: no answer came",
        Phase::Gone => "is gone",
        _ => "failed",
    };
    notify::show(
        &format!("{} {what}", task.model_name),
        task.input.title(),
        &task.key.0,
    );
}
