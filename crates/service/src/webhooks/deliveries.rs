//! Delivers the stored events: a thread claims those that are due, and starts a thread for each. Workers and requests never
//! wait for it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::Delivery;
use super::body::body;
use super::hosts::Hosts;
use super::retry::{FailedAttempt, MAX_AGE, pause};
use super::sender::{Outcome, Sender, TIMEOUT};
use crate::metrics::{Metrics, WebhookState};
use crate::store::{Store, StoreError, now_ms};

/// The maximum number of concurrent deliveries, in total, to one host, and to a host whose last attempt has timed out: a
/// host that does not respond leaves capacity for others.
const MAX: usize = 16;
const MAX_PER_HOST: usize = 4;
const MAX_PER_SILENT_HOST: usize = 1;

/// The pause between two looks at the database.
const INTERVAL: Duration = Duration::from_secs(1);

/// The pause after an error of the database.
const ERROR_INTERVAL: Duration = Duration::from_secs(5);

/// The time after which other processes, or the next start, attempt an event again if this process was killed.
const LEASE: Duration = Duration::from_secs(4 * TIMEOUT.as_secs());

/// Delivers events until it is stopped.
pub struct Deliveries {
    shared: Arc<Shared>,
    /// The thread that claims events; `None` after the stop.
    claiming: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    store: Arc<dyn Store>,
    hosts: Arc<Hosts>,
    sender: Sender,
    metrics: Arc<Metrics>,
    /// The pause after the first failed attempt.
    first_pause: Duration,
    state: Mutex<State>,
    /// Notified when a delivery has ended, or when the service stops.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// No more events are claimed after those that are due.
    is_finishing: bool,
    /// No more events are claimed.
    is_stopping: bool,
    /// The host and the attempt of each event that is being sent, by its id.
    in_flight: HashMap<String, (String, u32)>,
    /// The hosts whose last attempt has timed out.
    silent: HashSet<String>,
}

impl Deliveries {
    pub fn start(
        store: Arc<dyn Store>,
        hosts: Arc<Hosts>,
        sender: Sender,
        metrics: Arc<Metrics>,
        first_pause: Duration,
    ) -> Self {
        let shared = Arc::new(Shared {
            store,
            hosts,
            sender,
            metrics,
            first_pause,
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let running = shared.clone();
        let claiming = std::thread::spawn(move || running.run());
        Self {
            shared,
            claiming: Mutex::new(Some(claiming)),
        }
    }

    /// Claims no more events after those that are due.
    pub fn finish(&self) {
        self.shared.lock().is_finishing = true;
        self.shared.changed.notify_all();
    }

    /// Returns whether no more events are claimed or sent.
    pub fn has_ended(&self) -> bool {
        let claiming = self.lock();
        claiming.as_ref().is_none_or(JoinHandle::is_finished)
            && self.shared.lock().in_flight.is_empty()
    }

    /// Claims no more events, and gives back those that are being sent. They may be sent twice.
    pub fn stop(&self) {
        self.shared.lock().is_stopping = true;
        self.shared.changed.notify_all();
        let claiming = self.lock().take();
        if claiming.is_some_and(|claiming| claiming.join().is_err()) {
            tracing::error!("webhooks: the thread that claims them has panicked");
        }
        let in_flight = std::mem::take(&mut self.shared.lock().in_flight);
        for (id, (_, attempt)) in in_flight {
            if let Err(error) = self.shared.store.release_webhook(&id, attempt) {
                // The others would fail, too, each after a timeout. They are attempted again after their leases.
                tracing::warn!("webhooks that are being sent can't be given back: {error}");
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<JoinHandle<()>>> {
        self.claiming.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    fn run(self: Arc<Self>) {
        loop {
            let (busy, is_finishing) = {
                let state = self.lock();
                if state.is_stopping {
                    return;
                }
                let busy = busy_hosts(&state.in_flight, &state.silent);
                (busy, state.is_finishing)
            };
            let claimed = match &busy {
                Some(busy) => self.store.claim_webhook(busy, LEASE),
                None => Ok(None),
            };
            match claimed {
                Ok(Some(delivery)) => self.clone().begin(delivery),
                Ok(None) if is_finishing && busy.is_some_and(|busy| busy.is_empty()) => return,
                Ok(None) => self.wait(INTERVAL),
                Err(error) => {
                    tracing::error!("webhooks: {error}");
                    self.wait(ERROR_INTERVAL);
                }
            }
        }
    }

    /// Sends an event on its own thread. If the service stops, [`Deliveries::stop`] gives it back.
    fn begin(self: Arc<Self>, delivery: Delivery) {
        let id = delivery.id.clone();
        let place = (delivery.host.clone(), delivery.attempt);
        let is_stopping = {
            let mut state = self.lock();
            state.in_flight.insert(id.clone(), place);
            state.is_stopping
        };
        if is_stopping {
            return;
        }
        let entry = InFlight {
            shared: self.clone(),
            id,
        };
        // If the thread can't be started, the event is attempted again after its lease.
        let started = std::thread::Builder::new().spawn(move || {
            let shared = entry.shared.clone();
            if let Err(error) = shared.deliver(&delivery) {
                tracing::error!("webhook {:.12}…: {error}", delivery.id);
            }
            drop(entry);
        });
        if let Err(error) = started {
            tracing::error!("webhooks: {error}");
            self.wait(ERROR_INTERVAL);
        }
    }

    /// Makes one attempt, and stores its result.
    fn deliver(&self, delivery: &Delivery) -> Result<(), StoreError> {
        let Delivery { id, attempt, .. } = delivery;
        let age = now_ms().saturating_sub(delivery.occurred_ms).max(0);
        let age = Duration::from_millis(age.unsigned_abs());
        if age > MAX_AGE {
            tracing::warn!("webhook {id:.12}… given up a day after its event");
            return self.give_up(delivery);
        }
        let task = self.store.progress(&delivery.task)?;
        let Some(body) = task.and_then(|task| body(delivery, &task)) else {
            return self.store.remove_webhook(delivery);
        };
        let (host, outcome) = match self.hosts.check(&delivery.url) {
            Ok((uri, _)) => {
                let host = uri.host().unwrap_or_default().to_owned();
                (host, self.sender.send(&uri, id, now_ms() / 1000, body))
            }
            // Another process, or the next start, may have it in its list.
            Err(_) => (delivery.host.clone(), not_named()),
        };
        self.set_silent(&delivery.host, outcome == Outcome::TimedOut);
        let (reason, requested) = match outcome {
            Outcome::Delivered => {
                self.metrics.count_webhook(WebhookState::delivered);
                tracing::debug!("webhook {id:.12}… delivered to {host}");
                return self.store.remove_webhook(delivery);
            }
            Outcome::Gone => {
                tracing::warn!("webhook {id:.12}… given up: {host} answered 410");
                return self.give_up(delivery);
            }
            Outcome::Failed { reason, requested } => (reason, requested),
            Outcome::TimedOut => (format!("no response within {TIMEOUT:?}"), None),
        };
        self.metrics.count_webhook(WebhookState::failed);
        let failed = FailedAttempt {
            attempt: *attempt,
            age,
            requested,
        };
        let Some(pause) = pause(failed, self.first_pause, random()) else {
            tracing::warn!("webhook {id:.12}… given up: {host}: {reason}");
            return self.give_up(delivery);
        };
        tracing::info!(
            "webhook {id:.12}…: attempt {attempt} at {host} failed: {reason}; the next is in {pause:.1?}"
        );
        self.store.retry_webhook(id, *attempt, pause)
    }

    fn set_silent(&self, host: &str, is_silent: bool) {
        let mut state = self.lock();
        match is_silent {
            true => state.silent.insert(host.to_owned()),
            false => state.silent.remove(host),
        };
    }

    fn give_up(&self, delivery: &Delivery) -> Result<(), StoreError> {
        self.metrics.count_webhook(WebhookState::abandoned);
        self.store.remove_webhook(delivery)
    }

    /// Waits until a delivery has ended or the service stops, for at most `time`.
    fn wait(&self, time: Duration) {
        let state = self.lock();
        if !state.is_stopping {
            drop(self.changed.wait_timeout(state, time));
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An event that is being sent. It is no more when this is dropped, also after a panic.
struct InFlight {
    shared: Arc<Shared>,
    id: String,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.shared.lock().in_flight.remove(&self.id);
        self.shared.changed.notify_all();
    }
}

/// Returns the result of an attempt at a host that `--webhooks` does not name.
fn not_named() -> Outcome {
    Outcome::Failed {
        reason: "--webhooks of this process does not name it".to_owned(),
        requested: None,
    }
}

/// Returns the hosts that receive no more events for now; `None` if none does.
fn busy_hosts(
    in_flight: &HashMap<String, (String, u32)>,
    silent: &HashSet<String>,
) -> Option<Vec<String>> {
    if in_flight.len() >= MAX {
        return None;
    }
    let mut counts = HashMap::<&String, usize>::new();
    for (host, _) in in_flight.values() {
        *counts.entry(host).or_default() += 1;
    }
    let max = |host: &String| match silent.contains(host) {
        true => MAX_PER_SILENT_HOST,
        false => MAX_PER_HOST,
    };
    let busy = counts
        .into_iter()
        .filter(|(host, count)| *count >= max(host));
    Some(busy.map(|(host, _)| host.clone()).collect())
}

/// Returns a random number from 0 to 1.
fn random() -> f64 {
    f64::from(getrandom::u32().unwrap_or_default()) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against one host that does not respond and holds up all others.
    #[test]
    fn a_host_takes_only_a_part_of_the_capacity() {
        let mut in_flight = HashMap::new();
        let mut add = |host: &str, count: usize| {
            for _ in 0..count {
                let id = in_flight.len().to_string();
                in_flight.insert(id, (host.to_owned(), 1));
            }
            busy_hosts(&in_flight, &HashSet::new())
        };
        assert_eq!(add("a", MAX_PER_HOST - 1), Some(Vec::new()));
        assert_eq!(add("a", 1), Some(vec!["a".to_owned()]));
        assert_eq!(add("b", 1), Some(vec!["a".to_owned()]));
        assert_eq!(add("c", MAX - MAX_PER_HOST - 1), None);
    }

    /// Guards against a few hosts that do not respond and take all capacity.
    #[test]
    fn a_host_that_has_timed_out_takes_one_delivery() {
        let in_flight = ["a", "b", "b"].iter().enumerate();
        let in_flight = in_flight.map(|(id, host)| (id.to_string(), ((*host).to_owned(), 1)));
        let silent = HashSet::from(["a".to_owned(), "c".to_owned()]);
        let busy = busy_hosts(&in_flight.collect(), &silent);
        assert_eq!(busy, Some(vec!["a".to_owned()]));
    }
}
