//! Notifies a person who looks at something else of a task's end.

use crate::browser::{lifecycle, notify};
use atelier_engine::{Phase, Task};

/// Tells a person who looks elsewhere that a task has ended.
pub(super) fn announce(task: &Task) {
    if lifecycle::is_visible() {
        return;
    }
    let what = match task.state.phase() {
        Phase::Ready => "completed",
        Phase::Unconfirmed => "needs a look: no answer came",
        Phase::Gone => "is gone",
        _ => "failed",
    };
    notify::show(
        &format!("{} {what}", task.model_name),
        task.input.title(),
        &task.key.0,
    );
}
