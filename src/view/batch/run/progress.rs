//! The progress of a batch: a bar, counts and times.

use std::sync::Arc;

use atelier_engine::Millis;
use atelier_studio::batch::summary::BatchSummary;
use atelier_studio::batch::{Batch, Part};
use atelier_studio::history;
use leptos::prelude::*;

use crate::reactive::boxed::{derived, dynamic, text};
use crate::state::contexts::contexts;
use crate::view::parts::settings_link::with_settings_link;
use crate::view::parts::ticker::ticker;

/// A progress bar with a segment for each outcome, and below it the counts and times. Items without an outcome leave the
/// bar empty.
pub fn progress(batch: Arc<Batch>, summary: Memo<BatchSummary>) -> AnyView {
    let (runner, now) = (contexts().runner, ticker(1_000));
    let completed = {
        let batch = batch.clone();
        text(move || {
            now.track();
            let share = runner.with_tasks(|tasks| batch.items(tasks.iter().copied()).progress());
            format!("{:.1}%", share * 100.0)
        })
    };
    let segments = move || {
        let summary = summary.read();
        summary
            .counts
            .shares()
            .map(|(part, share)| {
                // An integer number of tenths of a percent is precise enough for a bar.
                let width = (share * 1000.0) as i64;
                let is_pending = matches!(part, Part::InProgress | Part::Queued);
                view! {
                    <span
                        data-phase=part.phase_word()
                        class:awaited=is_pending
                        style:flex-grow=width.to_string()
                        style:--done=derived(move || (part == Part::InProgress).then(|| completed.get()))
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
            aria-valuetext=sentence
        >
            {dynamic(segments)}
        </div>
        <div class="run-summary">
            <p class="run-counts" translate="no" role="status" prop:textContent=sentence></p>
            {times(batch, summary, now)}
        </div>
    }
    .into_any()
}

/// The elapsed time, the estimated remaining time, and what blocks sending.
fn times(batch: Arc<Batch>, summary: Memo<BatchSummary>, now: RwSignal<Millis>) -> AnyView {
    let (runner, catalog) = (contexts().runner, contexts().catalog);
    let line = text(move || {
        let now = now.get();
        let summary = summary.read();
        let is_held = !summary.counts.is_settled()
            && runner.with_tasks(|tasks| {
                let unsent = batch.items(tasks.iter().copied()).unsent();
                unsent.first().is_some_and(|it| runner.waits_for_user(it))
            });
        let mut line = summary.times(now, is_held, || {
            let schema = catalog.schema(&batch.model);
            runner.with_tasks(|tasks| {
                let items = batch.items(tasks.iter().copied());
                let outputs = items.outputs_of_each(schema.loaded().map(|schema| &**schema));
                let typical = history::estimate(tasks.iter().copied(), &batch.model, outputs);
                items.remaining(now, typical)
            })
        });
        if summary.counts.is_settled() {
            return line;
        }
        if let Some(block_reason) = runner.block_reason() {
            line.push_str(if line.ends_with('.') { " " } else { ". " });
            line.push_str(&block_reason.user_message(now));
        }
        line
    });
    view! { <p class="muted run-times" translate="no">{with_settings_link(line)}</p> }.into_any()
}
