//! Records the last pause, resume or stop of each batch that this tab has requested or received. Any tab may request an
//! action, but only the leader carries it out, and the leader may be closed before it has done so.

use std::collections::HashMap;

use atelier_engine::{BatchAction, BatchKey, Millis, Phase, Task};

/// The time in which a leader stores changes that are already visible in other tabs.
const WRITTEN_MS: Millis = 5_000;

/// The last request of each batch.
#[derive(Debug, Default)]
pub struct BatchRequests {
    latest: HashMap<BatchKey, Request>,
}

#[derive(Debug)]
struct Request {
    action: BatchAction,
    /// When the action was requested. The latest request wins.
    at: Millis,
    progress: Progress,
}

#[derive(Debug, PartialEq)]
enum Progress {
    /// Requested in this tab, and not carried out yet.
    Open,
    /// Requested in this tab. At this time, the tab saw that it was carried out.
    Seen(Millis),
    /// Requested in another tab.
    Remote,
    /// Carried out by this tab as the leader.
    Done,
}

impl BatchRequests {
    /// Requests an action in this tab. Returns the time of the request, which is later than that of all earlier
    /// requests, even if the clock was set back.
    pub fn request(&mut self, batch: &BatchKey, action: BatchAction, now: Millis) -> Millis {
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

    /// Receives a request of another tab. Returns whether to carry it out. It is ignored if a later request has arrived
    /// before.
    pub fn receive(
        &mut self,
        batch: &BatchKey,
        action: BatchAction,
        at: Millis,
        now: Millis,
    ) -> bool {
        match self.latest.get(batch) {
            // A time in the future means that the clock was set back since.
            Some(known) if known.at > at && known.at <= now => false,
            // A repeated Stop must not stop tasks that were retried since.
            Some(known) if known.at == at && known.action == action => {
                known.progress != Progress::Done
            }
            _ => {
                let progress = Progress::Remote;
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

    /// Whether a request of this tab is not carried out yet.
    pub fn is_open(&self, batch: &BatchKey) -> bool {
        let request = self.latest.get(batch);
        request.is_some_and(|request| request.progress == Progress::Open)
    }

    /// Checks whether the request for a batch is carried out for all of its tasks.
    pub fn observe<'a>(
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

    /// Returns the requests of this tab that may not be carried out and stored yet, to send them again to a new leader.
    pub fn unfinished(&self, now: Millis) -> Vec<(BatchKey, BatchAction, Millis)> {
        let is_unfinished = |request: &Request| match request.progress {
            Progress::Open => true,
            Progress::Seen(then) => (then..then.saturating_add(WRITTEN_MS)).contains(&now),
            Progress::Remote | Progress::Done => false,
        };
        let all = self.latest.iter();
        all.filter(|(_, request)| is_unfinished(request))
            .map(|(batch, request)| (batch.clone(), request.action, request.at))
            .collect()
    }

    /// Records that this tab, as the leader, has carried out the last request.
    pub fn done(&mut self, batch: &BatchKey) {
        if let Some(request) = self.latest.get_mut(batch) {
            request.progress = Progress::Done;
        }
    }

    /// Records that this tab, as the leader, has carried out all requests of its own.
    pub fn settle(&mut self) {
        for request in self.latest.values_mut() {
            if request.progress != Progress::Remote {
                request.progress = Progress::Done;
            }
        }
    }
}

/// Whether the action is not carried out for this task yet.
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

    /// Guards against losing a Stop because the leader was closed.
    #[test]
    fn a_request_is_repeated_until_it_is_done_and_stored() {
        let mut requests = BatchRequests::default();
        assert_eq!(requests.request(&batch(), STOP, 100), 100);
        requests.observe(&batch(), &[queued(false, false)], 200);
        assert!(requests.is_open(&batch()));
        assert_eq!(requests.unfinished(90_000), [(batch(), STOP, 100)]);
        requests.observe(&batch(), &[queued(true, true)], 90_000);
        assert_eq!(requests.unfinished(90_001), [(batch(), STOP, 100)]);
        assert_eq!(requests.unfinished(90_000 + WRITTEN_MS), []);
    }

    /// Guards against sending a paused batch because a Resume arrives after a later Pause.
    #[test]
    fn a_later_request_of_another_tab_wins() {
        let mut requests = BatchRequests::default();
        requests.request(&batch(), RESUME, 100);
        assert!(requests.receive(&batch(), PAUSE, 150, 150));
        assert_eq!(requests.unfinished(160), []);
        assert!(
            !requests.receive(&batch(), RESUME, 100, 160),
            "a later request was received"
        );
        // A new request wins even if the clock was set back.
        assert_eq!(requests.request(&batch(), STOP, 20), 151);
        assert!(!requests.receive(&batch(), PAUSE, 150, 160));
        assert!(
            requests.receive(&batch(), STOP, 151, 160),
            "the leader acts on its own request"
        );
        assert!(requests.is_open(&batch()));
    }

    #[test]
    fn each_action_is_done_when_its_effect_is_visible() {
        for (action, done, open) in [
            (PAUSE, queued(true, false), queued(false, false)),
            (RESUME, queued(false, false), queued(true, false)),
            (STOP, queued(true, true), queued(true, false)),
        ] {
            let mut requests = BatchRequests::default();
            requests.request(&batch(), action, 0);
            requests.observe(&batch(), &[open, done.clone()], 1);
            assert!(requests.is_open(&batch()), "{action:?}");
            requests.observe(&batch(), &[done], 1);
            assert!(!requests.is_open(&batch()), "{action:?}");
        }
    }

    /// Guards against ignoring a Stop for an hour because the clock was set back.
    #[test]
    fn requests_from_the_future_are_ignored() {
        let mut requests = BatchRequests::default();
        requests.request(&batch(), RESUME, 3_600_100);
        requests.settle();
        assert!(requests.receive(&batch(), PAUSE, 200, 200));
    }

    /// Guards against a repeated Stop that stops tasks that were retried since. A tab that has only received the
    /// request has not carried it out.
    #[test]
    fn a_request_is_not_carried_out_twice() {
        let mut requests = BatchRequests::default();
        assert!(requests.receive(&batch(), STOP, 100, 100));
        requests.settle();
        assert!(
            requests.receive(&batch(), STOP, 100, 200),
            "the request was only received"
        );
        requests.done(&batch());
        assert!(!requests.receive(&batch(), STOP, 100, 300));
    }

    #[test]
    fn requests_that_this_tab_carried_out_are_not_repeated() {
        let mut requests = BatchRequests::default();
        requests.request(&batch(), STOP, 100);
        requests.settle();
        assert_eq!(requests.unfinished(101), []);
    }
}
