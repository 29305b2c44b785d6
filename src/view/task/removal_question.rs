//! Asks before tasks are removed where favorites go with them.

use atelier_engine::Task;
use atelier_studio::task::removal;
use leptos::prelude::*;

use crate::view::parts::question::Question;

#[derive(Clone, Copy, Default)]
pub struct RemovalQuestion {
    question: Question,
    asked: RwSignal<String>,
}

impl RemovalQuestion {
    /// Asks if favorites are among them, and whether it does. `removed`: what they are called together.
    pub fn asks<'a>(self, tasks: impl IntoIterator<Item = &'a Task>, removed: &str) -> bool {
        let asked = removal::removal_question(tasks, removed);
        let is_asked = asked.is_some();
        if let Some(asked) = asked {
            self.asked.set(asked);
            self.question.ask();
        }
        is_asked
    }

    /// `label` names the dialog.
    pub fn view(self, label: &'static str, remove: impl Fn() + Send + Sync + 'static) -> AnyView {
        let asked = self.asked.into();
        let confirm = Callback::new(move |()| remove());
        (self.question).view(label, asked, "Keep", "Remove", "danger", confirm)
    }
}
