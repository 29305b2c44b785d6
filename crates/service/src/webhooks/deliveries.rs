//! Delivers the stored events: a thread claims those that are due, and starts a thread for each. Workers and requests never
//! wait for it.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Delivery;
use super::body::body;
use super::hosts::Hosts;
use super::retry::{FailedAttempt, pause};
use super::sender::{Outcome, Sender, TIMEOUT};
use crate::metrics::{Metrics, WebhookState};
use crate::store::{Store, StoreError, now_ms};

/// The maximum number of concurrent deliveries, in total and to one host: a host that does not respond leaves capacity for
/// others.
const MAX: usize = 16;
const MAX_PER_HOST: usize = 4;

/// The pause between two looks at the database.
const INTERVAL: Duration = Duration::from_secs(1);

/// The pause after an error of the database.
const ERROR_INTERVAL: Duration = Duration::from_secs(5);

/// The time after which other processes, or the next start, attempt an event again if this process was killed.
const LEASE: Duration = Duration::from_secs(4 * TIMEOUT.as_secs());

/// Delivers events until it is stopped.
pub struct Deliveries(Arc<Shared>);

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
    is_draining: bool,
    /// The host and the attempt of each event that is being sent, by its id.
    in_flight: HashMap<String, (String, u32)>,
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
        std::thread::spawn(move || running.run());
        Self(shared)
    }

    pub fn in_flight(&self) -> usize {
        self.0.lock().in_flight.len()
    }

    /// Starts no more deliveries.
    pub fn drain(&self) {
        self.0.lock().is_draining = true;
        self.0.changed.notify_all();
    }

    /// Gives back the events that are being sent. They may be sent twice.
    pub fn stop(&self) {
        self.drain();
        let in_flight = std::mem::take(&mut self.0.lock().in_flight);
        for (id, (_, attempt)) in in_flight {
            if let Err(error) = self.0.store.release_webhook(&id, attempt) {
                tracing::warn!("webhook {id:.12}…: {error}");
            }
        }
    }
}

impl Shared {
    fn run(self: Arc<Self>) {
        loop {
            let busy = {
                let state = self.lock();
                if state.is_draining {
                    return;
                }
                busy_hosts(&state.in_flight)
            };
            let claimed = match busy {
                Some(busy) => self.store.claim_webhook(&busy, LEASE),
                None => Ok(None),
            };
            match claimed {
                Ok(Some(delivery)) => self.clone().begin(delivery),
                Ok(None) => self.wait(INTERVAL),
                Err(error) => {
                    tracing::error!("webhooks: {error}");
                    self.wait(ERROR_INTERVAL);
                }
            }
        }
    }

    /// Sends an event on its own thread.
    fn begin(self: Arc<Self>, delivery: Delivery) {
        let id = delivery.id.clone();
        let place = (delivery.host.clone(), delivery.attempt);
        self.lock().in_flight.insert(id.clone(), place);
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
        let host = &delivery.host;
        let task = self.store.progress(&delivery.task)?;
        let Some(body) = task.and_then(|task| body(delivery, &task)) else {
            return self.store.remove_webhook(delivery);
        };
        let outcome = match self.hosts.check(&delivery.url) {
            Ok((uri, _)) => self.sender.send(&uri, id, now_ms() / 1000, body),
            Err(_) => {
                tracing::warn!("webhook {id:.12}… given up: {host} is no longer allowed");
                return self.give_up(delivery);
            }
        };
        match outcome {
            Outcome::Delivered => {
                self.metrics.count_webhook(WebhookState::delivered);
                tracing::debug!("webhook {id:.12}… delivered to {host}");
                self.store.remove_webhook(delivery)
            }
            Outcome::Gone => {
                tracing::warn!("webhook {id:.12}… given up: {host} answered 410");
                self.give_up(delivery)
            }
            Outcome::Failed { reason, requested } => {
                self.metrics.count_webhook(WebhookState::failed);
                let age = now_ms().saturating_sub(delivery.occurred_ms).max(0);
                let failed = FailedAttempt {
                    attempt: *attempt,
                    age: Duration::from_millis(age.unsigned_abs()),
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
        }
    }

    fn give_up(&self, delivery: &Delivery) -> Result<(), StoreError> {
        self.metrics.count_webhook(WebhookState::abandoned);
        self.store.remove_webhook(delivery)
    }

    /// Waits until a delivery has ended or the service stops, for at most `time`.
    fn wait(&self, time: Duration) {
        let state = self.lock();
        if !state.is_draining {
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

/// Returns the hosts that receive no more events for now; `None` if none does.
fn busy_hosts(in_flight: &HashMap<String, (String, u32)>) -> Option<Vec<String>> {
    if in_flight.len() >= MAX {
        return None;
    }
    let mut counts = HashMap::<&String, usize>::new();
    for (host, _) in in_flight.values() {
        *counts.entry(host).or_default() += 1;
    }
    let busy = counts
        .into_iter()
        .filter(|(_, count)| *count >= MAX_PER_HOST);
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
            busy_hosts(&in_flight)
        };
        assert_eq!(add("a", MAX_PER_HOST - 1), Some(Vec::new()));
        assert_eq!(add("a", 1), Some(vec!["a".to_owned()]));
        assert_eq!(add("b", 1), Some(vec!["a".to_owned()]));
        assert_eq!(add("c", MAX - MAX_PER_HOST - 1), None);
    }
}
