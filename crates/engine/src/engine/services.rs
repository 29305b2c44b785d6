//! What is known of services, by their addresses: how many calls they allow, whether they have batch
//! endpoints, and what they say of idempotency keys. A service means all of its accounts.

use std::collections::HashMap;

use atelier_contract::MAX_BATCH_ITEMS;

use crate::Millis;
use crate::limiter::Limiter;

/// How long a 404 of a batch endpoint is believed: it may have come from a proxy while the service
/// was restarting, and a thousand single calls a round for the rest of the day would be its price.
const WITHOUT_BATCH: Millis = 10 * 60_000;

/// How long submissions wait for the service to say whether it honours keys.
const TIMEOUT: Millis = 5_000;

/// What a service says of idempotency keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idempotency {
    /// It is being asked.
    Asked,
    /// It can't be asked at present.
    Unknown,
    /// It says nothing of them.
    Unsupported,
    /// It honours a key for so many milliseconds.
    For(Millis),
}

#[derive(Debug, Default)]
pub(super) struct Services(HashMap<String, Service>);

#[derive(Debug, Default)]
struct Service {
    limiter: Option<Limiter>,
    /// When it was seen to have no batch endpoints.
    without_batch: Option<Millis>,
    /// What it says of idempotency keys, and since when.
    idempotency: Option<(Idempotency, Millis)>,
}

impl Services {
    fn known(&mut self, address: &str) -> &mut Service {
        self.0.entry(address.to_owned()).or_default()
    }

    pub fn limiter(&mut self, address: &str, now: Millis) -> &mut Limiter {
        let limiter = &mut self.known(address).limiter;
        limiter.get_or_insert_with(|| Limiter::new(now))
    }

    /// Until when the service wants no calls, if that is so.
    pub fn blocked_until(&self, address: &str, now: Millis) -> Option<Millis> {
        self.0.get(address)?.limiter.as_ref()?.blocked_until(now)
    }

    /// When the next call may be made.
    pub fn next_call(&self, address: &str, now: Millis) -> Millis {
        let limiter = self.0.get(address).and_then(|it| it.limiter.as_ref());
        limiter.map_or(now, |limiter| limiter.next(now))
    }

    /// It was seen to have no batch endpoints.
    pub fn set_without_batch(&mut self, address: &str, now: Millis) {
        self.known(address).without_batch = Some(now);
    }

    /// Items in a call.
    pub fn most_items(&self, address: &str, now: Millis) -> usize {
        let seen = self.0.get(address).and_then(|it| it.without_batch);
        // `min`: the clock may have been set back.
        match seen {
            Some(seen) if now - now.min(seen) < WITHOUT_BATCH => 1,
            _ => MAX_BATCH_ITEMS,
        }
    }

    pub fn set_idempotency(&mut self, address: &str, said: Idempotency, now: Millis) {
        self.known(address).idempotency = Some((said, now));
    }

    pub fn idempotency(&self, address: &str) -> Idempotency {
        let said = self.0.get(address).and_then(|it| it.idempotency);
        said.map_or(Idempotency::Unknown, |(said, _)| said)
    }

    pub fn honours_keys(&self, address: &str) -> bool {
        matches!(self.idempotency(address), Idempotency::For(_))
    }

    /// From when on new submissions may leave: where nobody knows yet whether the service honours
    /// keys, they wait a little.
    pub fn submissions_from(&self, address: &str, now: Millis) -> Millis {
        match self.0.get(address).and_then(|it| it.idempotency) {
            Some((Idempotency::Asked, since)) => now.max(since.min(now) + TIMEOUT),
            _ => now,
        }
    }

    /// The clock was set back.
    pub fn shift_back(&mut self, back: Millis) {
        let limiters = self.0.values_mut().filter_map(|it| it.limiter.as_mut());
        limiters.for_each(|limiter| limiter.shift_back(back));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: &str = "https://here.example";
    const THERE: &str = "https://there.example";

    #[test]
    fn one_service_says_nothing_of_another() {
        let mut services = Services::default();
        services.limiter(HERE, 0).block(0, 9_000);
        services.set_without_batch(HERE, 0);
        services.set_idempotency(HERE, Idempotency::For(60_000), 0);
        assert_eq!(services.blocked_until(HERE, 0), Some(9_000));
        assert_eq!(services.most_items(HERE, 0), 1);
        assert!(services.honours_keys(HERE));
        assert_eq!(services.blocked_until(THERE, 0), None);
        assert_eq!(services.next_call(THERE, 7), 7);
        assert_eq!(services.most_items(THERE, 0), MAX_BATCH_ITEMS);
        assert_eq!(services.idempotency(THERE), Idempotency::Unknown);
    }

    #[test]
    fn a_missing_batch_endpoint_is_believed_for_a_while() {
        let mut services = Services::default();
        services.set_without_batch(HERE, 1_000);
        assert_eq!(services.most_items(HERE, 1_000 + WITHOUT_BATCH - 1), 1);
        let after = services.most_items(HERE, 1_000 + WITHOUT_BATCH);
        assert_eq!(after, MAX_BATCH_ITEMS);
        assert_eq!(services.most_items(HERE, 0), 1, "the clock was set back");
    }

    #[test]
    fn submissions_wait_for_word_of_keys_but_not_for_ever() {
        let mut services = Services::default();
        assert_eq!(services.submissions_from(HERE, 1_000), 1_000);
        services.set_idempotency(HERE, Idempotency::Asked, 1_000);
        assert_eq!(services.submissions_from(HERE, 2_000), 1_000 + TIMEOUT);
        assert_eq!(services.submissions_from(HERE, 9_000), 9_000);
        services.set_idempotency(HERE, Idempotency::Unsupported, 2_000);
        assert_eq!(services.submissions_from(HERE, 2_000), 2_000);
    }

    #[test]
    fn a_wait_stays_as_long_when_the_clock_is_set_back() {
        let mut services = Services::default();
        services.limiter(HERE, 10_000).block(10_000, 15_000);
        services.shift_back(9_000);
        assert_eq!(services.blocked_until(HERE, 1_000), Some(6_000));
    }
}
