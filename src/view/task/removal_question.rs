//! Asks for confirmation before tasks with favorites are removed.

use atelier_engine::Task;
use atelier_studio::task::removal;
use leptos::prelude::*;

use crate::view::parts::question::Question;

#[derive(Clone, Copy, Default)]
pub struct RemovalQuestion {
    question: Question,
    message: RwSignal<String>,
}

impl RemovalQuestion {
    /// Asks if favorites are among the tasks, and returns whether it asks. `removed`: the name of the tasks together, such
    /// as "this batch".
    pub fn asks<'a>(self, tasks: impl IntoIterator<Item = &'a Task>, removed: &str) -> bool {
        let message = removal::removal_question(tasks, removed);
        let is_asked = message.is_some();
        if let Some(message) = message {
            self.message.set(message);
            self.question.ask();
        }
        is_asked
    }

    /// `label` names the dialog.
    pub fn view(self, label: &'static str, remove: impl Fn() + Send + Sync + 'static) -> AnyView {
        let message = self.message.into();
        let confirm = Callback::new(move |()| remove());
        (self.question).view(label, message, "Keep", "Remove", "danger", confirm)
    }
}
