//! Cancels the items of a batch that have not ended, at services that can do that.

use std::cell::Cell;
use std::sync::Arc;

use atelier_engine::{Action, TaskKey};
use atelier_studio::batch::summary::BatchSummary;
use atelier_studio::batch::{Batch, cancel_rest};
use leptos::prelude::*;

use super::question_pause::QuestionPause;
use crate::browser::frame::after_frame;
use crate::reactive::boxed::{handler, memo, when};
use crate::state::batches::Batches;
use crate::state::cancel;
use crate::state::contexts::{Contexts, contexts};
use crate::view::parts::focus;
use crate::view::parts::question::Question;
use crate::view::parts::status_note::StatusNote;

pub const CANCEL_THE_REST: &str = "Cancel the rest";

/// Returns the tasks of a batch that can be canceled; tracked.
pub fn to_cancel(all: Contexts, batch: &Batch) -> Vec<TaskKey> {
    all.runner.track_labels();
    all.runner.with_tasks(|tasks| {
        let items = batch.items(tasks.iter().copied());
        let rest = items.to_cancel().into_iter();
        let rest = rest.filter(|task| cancel::is_offered(all, task));
        rest.map(|task| task.key.clone()).collect()
    })
}

thread_local! {
    /// Whether the next press of the button asks, however few items there are.
    static ASKS: Cell<bool> = const { Cell::new(false) };
}

/// Presses the button on the page of a batch. Always asks, because the command may have been selected by default.
pub fn press() {
    after_frame(|| {
        ASKS.set(true);
        focus::press(".cancel-rest");
        ASKS.set(false);
    });
}

/// The button. Asks first if many items would be canceled; meanwhile nothing is sent. `answer`: the message after it was
/// pressed.
pub fn cancel_rest(batch: Arc<Batch>, summary: Memo<BatchSummary>, answer: StatusNote) -> AnyView {
    let all = contexts();
    let pause = QuestionPause::new(batch.key.clone(), summary);
    let rest = memo(move || {
        let record = Batches::new(all).find(&batch.key);
        to_cancel(all, record.as_ref().unwrap_or(&batch))
    });
    let dialog = Question::default().or_else(Callback::new(move |()| pause.end()));
    let cancel = move || {
        let count = all
            .runner
            .act_on_all(&rest.get_untracked(), Action::CancelAtService);
        if count > 0 {
            answer.say(cancel_rest::user_message(count));
        }
        // The items that were not sent are removed, and a retry must not wait.
        pause.end();
        focus::when_lost(|| {
            focus::to_without_scrolling(".run h2");
        });
    };
    // The text at the press: a memo of keys doesn't change when a task is sent.
    let question = RwSignal::new(String::new());
    let press = move |_| {
        let needs_question = cancel_rest::needs_question(rest.read_untracked().len());
        match ASKS.get() || needs_question {
            true => {
                pause.begin();
                let tasks = rest.read_untracked();
                question.set(all.runner.with_tasks_of(&tasks, cancel_rest::question));
                dialog.ask();
            }
            false => cancel(),
        }
    };
    view! {
        <button
            class="button cancel-rest"
            type="button"
            hidden=when(move || rest.read().is_empty())
            on:click=handler(press)
        >
            {CANCEL_THE_REST}
        </button>
        {dialog.view(CANCEL_THE_REST, question.into(), "Keep", "Cancel them", "danger", Callback::new(move |()| cancel()))}
    }
    .into_any()
}
