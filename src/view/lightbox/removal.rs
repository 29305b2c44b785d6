//! Removes the task of what is shown large: the next output takes its place, and who brings the task back sees its
//! output again. Where a favorite goes it is asked before.

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

#[derive(Clone, Copy)]
pub struct Removal {
    runner: Runner,
    sequence: Sequence,
    question: RemovalQuestion,
    /// The next output's button comes to stand where that of this one stood.
    held: DoubleClickGuard,
    /// The name of the output whose task was removed last, until that is back.
    removed: RwSignal<Option<String>>,
    /// That task has gone out of sight since.
    was_gone: StoredValue<bool>,
}

impl Removal {
    pub fn new(sequence: Sequence) -> Self {
        let removal = Self {
            runner: contexts().runner,
            sequence,
            question: RemovalQuestion::default(),
            held: DoubleClickGuard::default(),
            removed: RwSignal::new(None),
            was_gone: StoredValue::new(false),
        };
        removal.follow_undo();
        removal
    }

    /// Goes on to what is next, or out where nothing is left, once that is asked where a favorite is among it.
    pub fn remove(self, close: impl Fn()) {
        let task = untrack(|| {
            let name = self.sequence.shown.get()?;
            let (key, _) = output_cache::parse_name(&name)?;
            self.runner.task(&key).map(|task| task.get_untracked())
        });
        let is_asked =
            task.is_some_and(|task| self.question.asks([&task], &removal_label([&task], 1)));
        if !is_asked {
            self.go(close);
        }
    }

    /// What it asks with.
    pub fn question(self, close: impl Fn() + Copy + Send + Sync + 'static) -> AnyView {
        self.question
            .view("Remove favorites", move || self.go(close))
    }

    fn go(self, close: impl Fn()) {
        let Some(name) = self.sequence.shown.get_untracked() else {
            return;
        };
        let Some((task, _)) = output_cache::parse_name(&name) else {
            return;
        };
        if !untrack(|| self.is_there(&task)) || !self.held.counts("Remove") {
            return;
        }
        let next = self.sequence.after(&task);
        self.runner.act(&task, Action::Remove);
        match next {
            Some(next) => {
                self.sequence.show(&next);
                self.was_gone.set_value(false);
                self.removed.set(Some(name));
            }
            None => close(),
        }
    }

    fn follow_undo(self) {
        let removed = self.removed;
        let is_back = memo(move || {
            let name = removed.read();
            let place = name.as_deref().and_then(output_cache::parse_name);
            place.is_some_and(|(task, _)| self.is_there(&task))
        });
        let was_gone = self.was_gone;
        effect(move || {
            let Some(name) = removed.get() else { return };
            if !is_back.get() {
                was_gone.set_value(true);
            } else if was_gone.get_value() {
                was_gone.set_value(false);
                removed.set(None);
                if self.sequence.shown.read_untracked().is_some() {
                    self.sequence.show(&name);
                }
            }
        });
    }

    /// Tracked.
    fn is_there(self, task: &TaskKey) -> bool {
        let task = self.runner.task(task);
        task.is_some_and(|task| task.read().removed.is_none())
    }
}

/// What had the focus goes with the output that it belonged to: it stays in the dialog.
pub fn keep_focus(shown: Memo<Option<String>>) {
    let was_open = StoredValue::new(false);
    effect(move || {
        let is_open = shown.read().is_some();
        let goes_on = was_open.get_value() && is_open;
        was_open.set_value(is_open);
        if !goes_on {
            return;
        }
        after_frame(move || {
            if focus::is_lost() {
                // Its top may be below the picture, which stays in sight.
                let _ = focus::in_place_to("dialog.lightbox[open] .lightbox-panel")
                    // In full screen there is none.
                    || focus::in_place_to("dialog.lightbox[open] .lightbox-body");
            }
        });
    });
}
