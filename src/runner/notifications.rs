//! What a person is told who looks elsewhere.

use atelier_engine::{Phase, TaskKey};
use leptos::prelude::*;

use super::Runner;
use crate::boxed::{effect, memo};
use crate::browser::{lifecycle, notify};

impl Runner {
    /// The number of tasks under way, in the tab's title.
    pub(super) fn keep_title(&self) {
        let this = *self;
        let active = memo(move || this.active_count());
        effect(move || match active.get() {
            0 => notify::set_title("Atelier"),
            n => notify::set_title(&format!("({n}) Atelier")),
        });
    }

    /// Tells a person who looks elsewhere that a task has ended.
    pub(super) fn announce(&self, key: &TaskKey) {
        if lifecycle::is_visible() || !self.session.settings_untracked().notify {
            return;
        }
        let Some(task) = self.task(key).map(|task| task.get_untracked()) else {
            return;
        };
        let what = match task.state.phase() {
            Phase::Ready => "completed",
            Phase::Unconfirmed => "needs a look: no answer came",
            Phase::Gone => "is gone",
            _ => "failed",
        };
        notify::show(
            &format!("{} {what}", task.model_name),
            task.input.title(),
            &key.0,
        );
    }
}
