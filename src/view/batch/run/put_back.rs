//! What was typed goes back to where it came from once its sending was stopped.

use std::rc::Rc;
use std::sync::Arc;

use atelier_engine::Task;
use atelier_studio::batch::Batch;
use atelier_studio::batch::summary::BatchSummary;
use atelier_studio::compose::table::ReturnedItem;
use atelier_studio::form::rerun;
use leptos::prelude::*;

use crate::browser::tabs::locks;
use crate::reactive::boxed::{effect, handler, memo, spawn, text, when};
use crate::state::batches::Batches;
use crate::state::contexts::contexts;
use crate::view::batch::composer::Composer;

/// Puts it there once the leading tab has said what was not sent: at once in the tab where a person has stopped it,
/// elsewhere at a person's word.
pub fn put_back(composer: Composer, batch: Arc<Batch>, summary: Memo<BatchSummary>) -> AnyView {
    let all = contexts();
    let runner = all.runner;
    let handed_over = RwSignal::new(());
    let is_under_way = RwSignal::new(false);
    let take = Rc::new({
        let batch = batch.clone();
        move || {
            if is_under_way.get_untracked() || runner.taken_back(&batch).is_empty() {
                return;
            }
            is_under_way.set(true);
            let batch = batch.clone();
            let kept = composer.keeping();
            // One tab after the other: a table that another tab's takes the place of would take rows with it.
            let turn = locks::hold(&format!("atelier.put_back.{}", batch.model));
            spawn(async move {
                let turn = turn.await;
                kept.show_latest().await;
                let Some(schema) = composer.try_schema() else {
                    // The page shows something else by now; another visit puts them back.
                    return;
                };
                let tasks = runner.taken_back(&batch);
                let item = |task: &Task| {
                    Some(ReturnedItem {
                        task: task.key.clone(),
                        created: task.created,
                        place: task.batch.clone()?,
                        draft: rerun::draft(task, &schema),
                    })
                };
                let items: Vec<_> = tasks.iter().filter_map(item).collect();
                let is_back = !items.is_empty()
                    && composer.change(|table, schema| table.return_items(items, schema));
                is_under_way.try_set(false);
                if is_back {
                    runner.hand_over(&tasks);
                    // They are not to be sent any more.
                    composer.answer.clear();
                    handed_over.try_set(());
                    // Until the rows outlive this page, the records do.
                    spawn(async move {
                        if kept.secured(runner.storage().is_none()).await {
                            Batches::new(all).leave_out_taken_back(&batch.key, &tasks);
                            runner.mark_handed_over(&tasks);
                        }
                    });
                    // Where nothing can be stored, others must not wait for ever.
                    kept.show_latest().await;
                    drop(turn);
                }
            });
        }
    });
    let (take_here, here) = (take.clone(), batch.key.clone());
    effect(move || {
        runner.track_phases();
        if runner.is_stopped_here(&here) {
            untrack(|| take_here());
        }
    });
    let key = batch.key.clone();
    let left = memo(move || {
        handed_over.track();
        match summary.read().taken_back {
            0 => 0,
            _ => runner.taken_back(&batch).len(),
        }
    });
    view! {
        <button
            class="button"
            type="button"
            // Where they come back by themselves, there is nothing to be pressed.
            hidden=when(move || left.get() == 0 || is_under_way.get() && runner.is_stopped_here(&key))
            on:click=handler(move |_| take())
            prop:textContent=text(move || format!("Put the {} taken back into the table", left.get()))></button>
    }
    .into_any()
}
