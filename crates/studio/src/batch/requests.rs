//! Keeps the last request for each batch, as one tab knows it. Several tabs may ask, one at a time acts, and it may
//! be gone before it has.

use std::collections::HashMap;

use atelier_engine::{BatchAction, BatchKey, Millis, Phase, Task};

/// A tab has stored by then what it says that it has done.
const WRITTEN_MS: Millis = 5_000;

#[derive(Debug, Default)]
pub struct BatchRequests {
    latest: HashMap<BatchKey, Request>,
}

#[derive(Debug)]
struct Request {
    action: BatchAction,
    /// When it was asked for: a later one counts.
    at: Millis,
    progress: Progress,
}

#[derive(Debug, PartialEq)]
enum Progress {
    /// It was asked for in this tab, and is not seen to be done.
    Open,
    /// It was asked for in this tab, and was seen to be done at this time.
    Seen(Millis),
    /// Another tab's.
    Heard,
    /// This tab leads, or led, and has done it.
    Done,
}

impl BatchRequests {
    /// A person asks in this tab. Returns when that counts as asked: after all that was known before, whatever the
    /// clock says.
    pub fn ask(&mut self, batch: &BatchKey, action: BatchAction, now: Millis) -> Millis {
        let known = self.latest.get(batch);
        let at = known.map_or(now, |known| now.max(known.at.saturating_add(1)));
        let progress = Progress::Open;
        let request = Request {
            action,
            at,
            progress,
        };
        self.latest.insert(batch.clone(), request);
        at
    }

    /// Another tab says what was asked for there. Whether it counts: a later word has been heard otherwise.
    pub fn hear(&mut self, batch: &BatchKey, action: BatchAction, at: Millis, now: Millis) -> bool {
        match self.latest.get(batch) {
            // A request from the future was made by a clock that has been set back since.
            Some(known) if known.at > at && known.at <= now => false,
            // Told once more: what was retried after a Stop is not taken back with it.
            Some(known) if known.at == at && known.action == action => {
                known.progress != Progress::Done
            }
            _ => {
                let progress = Progress::Heard;
                let request = Request {
                    action,
                    at,
                    progress,
                };
                self.latest.insert(batch.clone(), request);
                true
            }
        }
    }

    /// Whether a request of this tab is still to be seen done.
    pub fn is_open(&self, batch: &BatchKey) -> bool {
        let request = self.latest.get(batch);
        request.is_some_and(|request| request.progress == Progress::Open)
    }

    /// How the tasks of a batch are now.
    pub fn look<'a>(
        &mut self,
        batch: &BatchKey,
        tasks: impl IntoIterator<Item = &'a Task>,
        now: Millis,
    ) {
        if let Some(request) = self.latest.get_mut(batch)
            && request.progress == Progress::Open
            && !tasks
                .into_iter()
                .any(|task| is_to_change(request.action, task))
        {
            request.progress = Progress::Seen(now);
        }
    }

    /// Gives the requests of this tab that may not have been carried out. The tab that leads from now on is asked once
    /// more.
    pub fn unsettled(&self, now: Millis) -> Vec<(BatchKey, BatchAction, Millis)> {
        let is_unsettled = |request: &Request| match request.progress {
            Progress::Open => true,
            Progress::Seen(then) => (then..then.saturating_add(WRITTEN_MS)).contains(&now),
            Progress::Heard | Progress::Done => false,
        };
        let all = self.latest.iter();
        all.filter(|(_, request)| is_unsettled(request))
            .map(|(batch, request)| (batch.clone(), request.action, request.at))
            .collect()
    }

    /// This tab leads, and has done what was asked for last.
    pub fn done(&mut self, batch: &BatchKey) {
        if let Some(request) = self.latest.get_mut(batch) {
            request.progress = Progress::Done;
        }
    }

    /// This tab leads, and has done all that was asked for in it.
    pub fn settle(&mut self) {
        for request in self.latest.values_mut() {
            if request.progress != Progress::Heard {
                request.progress = Progress::Done;
            }
        }
    }
}

/// A task of the batch is not yet as the action makes it.
fn is_to_change(action: BatchAction, task: &Task) -> bool {
    let is_unsent = task.state.phase() == Phase::Queued && !task.taken_back;
    is_unsent
        && match action {
            BatchAction::Pause => !task.paused,
            BatchAction::Resume => task.paused,
            BatchAction::Stop => true,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::task;

    const STOP: BatchAction = BatchAction::Stop;
    const PAUSE: BatchAction = BatchAction::Pause;
    const RESUME: BatchAction = BatchAction::Resume;

    fn batch() -> BatchKey {
        BatchKey("b".into())
    }

    fn queued(paused: bool, taken_back: bool) -> Task {
        Task {
            paused,
            taken_back,
            ..task("t", 0)
        }
    }

    /// Guards against a Stop that is forgotten once a tab was told of it that is about to go.
    #[test]
    fn it_is_asked_again_until_it_is_seen_done_and_written() {
        let mut requests = BatchRequests::default();
        assert_eq!(requests.ask(&batch(), STOP, 100), 100);
        requests.look(&batch(), &[queued(false, false)], 200);
        assert!(requests.is_open(&batch()));
        assert_eq!(requests.unsettled(90_000), [(batch(), STOP, 100)]);
        requests.look(&batch(), &[queued(true, true)], 90_000);
        assert_eq!(requests.unsettled(90_001), [(batch(), STOP, 100)]);
        assert_eq!(requests.unsettled(90_000 + WRITTEN_MS), []);
    }

    /// Guards against a Resume that comes back after a later Pause, and has a batch paid that was held.
    #[test]
    fn what_another_tab_has_asked_for_since_counts() {
        let mut requests = BatchRequests::default();
        requests.ask(&batch(), RESUME, 100);
        assert!(requests.hear(&batch(), PAUSE, 150, 150));
        assert_eq!(requests.unsettled(160), []);
        assert!(
            !requests.hear(&batch(), RESUME, 100, 160),
            "told again, too late"
        );
        // The other way round: a clock that was set back does not make a press count for nothing.
        assert_eq!(requests.ask(&batch(), STOP, 20), 151);
        assert!(!requests.hear(&batch(), PAUSE, 150, 160));
        assert!(
            requests.hear(&batch(), STOP, 151, 160),
            "its own, come back"
        );
        assert!(requests.is_open(&batch()));
    }

    #[test]
    fn each_action_has_its_own_end() {
        for (action, done, open) in [
            (PAUSE, queued(true, false), queued(false, false)),
            (RESUME, queued(false, false), queued(true, false)),
            (STOP, queued(true, true), queued(true, false)),
        ] {
            let mut requests = BatchRequests::default();
            requests.ask(&batch(), action, 0);
            requests.look(&batch(), &[open, done.clone()], 1);
            assert!(requests.is_open(&batch()), "{action:?}");
            requests.look(&batch(), &[done], 1);
            assert!(!requests.is_open(&batch()), "{action:?}");
        }
    }

    /// Guards against a Stop that a leader ignores for an hour, because the clock was set back by one.
    #[test]
    fn what_lies_in_the_future_refuses_nothing() {
        let mut requests = BatchRequests::default();
        requests.ask(&batch(), RESUME, 3_600_100);
        requests.settle();
        assert!(requests.hear(&batch(), PAUSE, 200, 200));
    }

    /// Guards against a Stop that is told once more and takes back what was retried since; but another tab that only
    /// heard it has not done it.
    #[test]
    fn what_was_done_is_not_done_again() {
        let mut requests = BatchRequests::default();
        assert!(requests.hear(&batch(), STOP, 100, 100));
        requests.settle();
        assert!(
            requests.hear(&batch(), STOP, 100, 200),
            "it was only heard of"
        );
        requests.done(&batch());
        assert!(!requests.hear(&batch(), STOP, 100, 300));
    }

    #[test]
    fn what_this_tab_has_done_itself_is_not_asked_for() {
        let mut requests = BatchRequests::default();
        requests.ask(&batch(), STOP, 100);
        requests.settle();
        assert_eq!(requests.unsettled(101), []);
    }
}
