//! Returns unsent items to the table after sending was stopped.

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

/// Puts the items back once the leading tab has reported which were not sent. The tab in which the user pressed Stop does so
/// automatically; other tabs show a button.
pub fn put_back(composer: Composer, batch: Arc<Batch>, summary: Memo<BatchSummary>) -> AnyView {
    let all = contexts();
    let runner = all.runner;
    let returned = RwSignal::new(());
    let is_running = RwSignal::new(false);
    let put_back = Rc::new({
        let batch = batch.clone();
        move || {
            if is_running.get_untracked() || runner.taken_back(&batch).is_empty() {
                return;
            }
            is_running.set(true);
            let batch = batch.clone();
            let stored_table = composer.keeping();
            // Without this lock, another tab could replace the table meanwhile, and the returned rows would be lost.
            let lock = locks::hold(&format!("atelier.put_back.{}", batch.model));
            spawn(async move {
                let lock = lock.await;
                stored_table.show_latest().await;
                let Some(schema) = composer.try_schema() else {
                    // The view is disposed. The next visit puts the items back.
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
                let is_returned = !items.is_empty()
                    && composer.change(|table, schema| table.return_items(items, schema));
                is_running.try_set(false);
                if is_returned {
                    runner.hand_over(&tasks);
                    // A message about sending would be outdated.
                    composer.answer.clear();
                    returned.try_set(());
                    // The items are removed from the batch only after the table is stored.
                    spawn(async move {
                        if stored_table.secured(runner.storage().is_none()).await {
                            Batches::new(all).leave_out_taken_back(&batch.key, &tasks);
                            runner.mark_handed_over(&tasks);
                        }
                    });
                    // Waits a limited time, so that other tabs are not blocked if nothing can be stored.
                    stored_table.show_latest().await;
                    drop(lock);
                }
            });
        }
    });
    let (put_back_here, stopped_batch) = (put_back.clone(), batch.key.clone());
    effect(move || {
        runner.track_phases();
        if runner.is_stopped_here(&stopped_batch) {
            untrack(|| put_back_here());
        }
    });
    let key = batch.key.clone();
    let count = memo(move || {
        returned.track();
        match summary.read().taken_back {
            0 => 0,
            _ => runner.taken_back(&batch).len(),
        }
    });
    view! {
        <button
            class="button"
            type="button"
            // Hidden while the items are put back automatically.
            hidden=when(move || count.get() == 0 || is_running.get() && runner.is_stopped_here(&key))
            on:click=handler(move |_| put_back())
            prop:textContent=text(move || format!("Put the {} taken back into the table", count.get()))></button>
    }
    .into_any()
}
