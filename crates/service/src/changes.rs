//! Passes changes of tasks on to the streams of their users (`GET /v2/events`). Each [`crate::store::Store`] announces its
//! changes; what has changed is read from the store.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::broadcast::{self, Receiver, Sender};

/// The number of changes that a stream may be behind.
const CAPACITY: usize = 256;

/// The number of recent changes that an interrupted stream can continue from.
const MAX_RECENT: usize = 4096;

/// The length of a user's name, in bytes, from which its changes are not announced. Also in the migration that creates the
/// trigger.
pub const MAX_UID: usize = 1000;

/// A change of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Ascending among the changes of this process.
    pub number: u64,
    /// The id of the task; `None` if changes were missed.
    pub task: Option<String>,
}

/// The recent changes of all tasks, and the streams that wait for them.
#[derive(Debug)]
pub struct Changes(Mutex<State>);

#[derive(Debug)]
struct State {
    /// A random name of this process, because another one numbers its changes otherwise.
    process: u64,
    last: u64,
    /// The user and the change.
    recent: VecDeque<(String, Change)>,
    streams: HashMap<String, Sender<Change>>,
    is_closed: bool,
}

impl Default for Changes {
    fn default() -> Self {
        Self(Mutex::new(State {
            process: getrandom::u64().unwrap_or_default(),
            last: 0,
            recent: VecDeque::new(),
            streams: HashMap::new(),
            is_closed: false,
        }))
    }
}

impl Changes {
    /// Announces that a task of this user has changed.
    pub fn announce(&self, uid: &str, task: &str) {
        if uid.len() >= MAX_UID {
            return;
        }
        let mut state = self.lock();
        state.last += 1;
        let change = Change {
            number: state.last,
            task: Some(task.to_owned()),
        };
        if let Some(stream) = state.streams.get(uid) {
            // It fails if all streams of the user have ended.
            let _ = stream.send(change.clone());
        }
        if state.recent.len() >= MAX_RECENT {
            state.recent.pop_front();
        }
        state.recent.push_back((uid.to_owned(), change));
    }

    /// Announces to all streams that changes were missed.
    #[cfg(feature = "cluster")]
    pub fn announce_gap(&self) {
        let mut state = self.lock();
        state.last += 1;
        state.recent.clear();
        let change = Change {
            number: state.last,
            task: None,
        };
        for stream in state.streams.values() {
            let _ = stream.send(change.clone());
        }
    }

    /// Subscribes to the changes of a user's tasks. `last_event` is the id of the last event that the client has received.
    pub fn subscribe(self: &Arc<Self>, uid: &str, last_event: Option<&str>) -> Subscription {
        let mut state = self.lock();
        let missed = last_event.and_then(|event| state.since(uid, event));
        let missed = missed.unwrap_or_else(|| {
            vec![Change {
                number: state.last,
                task: None,
            }]
        });
        let receiver = match (state.is_closed, state.streams.get(uid)) {
            (true, _) => broadcast::channel(1).1,
            (false, Some(stream)) => stream.subscribe(),
            (false, None) => {
                let (stream, receiver) = broadcast::channel(CAPACITY);
                state.streams.insert(uid.to_owned(), stream);
                receiver
            }
        };
        Subscription {
            missed,
            receiver,
            process: state.process,
            uid: uid.to_owned(),
            changes: self.clone(),
        }
    }

    /// Returns the number of streams of a user, and of all users.
    pub fn streams(&self, uid: &str) -> (usize, usize) {
        let state = self.lock();
        let of_user = state.streams.get(uid).map_or(0, Sender::receiver_count);
        let all = state.streams.values().map(Sender::receiver_count).sum();
        (of_user, all)
    }

    /// Ends all streams, because the service stops.
    pub fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.streams.clear();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns the changes of a user's tasks since an event; `None` if they are not known any more.
    fn since(&self, uid: &str, event: &str) -> Option<Vec<Change>> {
        let (process, number) = event.split_once('-')?;
        let number: u64 = number.parse().ok()?;
        if process != format!("{:x}", self.process) || number > self.last {
            return None;
        }
        let oldest = self
            .recent
            .front()
            .map_or(self.last + 1, |(_, change)| change.number);
        if number + 1 < oldest {
            return None;
        }
        let later = self
            .recent
            .iter()
            .filter(|(owner, change)| owner == uid && change.number > number);
        Some(later.map(|(_, change)| change.clone()).collect())
    }
}

/// The changes of a user's tasks.
#[derive(Debug)]
pub struct Subscription {
    /// The changes since the client's last event.
    pub missed: Vec<Change>,
    pub receiver: Receiver<Change>,
    process: u64,
    uid: String,
    changes: Arc<Changes>,
}

impl Subscription {
    /// Returns the id of the event for a change.
    pub fn event_id(&self, change: &Change) -> String {
        format!("{:x}-{}", self.process, change.number)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut state = self.changes.lock();
        // This receiver still counts.
        if state
            .streams
            .get(&self.uid)
            .is_some_and(|stream| stream.receiver_count() <= 1)
        {
            state.streams.remove(&self.uid);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::broadcast::error::TryRecvError;

    fn tasks(changes: &[Change]) -> Vec<&str> {
        changes
            .iter()
            .map(|change| change.task.as_deref().unwrap_or("missed"))
            .collect()
    }

    #[test]
    fn a_stream_receives_the_changes_of_its_user() {
        let changes = Arc::new(Changes::default());
        let mut stream = changes.subscribe("ada", None);
        assert_eq!(tasks(&stream.missed), ["missed"]);
        changes.announce("ada", "1");
        changes.announce("bob", "2");
        changes.announce("ada", "3");
        assert_eq!(
            stream.receiver.try_recv().unwrap().task.as_deref(),
            Some("1")
        );
        assert_eq!(
            stream.receiver.try_recv().unwrap().task.as_deref(),
            Some("3")
        );
        assert_eq!(stream.receiver.try_recv(), Err(TryRecvError::Empty));
        changes.close();
        assert_eq!(stream.receiver.try_recv(), Err(TryRecvError::Closed));
        let mut later = changes.subscribe("ada", None);
        assert_eq!(later.receiver.try_recv(), Err(TryRecvError::Closed));
    }

    #[test]
    fn an_interrupted_stream_continues_after_its_last_event() {
        let changes = Arc::new(Changes::default());
        let stream = changes.subscribe("ada", None);
        let start = stream.event_id(&stream.missed[0]);
        changes.announce("ada", "1");
        changes.announce("bob", "2");
        let first = stream.event_id(&Change {
            number: 1,
            task: None,
        });
        drop(stream);
        changes.announce("ada", "3");
        let missed = |event: &str| changes.subscribe("ada", Some(event)).missed.clone();
        assert_eq!(tasks(&missed(&start)), ["1", "3"]);
        assert_eq!(tasks(&missed(&first)), ["3"]);
        for unknown in ["", "x", "0-1", &format!("{start}9")] {
            assert_eq!(tasks(&missed(unknown)), ["missed"], "{unknown}");
        }
        for _ in 0..MAX_RECENT {
            changes.announce("bob", "4");
        }
        assert_eq!(tasks(&missed(&first)), ["missed"]);
    }

    #[test]
    fn streams_are_counted_until_they_end() {
        let changes = Arc::new(Changes::default());
        let streams = [
            changes.subscribe("ada", None),
            changes.subscribe("ada", None),
        ];
        let other = changes.subscribe("bob", None);
        assert_eq!(changes.streams("ada"), (2, 3));
        drop(streams);
        assert_eq!(changes.streams("ada"), (0, 1));
        drop(other);
        assert!(changes.lock().streams.is_empty());
    }
}
