//! How a batch stands, as far as a person is told of it.

use super::{Counts, Items};
use crate::plural::counted;
use crate::{Millis, Phase, TaskKey, duration};

/// How a batch stands, and what of it a person may do something about.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchSummary {
    pub counts: Counts,
    /// What `Retry failed` repeats.
    pub failed: Vec<TaskKey>,
    pub unconfirmed: Vec<TaskKey>,
    /// Items of which nothing was sent yet.
    pub unsent: usize,
    /// Items that were stopped and do not stand in the table yet.
    pub taken_back: usize,
    pub is_paused: bool,
    /// When the last item ended; `None` while any goes on.
    pub finished: Option<Millis>,
}

impl BatchSummary {
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
            unsent: unsent.len(),
            taken_back: items.taken_back().len(),
            finished: items.finished(),
        }
    }

    /// How long it has taken since it was made, and, while it goes on, how long it still takes (`left`, in ms, where
    /// that is known): `1 min 05 s, about 3 min left.`
    pub fn times(
        &self,
        created: Millis,
        now: Millis,
        left: impl FnOnce() -> Option<Millis>,
    ) -> String {
        let elapsed = |until: Millis| duration::text(until.saturating_sub(created));
        if self.counts.is_settled() {
            return match self.finished {
                Some(finished) => format!("Took {}.", elapsed(finished)),
                None => String::new(),
            };
        }
        let elapsed = elapsed(now);
        if self.is_paused {
            let unsent = counted(self.unsent, "item");
            return format!("{elapsed}. Paused: {unsent} not sent yet. What was sent goes on.");
        }
        match left() {
            Some(left) => format!("{elapsed}, {} left.", duration::about(left)),
            None => elapsed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::tests::{batch, failed, queued, ready, task};

    #[test]
    fn it_says_what_can_be_done() {
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

    #[test]
    fn times_as_they_are_said() {
        let mut tasks = [task("a", 0, 0, ready()), task("b", 1, 0, queued())];
        let batch = batch(2);
        let times = |tasks: &[crate::Task], left: Option<Millis>| {
            BatchSummary::of(&batch.items(tasks)).times(1_000, 66_000, || left)
        };
        assert_eq!(times(&tasks, None), "1 min 05 s");
        let expected = "1 min 05 s, about 3 min left.";
        assert_eq!(times(&tasks, Some(180_000)), expected);
        tasks[1].paused = true;
        let expected = "1 min 05 s. Paused: 1 item not sent yet. What was sent goes on.";
        assert_eq!(times(&tasks, Some(180_000)), expected);
        tasks[1] = task("b", 1, 0, ready());
        assert_eq!(times(&tasks, None), "");
        tasks[1].finished = Some(13_000);
        assert_eq!(times(&tasks, None), "Took 12 s.");
    }
}
