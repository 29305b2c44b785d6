use std::rc::Rc;
use std::sync::Arc;

use atelier_contract::Draft;
use atelier_engine::batch::{Batch, Counts, Items, Part};
use atelier_engine::route::Route;
use atelier_engine::{
    Action, BatchAction, BatchKey, Phase, Task, TaskKey, duration, history, rerun,
};
use icondata_lu::{LuMove, LuPause, LuPlay, LuRotateCcw};
use leptos::prelude::*;

use super::composer::Composer;
use super::grid::{Cell, grid};
use super::{export, items};
use crate::batches::Batches;
use crate::boxed::{dynamic, effect, handler, memo, text, when};
use crate::browser::clock;
use crate::contexts::contexts;
use crate::view::lightbox::sweep;
use crate::view::parts::answer::Answer;
use crate::view::parts::confirm::ConfirmButton;
use crate::view::parts::glyph::Glyph;
use crate::view::parts::held::Held;
use crate::view::parts::ticker::ticker;

/// How a batch stands, as far as the page shows it.
#[derive(Debug, Clone, PartialEq)]
struct BatchSummary {
    counts: Counts,
    failed: Vec<TaskKey>,
    unconfirmed: Vec<TaskKey>,
    unsent: usize,
    taken_back: usize,
    is_paused: bool,
    finished: Option<u64>,
}

impl BatchSummary {
    fn of(items: &Items) -> Self {
        let keys = |phase: Phase| {
            let latest = items.latest().flatten();
            let found = latest.filter(|task| task.state.phase() == phase);
            found.map(|task| task.key.clone()).collect::<Vec<_>>()
        };
        let unsent = items.unsent();
        Self {
            counts: items.counts(),
            failed: items
                .to_retry()
                .iter()
                .map(|task| task.key.clone())
                .collect(),
            unconfirmed: keys(Phase::Unconfirmed),
            is_paused: unsent.iter().any(|task| task.paused),
            unsent: unsent.len(),
            taken_back: items.taken_back().len(),
            finished: items.finished(),
        }
    }
}

/// A batch that was sent: how it stands, what can be done about it, its items. Without a composer there is no
/// table that anything of it could be put into.
pub fn run(composer: Option<Composer>, batch: Batch) -> AnyView {
    let runner = contexts().runner;
    let batch = Arc::new(batch);
    let cells = memo({
        let batch = batch.clone();
        move || {
            runner.track_phases();
            runner.with_tasks(|tasks| {
                let items = batch.items(tasks.iter().copied());
                let latest = items.latest().enumerate();
                latest
                    .map(|(index, task)| Cell::of(index, task))
                    .collect::<Vec<_>>()
            })
        }
    });
    let summary = memo({
        let batch = batch.clone();
        move || {
            runner.track_phases();
            runner.with_tasks(|tasks| BatchSummary::of(&batch.items(tasks.iter().copied())))
        }
    });
    let when_sent = clock::local(batch.created).said(clock::local(clock::now()));
    let batches = Batches::new(contexts());
    // Compared, because a field is written anew whenever it changes, whatever is being typed there.
    let name = {
        let batch = batch.clone();
        memo(move || {
            batches
                .find(&batch.key)
                .map_or_else(|| batch.name.clone(), |batch| batch.name)
        })
    };
    view! {
        <article class="panel run" aria-label=text(move || format!("Batch: {}", name.get()))>
            <div class="run-head">
                {title(batch.key.clone(), name.into())}
                <p class="muted">{items(batch.size)} " · " {when_sent}</p>
            </div>
            {bar(summary)}
            {times(batch.clone(), summary)}
            {controls(composer, batch.clone(), summary)}
            {explore(batch.clone())}
            {grid(cells, batch.size, batch.grid.clone())}
            {export::export(batch.clone())}
        </article>
    }
    .into_any()
}

/// Leads to its items one at a time, along what differs in them.
fn explore(batch: Arc<Batch>) -> AnyView {
    let all = contexts();
    let key = StoredValue::new(batch.key.clone());
    // Which tasks there are, and not how they stand.
    let tasks = memo(move || all.runner.keys_of_batch(&key.get_value()));
    let axes = memo(move || {
        tasks.track();
        let space = all.runner.with_tasks(|tasks| sweep::space(&batch, tasks));
        let axes = space.map(|space| space.exploration.axes.into_iter());
        axes.map(|axes| axes.map(|axis| axis.parameter).collect::<Vec<_>>())
    });
    view! {
        <p class="row run-explore" hidden=when(move || axes.read().is_none())>
            <button
                class="button"
                type="button"
                on:click=handler(move |_| sweep::open(all.navigation, &key.get_value()))
            >
                <Glyph icon=LuMove />
                "Explore"
            </button>
            <span class="muted">
                {text(move || {
                    let axes = axes.get().unwrap_or_default();
                    format!("One large picture, along {}.", axes.join(", "))
                })}
            </span>
        </p>
    }
    .into_any()
}

/// Its name, which a press makes another.
fn title(key: BatchKey, name: Signal<String>) -> AnyView {
    let batches = Batches::new(contexts());
    let rename = move |event: web_sys::Event| {
        batches.rename(&key, &event_target_value(&event));
        // What was refused is not left standing.
        let field = event_target::<web_sys::HtmlInputElement>(&event);
        field.set_value(&name.get_untracked());
    };
    view! {
        <h2 class="visually-hidden">{name}</h2>
        <input
            class="run-name"
            type="text"
            aria-label="Batch name"
            title=name
            autocomplete="off"
            dir="auto"
            prop:value=name
            on:change=handler(rename)
        />
    }
    .into_any()
}

/// One bar, a stretch for each end that items have come to; what is still awaited leaves it empty.
fn bar(summary: Memo<BatchSummary>) -> AnyView {
    let stretches = move || {
        let summary = summary.read();
        summary
            .counts
            .shares()
            .map(|(part, share)| {
                let name = match part {
                    Part::Completed => "ready",
                    Part::Failed => "failed",
                    Part::Gone => "gone",
                    Part::Unconfirmed => "unconfirmed",
                    Part::InProgress => "running",
                    Part::Queued => "queued",
                    Part::Removed => "removed",
                };
                // In tenths of a per cent, a whole number: enough for a bar.
                let width = (share * 1000.0) as i64;
                let is_awaited = matches!(part, Part::InProgress | Part::Queued);
                view! {
                    <span
                        data-phase=name
                        class:awaited=is_awaited
                        style:flex-grow=width.to_string()
                    ></span>
                }
                .into_any()
            })
            .collect_view()
            .into_any()
    };
    let sentence = text(move || summary.read().counts.user_message());
    let done = move || summary.read().counts.done();
    let total = move || summary.read().counts.total();
    view! {
        <div
            class="stretches"
            role="progressbar"
            aria-label="Done"
            aria-valuemin="0"
            aria-valuenow=text(move || done().to_string())
            aria-valuemax=text(move || total().to_string())
            aria-valuetext=text(move || format!("{} of {} done", done(), total()))
        >
            {dynamic(stretches)}
        </div>
        <div class="run-summary">
            <p class="run-counts" role="status">
                {sentence}
            </p>
            <p class="muted" hidden=when(move || done() == total())>
                {text(move || format!("{} of {} done", done(), total()))}
            </p>
        </div>
    }
    .into_any()
}

/// How long it has taken, how long it still takes, and what holds it up.
fn times(batch: Arc<Batch>, summary: Memo<BatchSummary>) -> AnyView {
    let runner = contexts().runner;
    let now = ticker(1_000);
    let line = text(move || {
        let now = now.get();
        let summary = summary.read();
        let elapsed = |until: u64| duration::text(until.saturating_sub(batch.created));
        if summary.counts.is_settled() {
            return match summary.finished {
                Some(finished) => format!("Took {}.", elapsed(finished)),
                None => String::new(),
            };
        }
        let left = runner.with_tasks(|tasks| {
            let typical = history::estimate(tasks.iter().copied(), &batch.model);
            batch.items(tasks.iter().copied()).remaining(now, typical)
        });
        let waits = summary.is_paused && summary.unsent > 0;
        let left = match left {
            _ if waits => format!(
                "Paused: {} not sent yet. What was sent goes on.",
                items(summary.unsent)
            ),
            Some(left) => format!("{} left.", duration::about(left)),
            None => String::new(),
        };
        let mut line = match left.as_str() {
            "" => elapsed(now),
            left if waits => format!("{}. {left}", elapsed(now)),
            left => format!("{}, {left}", elapsed(now)),
        };
        if let Some(block_reason) = runner.block_reason() {
            line.push(' ');
            line.push_str(&block_reason.user_message(now));
        }
        line
    });
    view! { <p class="muted run-times">{line}</p> }.into_any()
}

/// What a person can do about it.
fn controls(composer: Option<Composer>, batch: Arc<Batch>, summary: Memo<BatchSummary>) -> AnyView {
    let all = contexts();
    let runner = all.runner;
    let key = batch.key.clone();
    let pause_key = key.clone();
    let pause = move |_| {
        let action = if summary.read_untracked().is_paused {
            BatchAction::Resume
        } else {
            BatchAction::Pause
        };
        runner.act_on_batch(&pause_key, action);
    };
    let stop_key = key.clone();
    let stop = move || runner.act_on_batch(&stop_key, BatchAction::Stop);
    // What was typed goes back to where it came from, once the leading tab has said what was not
    // sent: at once in the tab where a person has stopped it, elsewhere at a person's word.
    let handed_over = RwSignal::new(());
    let take = Rc::new({
        let batch = batch.clone();
        move || {
            let Some(composer) = composer else {
                return;
            };
            let tasks = runner.taken_back(&batch);
            let schema = composer.schema();
            let item = |task: &Task| Some((task.batch.clone()?, rerun::draft(task, &schema)));
            let items: Vec<_> = tasks.iter().filter_map(item).collect();
            if !items.is_empty() && composer.change(|table, schema| table.take_back(items, schema))
            {
                runner.hand_over(&tasks);
                handed_over.set(());
                let kept = composer.keeping();
                kept.once_stored(move || runner.is_handed_over(&tasks));
            }
        }
    });
    let (take_here, here) = (take.clone(), key.clone());
    effect(move || {
        runner.track_phases();
        if runner.is_stopped_here(&here) {
            untrack(|| take_here());
        }
    });
    let left = memo({
        let batch = batch.clone();
        move || {
            handed_over.track();
            match summary.read().taken_back {
                0 => 0,
                _ => runner.taken_back(&batch).len(),
            }
        }
    });
    let answer = Answer::default();
    let sent_again = move |count| answer.say(format!("Sent again: {}.", items(count)));
    // How many are sent again, while a double click may be under way.
    let retried = StoredValue::new(0);
    let held = Held::default();
    let retry = move |_| {
        if held.counts("Retry") {
            let failed = summary.get_untracked().failed;
            retried.set_value(runner.retry_all(&failed));
        }
        if retried.get_value() > 0 {
            sent_again(retried.get_value());
        }
    };
    let to_retry = move || {
        let failed = summary.read().failed.len();
        if held.is_pressed() {
            retried.get_value()
        } else {
            failed
        }
    };
    let settle = move |action: Action| {
        let unconfirmed = summary.get_untracked().unconfirmed;
        runner.act_on_all(&unconfirmed, action);
        if action == Action::Resubmit {
            sent_again(unconfirmed.len());
        }
    };
    let used = batch.clone();
    let again = move |_| {
        let Some(composer) = composer else {
            return;
        };
        let schema = composer.schema();
        let drafts: Vec<Draft> = runner.with_tasks(|tasks| {
            let items = used.items(tasks.iter().copied());
            let latest = items.latest().flatten();
            latest.map(|task| rerun::draft(task, &schema)).collect()
        });
        let is_done = composer.change(|table, schema| table.append(drafts, schema));
        let page = Route::Model(used.model.clone());
        if is_done && untrack(|| all.navigation.route()) != page {
            all.navigation.go(&format!("{}?mode=batch", page.path()));
        }
    };
    let remove = move || {
        Batches::new(all).remove(&key);
        if matches!(untrack(|| all.navigation.route()), Route::Batch(_)) {
            all.navigation.go("/tasks");
        }
    };
    let has_table = composer.is_some();
    let has_unsent = when(move || summary.read().unsent > 0);
    let is_paused = when(move || summary.read().is_paused);
    let unconfirmed = move || summary.read().unconfirmed.len();
    view! {
        <div class="row run-controls">
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
                        question=text(move || format!(
                            "Take back the {} not sent yet? They go back into the table. What was sent goes on.",
                            items(summary.read().unsent),
                        ))
                        confirm="Take them back"
                        on_confirm=stop
                    />
                </div>
            </div>
            <button
                class="button"
                type="button"
                hidden=when(move || to_retry() == 0)
                on:click=handler(retry)
            >
                <Glyph icon=LuRotateCcw />
                {text(move || format!("Retry {} failed", to_retry()))}
            </button>
            <div class="row" hidden=when(move || unconfirmed() == 0)>
                <ConfirmButton
                    label="Resubmit unconfirmed"
                    question=text(move || format!(
                        "Send {} once more? The service may have received them already; then they are billed twice.",
                        items(unconfirmed()),
                    ))
                    confirm="Send them again"
                    on_confirm=move || settle(Action::Resubmit)
                />
                <ConfirmButton
                    label="Dismiss unconfirmed"
                    question=text(move || format!(
                        "Leave {} as they are? If the service received them, their outputs are only there.",
                        items(unconfirmed()),
                    ))
                    confirm="Dismiss them"
                    on_confirm=move || settle(Action::Dismiss)
                />
            </div>
            <button
                class="button"
                type="button"
                hidden=when(move || left.get() == 0 || !has_table)
                on:click=handler(move |_| take())
            >
                {text(move || format!("Put the {} taken back into the table", left.get()))}
            </button>
            <button class="button quiet" type="button" hidden=!has_table on:click=handler(again)>
                "Edit and run again"
            </button>
            // What is unconfirmed has to be settled first: it may have been paid for.
            <div hidden=when(move || !summary.read().counts.is_settled() || unconfirmed() > 0)>
                <ConfirmButton
                    label="Remove batch"
                    question=text(move || format!(
                        "Remove this batch and its {}? Its outputs stay at the service for as long as that keeps them.",
                        items(batch.size),
                    ))
                    confirm="Remove it"
                    on_confirm=remove
                />
            </div>
            {answer.view()}
        </div>
    }
    .into_any()
}
