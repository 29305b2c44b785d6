//! Summarizes the progress of a batch for the user.

use atelier_contract::ApiError;
use atelier_engine::{Millis, Phase, Task, TaskKey, duration};

use super::working_time::WorkingTime;
use super::{Counts, Items, Part};
use crate::text::plural::counted;

/// Returns when the first of these tasks was created.
pub fn when_sent<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> Millis {
    let sent = tasks.into_iter().map(|task| task.created);
    sent.min().unwrap_or_default()
}

/// Returns the time of the last retry.
pub fn last_retry<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> Option<Millis> {
    let retries = tasks.into_iter().filter(|task| task.retry_of.is_some());
    retries.map(|task| task.created).max()
}

/// The progress of a batch, and the items on which the user can act.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchSummary {
    pub counts: Counts,
    /// The tasks that `Retry failed` repeats.
    pub failed: Vec<TaskKey>,
    pub unconfirmed: Vec<TaskKey>,
    /// The number of items that were not sent yet.
    pub unsent: usize,
    /// The number of items that were stopped and have not been returned to the table yet.
    pub taken_back: usize,
    pub is_paused: bool,
    /// The service's error, if the batch was paused because the service rejects further items.
    pub refusal: Option<ApiError>,
    /// When the last item ended, in ms since 1970-01-01 UTC; `None` while any is in progress.
    pub finished: Option<Millis>,
    /// Whether the end time of some item is inexact, because no tab observed it.
    pub ended_unseen: bool,
    pub worked: WorkingTime,
}

impl BatchSummary {
    /// Summarizes the items.
    pub fn of(items: &Items) -> Self {
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
            refusal: unsent.iter().find_map(|task| {
                Some(
                    task.poll_error
                        .as_ref()
                        .filter(|_| task.paused)?
                        .error
                        .clone(),
                )
            }),
            unsent: unsent.len(),
            taken_back: items.taken_back().len(),
            finished: items.finished(),
            ended_unseen: items.latest().flatten().any(|task| task.ended_unseen),
            worked: items.worked(),
        }
    }

    /// Whether all items have ended, and none has completed.
    pub fn has_failed(&self) -> bool {
        let is_over = self.counts.is_settled() && self.counts.of(Part::Completed) == 0;
        let ended = [Part::Failed, Part::Gone, Part::Canceled];
        is_over && ended.iter().any(|part| self.counts.of(*part) > 0)
    }

    /// Returns the confirmation question for returning unsent items to the table.
    pub fn stop_question(&self) -> String {
        let unsent = counted(self.unsent, "item");
        let question = format!("Take back the {unsent} not sent yet? They go back into the table.");
        format!("{question} {}", self.ongoing_message())
            .trim_end()
            .to_owned()
    }

    /// Returns the note that a pause or stop does not affect items in progress; empty if there are none.
    fn ongoing_message(&self) -> &'static str {
        match self.counts.of(Part::InProgress) {
            0 => "",
            _ => "Tasks already sent keep running.",
        }
    }

    /// Returns the elapsed time and, while the batch is in progress, the remaining time: `1 min 05 s so far · about 3
    /// min left`. `left`: returns the remaining time in ms, if known. `is_held`: unsent items wait for the user; this
    /// waiting time is not counted.
    pub fn times(
        &self,
        now: Millis,
        is_held: bool,
        left: impl FnOnce() -> Option<Millis>,
    ) -> String {
        let rests = is_held && self.counts.of(Part::InProgress) == 0;
        let until = if rests { 0 } else { now };
        let elapsed = duration::text(self.worked.elapsed(until));
        if self.counts.is_settled() {
            return match self.finished {
                Some(_) if self.ended_unseen => format!("Took at most {elapsed}."),
                Some(_) => format!("Took {elapsed}."),
                None => String::new(),
            };
        }
        if self.is_paused {
            let unsent = counted(self.unsent, "item");
            // Rejected items were sent, but not accepted.
            let (done, why) = match &self.refusal {
                Some(error) => ("accepted", error.user_message()),
                None => ("sent", self.ongoing_message().to_owned()),
            };
            let paused = format!("Paused: {unsent} not {done} yet. {why}");
            let paused = paused.trim_end();
            return match self.worked.elapsed(until) {
                0 => paused.to_owned(),
                _ => format!("{elapsed}. {paused}"),
            };
        }
        // The remaining time is unknown while the batch waits for the user.
        match left().filter(|_| !rests) {
            Some(left) => format!("{elapsed} so far · {} left", duration::about(left)),
            None => format!("{elapsed} so far"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::tests::{batch, failed, queued, ready, task};

    #[test]
    fn the_summary_lists_the_possible_actions() {
        let mut tasks = [
            task("a", 0, 1, ready()),
            task("b", 1, 1, failed()),
            task("c", 2, 1, queued()),
        ];
        let batch = batch(4);
        let summary = BatchSummary::of(&batch.items(&tasks));
        assert_eq!(summary.failed, [TaskKey("b".into())]);
        assert_eq!((summary.unsent, summary.is_paused), (1, false));
        assert_eq!((summary.unconfirmed.len(), summary.finished), (0, None));
        tasks[2].paused = true;
        assert!(BatchSummary::of(&batch.items(&tasks)).is_paused);
        tasks[2].taken_back = true;
        let summary = BatchSummary::of(&batch.items(&tasks));
        assert_eq!((summary.unsent, summary.taken_back), (0, 1));
    }

    /// The note about items in progress must not be shown if there are none.
    #[test]
    fn only_items_in_progress_go_on() {
        let running = serde_json::json!({"state": "running", "id": "t", "word": "processing"});
        let mut unsent = task("b", 1, 1_000, queued());
        unsent.paused = true;
        let messages = |first: serde_json::Value| {
            let mut first = task("a", 0, 1_000, first);
            first.paused = first.state.phase() == Phase::Queued;
            let summary = BatchSummary::of(&batch(2).items(&[first, unsent.clone()]));
            (
                summary.times(1_000, false, || None),
                summary.stop_question(),
            )
        };
        let (times, question) = messages(running);
        assert_eq!(
            times,
            "Paused: 1 item not sent yet. Tasks already sent keep running."
        );
        let expected = "Take back the 1 item not sent yet? They go back into the table. Tasks already sent keep running.";
        assert_eq!(question, expected);
        for (first, count) in [(queued(), "2 items"), (ready(), "1 item")] {
            let (times, question) = messages(first);
            assert_eq!(times, format!("Paused: {count} not sent yet."));
            let expected =
                format!("Take back the {count} not sent yet? They go back into the table.");
            assert_eq!(question, expected);
        }
    }

    /// The page must not offer to show outputs of a batch without outputs.
    #[test]
    fn a_batch_without_outputs_has_failed() {
        let has_failed = |states: [serde_json::Value; 2]| {
            let [first, second] = states;
            let tasks = [task("a", 0, 1, first), task("b", 1, 1, second)];
            BatchSummary::of(&batch(2).items(&tasks)).has_failed()
        };
        assert!(has_failed([failed(), failed()]));
        let canceled =
            serde_json::json!({"state": "failed", "id": "t", "message": "", "canceled": true});
        assert!(has_failed([canceled.clone(), canceled]));
        assert!(!has_failed([failed(), queued()]));
        assert!(!has_failed([failed(), ready()]));
        let unsent: [atelier_engine::Task; 0] = [];
        assert!(!BatchSummary::of(&batch(2).items(&unsent)).has_failed());
    }

    /// A list that is sorted by the time of the last retry must show that time, too.
    #[test]
    fn the_times_of_sending_and_of_the_last_retry_are_known() {
        let mut tasks = [
            task("a", 0, 5, ready()),
            task("b", 1, 5, failed()),
            task("c", 1, 900, ready()),
        ];
        assert_eq!(last_retry(&tasks), None);
        tasks[2].retry_of = Some(TaskKey("b".into()));
        assert_eq!((when_sent(&tasks), last_retry(&tasks)), (5, Some(900)));
    }

    #[test]
    fn formats_the_times() {
        let mut tasks = [task("a", 0, 1_000, ready()), task("b", 1, 1_000, queued())];
        let batch = batch(2);
        let times = |tasks: &[atelier_engine::Task], left: Option<Millis>| {
            BatchSummary::of(&batch.items(tasks)).times(66_000, false, || left)
        };
        assert_eq!(times(&tasks, None), "1 min 05 s so far");
        let expected = "1 min 05 s so far · about 3 min left";
        assert_eq!(times(&tasks, Some(180_000)), expected);
        tasks[1].paused = true;
        let expected = "Paused: 1 item not sent yet.";
        assert_eq!(times(&tasks, Some(180_000)), expected);
        tasks[0].finished = Some(21_000);
        let expected = "20 s. Paused: 1 item not sent yet.";
        assert_eq!(times(&tasks, Some(180_000)), expected);
        let error = ApiError::Refused {
            status: 402,
            message: "Your balance is empty".into(),
        };
        tasks[1].poll_error = Some(atelier_engine::PollError { since: 0, error });
        // Rejected items are called `not accepted` instead of `not sent`.
        let expected = "20 s. Paused: 1 item not accepted yet. The service refused (HTTP 402). It says: Your balance is \
                        empty.";
        assert_eq!(times(&tasks, None), expected);
        // The time of waiting for settings or a token is not counted.
        tasks[1] = task("b", 1, 1_000, queued());
        let held = BatchSummary::of(&batch.items(&tasks)).times(66_000, true, || None);
        assert_eq!(held, "20 s so far");
        tasks[0].finished = None;
        tasks[1] = task("b", 1, 1_000, ready());
        assert_eq!(times(&tasks, None), "");
        tasks[1].finished = Some(13_000);
        assert_eq!(times(&tasks, None), "Took 12 s.");
        tasks[1].ended_unseen = true;
        assert_eq!(times(&tasks, None), "Took at most 12 s.");
        tasks[1].ended_unseen = false;
        // The item is retried ten minutes later.
        let mut again = [
            tasks[0].clone(),
            tasks[1].clone(),
            task("c", 1, 613_000, ready()),
        ];
        again[2].retry_of = Some(TaskKey("b".into()));
        again[2].finished = Some(616_000);
        assert_eq!(times(&again, None), "Took 15 s.");
    }
}
