//! Stores the webhooks of tasks and their events. An event is stored in the transaction that changes its task, by a trigger
//! of the database.

use std::time::Duration;

use super::StoreError;
use crate::webhooks::Delivery;

/// Stores events until they are delivered. Its calls block.
pub trait WebhookStore {
    /// Claims the event that is due for the longest time, for `lease`: no other process claims it meanwhile. Skips events
    /// for the hosts in `busy`, and events without a webhook, which expire. Counts the attempt, so that each claim of an
    /// event has its own number. Looks only at the first due event of each host, because a host that does not respond may
    /// have many.
    ///
    /// # Errors
    ///
    /// The database can't be read or written.
    fn claim_webhook(
        &self,
        busy: &[String],
        lease: Duration,
    ) -> Result<Option<Delivery>, StoreError>;

    /// Stores that this attempt has failed, and that the next one is after `pause`. Does nothing if another process has
    /// claimed the event since.
    ///
    /// # Errors
    ///
    /// The database can't be written.
    fn retry_webhook(&self, id: &str, attempt: u32, pause: Duration) -> Result<(), StoreError>;

    /// Gives back a claimed event, which is due at once. Does nothing if another process has claimed it since.
    ///
    /// # Errors
    ///
    /// The database can't be written.
    fn release_webhook(&self, id: &str, attempt: u32) -> Result<(), StoreError>;

    /// Removes an event that was delivered or given up, and the webhook after the last event of its task.
    ///
    /// # Errors
    ///
    /// The database can't be written.
    fn remove_webhook(&self, delivery: &Delivery) -> Result<(), StoreError>;

    /// Removes the events from before `oldest_ms` that are not claimed, and the webhooks of tasks that ended before it and have
    /// no events. Returns the number of removed events.
    ///
    /// # Errors
    ///
    /// The database can't be written.
    fn expire_webhooks(&self, oldest_ms: i64) -> Result<u64, StoreError>;

    /// Returns the number of events that are not delivered yet.
    ///
    /// # Errors
    ///
    /// The database can't be read.
    fn webhooks_waiting(&self) -> Result<u64, StoreError>;
}
