//! What a person is told who looks elsewhere.

use atelier_engine::{Phase, Task};
use leptos::prelude::*;

use super::task_store::TaskStore;
use crate::boxed::{effect, memo};
use crate::browser::{lifecycle, notify};

/// The number of tasks under way, in the tab's title.
pub(super) fn keep_title(tasks: TaskStore) {
    let active = memo(move || tasks.active_count());
    effect(move || match active.get() {
        0 => notify::set_title("Atelier"),
        n => notify::set_title(&format!("({n}) Atelier")),
    });
}

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
