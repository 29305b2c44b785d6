//! The buttons of a batch that was sent.

use std::sync::Arc;

use atelier_contract::Draft;
use atelier_engine::{Action, BatchAction, BatchKey, BatchPlace, Task};
use atelier_studio::batch::summary::BatchSummary;
use atelier_studio::batch::{Batch, again};
use atelier_studio::compose::sweep::WrittenSweep;
use atelier_studio::form::rerun;
use atelier_studio::navigation::route::Route;
use atelier_studio::text::plural::{agreeing, counted};
use icondata_lu::{LuPause, LuPlay, LuRotateCcw};
use leptos::prelude::*;

use super::explore::explore;
use super::put_back::put_back;
use crate::browser::frame::after_frame;
use crate::reactive::boxed::{dynamic, effect, handler, memo, text, when};
use crate::runner::Runner;
use crate::state::batches::Batches;
use crate::state::contexts::contexts;
use crate::view::batch::cancel_rest::cancel_rest;
use crate::view::batch::composer::Composer;
use crate::view::batch::question_pause::QuestionPause;
use crate::view::parts::confirm::ConfirmButton;
use crate::view::parts::double_click_guard::DoubleClickGuard;
use crate::view::parts::focus;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::settings_link::with_settings_link;
use crate::view::parts::status_note::StatusNote;
use crate::view::task::removal_question::RemovalQuestion;
use crate::view::task::words::why_unconfirmed;

pub fn controls(
    composer: Option<Composer>,
    batch: Arc<Batch>,
    summary: Memo<BatchSummary>,
) -> AnyView {
    let answer = StatusNote::default();
    let has_table = composer.is_some();
    let has_failed = memo(move || summary.read().has_failed());
    // Once the whole batch has failed, earlier messages about sending are outdated.
    effect(move || {
        if has_failed.get() {
            answer.clear();
            if let Some(composer) = composer {
                composer.answer.clear();
            }
        }
    });
    view! {
        <div class="row run-controls">
            {sending(has_table, batch.key.clone(), summary)}
            {retry(summary, answer)}
            // After Retry: the second click of a double click on Retry must not cancel what the first has sent.
            {cancel_rest(batch.clone(), summary, answer)}
            {unconfirmed(summary, answer)}
            {composer.map(|composer| put_back(composer, batch.clone(), summary))}
            {explore(batch.clone(), has_failed)}
            {composer.map(|composer| edit_again(composer, batch.clone(), answer))} {answer.view()}
            {remove(composer, batch, summary)}
        </div>
    }
    .into_any()
}

/// Buttons that pause sending, or stop it and take the unsent items back into the table. `has_table`: whether there is a
/// table to put them into.
fn sending(has_table: bool, batch: BatchKey, summary: Memo<BatchSummary>) -> AnyView {
    let runner = contexts().runner;
    let question_pause = QuestionPause::new(batch.clone(), summary);
    let batch = StoredValue::new(batch);
    let act = move |action| batch.with_value(|batch| runner.act_on_batch(batch, action));
    let pause = move |_| {
        act(match summary.read_untracked().is_paused {
            true => BatchAction::Resume,
            false => BatchAction::Pause,
        });
    };
    let stop = move || {
        question_pause.confirm();
        act(BatchAction::Stop);
    };
    let has_unsent = when(move || summary.read().unsent > 0);
    let is_paused = when(move || summary.read().is_paused);
    view! {
        <div class="row" hidden=when(move || !has_unsent.get())>
            <button class="button" type="button" on:click=handler(pause)>
                {dynamic(move || {
                    if is_paused.get() {
                        view! {
                            <Glyph icon=LuPlay />
                            "Resume"
                        }
                            .into_any()
                    } else {
                        view! {
                            <Glyph icon=LuPause />
                            "Pause"
                        }
                            .into_any()
                    }
                })}
            </button>
            <div hidden=!has_table>
                <ConfirmButton
                    label="Stop sending"
                    question=text(move || summary.read().stop_question())
                    confirm="Move back to table"
                    on_confirm=stop
                    on_ask=Callback::new(move |()| question_pause.begin())
                    on_keep=Callback::new(move |()| question_pause.end())
                />
            </div>
        </div>
    }
    .into_any()
}

/// Reports how many items were sent again. `lacking`: the number of items that can't be sent because their secrets are no
/// longer in memory.
fn report_resent(
    runner: Runner,
    summary: Memo<BatchSummary>,
    answer: StatusNote,
    sent: usize,
    lacking: usize,
) {
    // If sending is blocked, the page shows the reason next to this message.
    let is_held = untrack(|| summary.read().is_paused || runner.block_reason().is_some());
    answer.say(again::user_message(sent, lacking, is_held));
}

fn retry(summary: Memo<BatchSummary>, answer: StatusNote) -> AnyView {
    let runner = contexts().runner;
    // The number of items sent again, kept until a double click is over.
    let retried = StoredValue::new(0);
    let guard = DoubleClickGuard::default();
    let retry = move |_| {
        if guard.counts("Retry") {
            let failed = summary.get_untracked().failed;
            retried.set_value(runner.retry_all(&failed));
        }
        if retried.get_value() > 0 {
            report_resent(runner, summary, answer, retried.get_value(), 0);
        }
    };
    let to_retry = move || {
        let failed = summary.read().failed.len();
        if guard.is_pressed() {
            retried.get_value()
        } else {
            failed
        }
    };
    effect(move || {
        if to_retry() == 0 && retried.get_value() > 0 {
            retried.set_value(0);
            focus::when_lost(|| {
                focus::to_without_scrolling(".run h2");
            });
        }
    });
    view! {
        <button
            class="button"
            type="button"
            hidden=when(move || to_retry() == 0)
            on:click=handler(retry)
        >
            <Glyph icon=LuRotateCcw />
            <span prop:textContent=text(move || format!("Retry {} failed", to_retry()))></span>
        </button>
    }
    .into_any()
}

/// The questions about unconfirmed items: resubmit or dismiss them.
fn unconfirmed(summary: Memo<BatchSummary>, answer: StatusNote) -> AnyView {
    let runner = contexts().runner;
    let act = move |action: Action| {
        if action == Action::Resubmit && runner.refuses_to_send() {
            return;
        }
        let unconfirmed = summary.get_untracked().unconfirmed;
        let count = runner.act_on_all(&unconfirmed, action);
        if action == Action::Resubmit {
            report_resent(runner, summary, answer, count, unconfirmed.len() - count);
        }
    };
    let count = move || summary.read().unconfirmed.len();
    // The reason for the first item. It shows that a press was handled even if the items are unconfirmed again.
    let why = text(move || {
        let first = summary.read().unconfirmed.first().cloned();
        let task = first.and_then(|key| runner.task(&key));
        task.and_then(|task| why_unconfirmed(&task.read()))
            .unwrap_or_default()
    });
    view! {
        <p class="muted run-why" hidden=when(move || why.read().is_empty())>{with_settings_link(why)}</p>
        <div class="row" hidden=when(move || count() == 0)>
            <ConfirmButton
                label="Resubmit unconfirmed"
                question=text(move || format!(
                    "Send {} again? The service may have received {}; then {} billed twice.",
                    counted(count(), "item"),
                    agreeing(count(), "it already", "them already"),
                    agreeing(count(), "it is", "they are"),
                ))
                confirm="Send them again"
                on_confirm=move || act(Action::Resubmit)
            />
            <ConfirmButton
                label="Dismiss unconfirmed"
                question=text(move || format!(
                    "Dismiss {}? If the service received them, their outputs exist only there.",
                    counted(count(), "item"),
                ))
                confirm="Dismiss them"
                on_confirm=move || act(Action::Dismiss)
            />
        </div>
    }
    .into_any()
}

/// A button that puts the inputs of the batch into the table and opens it. A sweep is also restored in its panel.
fn edit_again(composer: Composer, batch: Arc<Batch>, answer: StatusNote) -> AnyView {
    let all = contexts();
    let again = move |_| {
        let schema = composer.schema();
        let items: Vec<(BatchPlace, Draft)> = all.runner.with_tasks(|tasks| {
            let items = batch.items(tasks.iter().copied());
            let latest = items.latest().flatten();
            let item = |task: &Task| Some((task.batch.clone()?, rerun::draft(task, &schema)));
            latest.filter_map(item).collect()
        });
        let drafts: Vec<Draft> = items.iter().map(|(_, draft)| draft.clone()).collect();
        let sweep = WrittenSweep::of(&drafts, &schema);
        let is_done = composer.change(|table, schema| {
            let added = table.add_again(items, sweep.as_ref(), schema)?;
            if added == 0 {
                answer.say("These rows are in the table already.".to_owned());
            }
            Ok(())
        });
        let page = Route::Model(batch.model.clone());
        if !is_done {
            return;
        }
        if untrack(|| all.navigation.route()) != page {
            composer.keeping().set_next_sweep(sweep);
            all.navigation.go(&format!("{}?mode=batch", page.path()));
        } else if let Some(sweep) = sweep {
            composer.edit_sweep(sweep);
        }
    };
    view! {
        <button class="button quiet" type="button" on:click=handler(again)>
            "Edit and run again"
        </button>
    }
    .into_any()
}

/// The button that removes the batch. Removal can be undone, so only favorites need a confirmation.
fn remove(composer: Option<Composer>, batch: Arc<Batch>, summary: Memo<BatchSummary>) -> AnyView {
    let all = contexts();
    let key = batch.key.clone();
    let remove = {
        let key = key.clone();
        move || {
            Batches::new(all).remove(&key);
            if matches!(untrack(|| all.navigation.route()), Route::Batch(_)) {
                all.navigation.go("/tasks");
            }
            // Another batch with the same button may now be in this place, so the focus moves to Undo.
            after_frame(|| {
                focus::to(".undo button");
            });
        }
    };
    let question = RemovalQuestion::default();
    let remove_or_ask = {
        let remove = remove.clone();
        move |_| {
            // The previous batch moves here, and the second click of a double click must not remove it too.
            if composer.is_some_and(|composer| !composer.just_pressed.counts("Remove batch")) {
                return;
            }
            let tasks = untrack(|| all.runner.keys_of_batch(&key));
            let asks = |tasks: &[&Task]| question.asks(tasks.iter().copied(), "this batch");
            if !all.runner.with_tasks_of(&tasks, asks) {
                remove();
            }
        }
    };
    // Unconfirmed items must be resubmitted or dismissed first: they may have been paid for.
    let is_unsettled = when(move || {
        let summary = summary.read();
        !summary.counts.is_settled() || !summary.unconfirmed.is_empty()
    });
    view! {
        <div class="run-removal" hidden=is_unsettled>
            <button
                class="button quiet removes"
                type="button"
                on:click=handler(remove_or_ask)
            >
                "Remove batch"
            </button>
            {question.view("Remove batch", remove)}
        </div>
    }
    .into_any()
}
