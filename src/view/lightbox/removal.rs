//! Removes the task of the output in the lightbox and shows the next output. Undoing the removal shows the removed output
//! again. Removing a favorite needs a confirmation.

use atelier_engine::{Action, TaskKey};
use atelier_studio::output::output_cache;
use atelier_studio::task::removal::removal_label;
use leptos::prelude::*;

use super::sequence::Sequence;
use crate::browser::frame::after_frame;
use crate::reactive::boxed::{effect, memo};
use crate::runner::Runner;
use crate::state::contexts::contexts;
use crate::view::parts::double_click_guard::DoubleClickGuard;
use crate::view::parts::focus;
use crate::view::task::removal_question::RemovalQuestion;

/// The removal of tasks from the lightbox.
#[derive(Clone, Copy)]
pub struct Removal {
    runner: Runner,
    sequence: Sequence,
    question: RemovalQuestion,
    /// Ignores the second click of a double click, which would hit the button of the next output and remove a second task.
    click_guard: DoubleClickGuard,
    /// The name of the output whose task was removed last, until the removal is undone.
    removed: RwSignal<Option<String>>,
    /// Whether the task of `removed` has disappeared. If it reappears after that, the removal was undone.
    was_removed: StoredValue<bool>,
}

impl Removal {
    pub fn new(sequence: Sequence) -> Self {
        let removal = Self {
            runner: contexts().runner,
            sequence,
            question: RemovalQuestion::default(),
            click_guard: DoubleClickGuard::default(),
            removed: RwSignal::new(None),
            was_removed: StoredValue::new(false),
        };
        removal.follow_undo();
        removal
    }

    /// Removes the task and shows the next output, or closes the dialog if none is left. Asks for confirmation first if
    /// the task has a favorite.
    pub fn remove(self, close: impl Fn()) {
        let task = untrack(|| {
            let name = self.sequence.shown.get()?;
            let (key, _) = output_cache::parse_name(&name)?;
            self.runner.task(&key).map(|task| task.get_untracked())
        });
        let is_asked =
            task.is_some_and(|task| self.question.asks([&task], &removal_label([&task], 1)));
        if !is_asked {
            self.remove_task(close);
        }
    }

    /// Returns the dialog that asks for confirmation.
    pub fn question(self, close: impl Fn() + Copy + Send + Sync + 'static) -> AnyView {
        self.question
            .view("Remove favorites", move || self.remove_task(close))
    }

    /// Removes the task without confirmation.
    fn remove_task(self, close: impl Fn()) {
        let Some(name) = self.sequence.shown.get_untracked() else {
            return;
        };
        let Some((task, _)) = output_cache::parse_name(&name) else {
            return;
        };
        if !untrack(|| self.is_listed(&task)) || !self.click_guard.counts("Remove") {
            return;
        }
        let next = self.sequence.output_after_removal(&task);
        self.runner.act(&task, Action::Remove);
        match next {
            Some(next) => {
                self.sequence.show(&next);
                self.was_removed.set_value(false);
                self.removed.set(Some(name));
            }
            None => close(),
        }
    }

    /// Shows the removed output again when its removal is undone.
    fn follow_undo(self) {
        let removed = self.removed;
        let is_listed_again = memo(move || {
            let name = removed.read();
            let place = name.as_deref().and_then(output_cache::parse_name);
            place.is_some_and(|(task, _)| self.is_listed(&task))
        });
        let was_removed = self.was_removed;
        effect(move || {
            let Some(name) = removed.get() else { return };
            if !is_listed_again.get() {
                was_removed.set_value(true);
            } else if was_removed.get_value() {
                was_removed.set_value(false);
                removed.set(None);
                if self.sequence.shown.read_untracked().is_some() {
                    self.sequence.show(&name);
                }
            }
        });
    }

    /// Returns whether a task exists and is not removed; tracked.
    fn is_listed(self, task: &TaskKey) -> bool {
        let task = self.runner.task(task);
        task.is_some_and(|task| task.read().removed.is_none())
    }
}

/// Keeps the focus in the dialog when the next output replaces the focused element.
pub fn keep_focus(shown: Memo<Option<String>>) {
    let was_open = StoredValue::new(false);
    effect(move || {
        let is_open = shown.read().is_some();
        let is_next = was_open.get_value() && is_open;
        was_open.set_value(is_open);
        if !is_next {
            return;
        }
        after_frame(move || {
            if focus::is_lost() {
                // Without scrolling: the panel may be below the picture, which must stay visible.
                let _ = focus::to_without_scrolling("dialog.lightbox[open] .lightbox-panel")
                    // In full screen the panel is not displayed.
                    || focus::to_without_scrolling("dialog.lightbox[open] .lightbox-body");
            }
        });
    });
}
