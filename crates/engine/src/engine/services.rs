//! The status of each service, by address: rate limit, batch endpoints, idempotency keys. It applies to all accounts of
//! the service.

use std::collections::HashMap;

use atelier_contract::MAX_BATCH_ITEMS;

use super::CallKind;
use super::reply_limits::ItemLimit;
use crate::Millis;
use crate::limiter::Limiter;

/// How long a 404 of a batch endpoint is trusted, in milliseconds. It may have come from a proxy while the service
/// restarted. Without batches, a thousand tasks need a thousand calls per round.
const WITHOUT_BATCH: Millis = 10 * 60_000;

/// How long submissions wait for the service to report whether it supports idempotency keys, in milliseconds. If the
/// service returns an error because it is starting, it is asked two more times within this time.
const TIMEOUT: Millis = 10_000;

/// Whether a service supports idempotency keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idempotency {
    /// The service is being asked.
    Asked,
    /// The service returned no usable answer.
    Unknown,
    /// The service can't be reached and is asked again. Nothing new is sent until then, because it would become
    /// Unconfirmed.
    Unreachable,
    /// The service does not support keys.
    Unsupported,
    /// The service remembers a key for this many milliseconds.
    For(Millis),
}

impl Idempotency {
    /// Whether the service has answered the question.
    pub fn is_known(self) -> bool {
        matches!(self, Self::Unsupported | Self::For(_))
    }
}

/// The known services, by address.
#[derive(Debug, Default)]
pub(super) struct Services(HashMap<String, Service>);

#[derive(Debug, Default)]
struct Service {
    limiter: Option<Limiter>,
    /// When its batch endpoints were found to be missing.
    without_batch: Option<Millis>,
    /// The maximum number of items in a call, by call kind, after unreadable responses.
    item_limits: [Option<ItemLimit>; CallKind::COUNT],
    /// The current key support, and since when.
    idempotency: Option<(Idempotency, Millis)>,
    /// The service's last answer about key support, possibly an old one.
    last_support: Option<Idempotency>,
    /// Whether the last request for the model list failed. The model list contains the answer about key support.
    is_list_missing: bool,
    /// Whether the service has answered another call since that failure.
    has_answered: bool,
}

impl Services {
    fn known(&mut self, address: &str) -> &mut Service {
        self.0.entry(address.to_owned()).or_default()
    }

    pub fn limiter(&mut self, address: &str, now: Millis) -> &mut Limiter {
        let limiter = &mut self.known(address).limiter;
        limiter.get_or_insert_with(|| Limiter::new(now))
    }

    /// Returns until when the service allows no calls, if it is rate-limited.
    pub fn blocked_until(&self, address: &str, now: Millis) -> Option<Millis> {
        self.0.get(address)?.limiter.as_ref()?.blocked_until(now)
    }

    /// Returns when the next call may be made.
    pub fn next_call(&self, address: &str, now: Millis) -> Millis {
        let limiter = self.0.get(address).and_then(|it| it.limiter.as_ref());
        limiter.map_or(now, |limiter| limiter.next(now))
    }

    /// Records that the service has no batch endpoints.
    pub fn set_without_batch(&mut self, address: &str, now: Millis) {
        self.known(address).without_batch = Some(now);
    }

    /// Returns the maximum number of items in a call.
    pub fn most_items(&self, address: &str, kind: CallKind, now: Millis) -> usize {
        let Some(service) = self.0.get(address) else {
            return MAX_BATCH_ITEMS;
        };
        // `min`: the clock may have been set back.
        match service.without_batch {
            Some(seen) if now - now.min(seen) < WITHOUT_BATCH => 1,
            _ => service.item_limit(kind, now),
        }
    }

    /// Records that the response to a call with this many items could not be read.
    pub fn set_unreadable(&mut self, address: &str, kind: CallKind, asked: usize, now: Millis) {
        let service = self.known(address);
        let before = service.item_limit(kind, now);
        let limit = ItemLimit::below(asked, before, now);
        service.item_limits[kind as usize] = Some(limit);
    }

    /// Removes the limit, because fewer items did not help.
    pub fn lift_item_limit(&mut self, address: &str, kind: CallKind) {
        self.known(address).item_limits[kind as usize] = None;
    }

    /// Raises the limit, because the item with unreadable responses is now polled separately.
    pub fn set_separated(&mut self, address: &str, kind: CallKind, now: Millis) {
        if let Some(limit) = &mut self.known(address).item_limits[kind as usize] {
            *limit = limit.doubled(now);
        }
    }

    /// Records the result of a request for the model list, even if it is unchanged. If the service is reachable and
    /// only its list is unavailable, the last answer stays valid, so that tasks don't wait for a list that may never
    /// arrive.
    pub fn set_idempotency(&mut self, address: &str, support: Idempotency, now: Millis) {
        let service = self.known(address);
        let was_asked = matches!(service.idempotency, Some((Idempotency::Asked, _)));
        let has_answered = std::mem::take(&mut service.has_answered);
        service.is_list_missing = support == Idempotency::Unreachable;
        let is_reachable =
            support == Idempotency::Unknown || (service.is_list_missing && has_answered);
        let current = match support {
            _ if is_reachable => service.last_support.unwrap_or(Idempotency::Unknown),
            support => support,
        };
        if support == current && current == Idempotency::Unknown && was_asked {
            return;
        }
        if support.is_known() {
            service.last_support = Some(support);
        }
        service.idempotency = Some((current, now));
    }

    /// Marks an address as current. A new address is asked about idempotency keys next.
    pub fn expect(&mut self, address: &str, now: Millis) {
        let idempotency = &mut self.known(address).idempotency;
        idempotency.get_or_insert((Idempotency::Asked, now));
    }

    pub fn idempotency(&self, address: &str) -> Idempotency {
        let support = self.0.get(address).and_then(|it| it.idempotency);
        support.map_or(Idempotency::Unknown, |(support, _)| support)
    }

    /// Whether the service is known to support idempotency keys.
    pub fn supports_keys(&self, address: &str) -> bool {
        matches!(self.idempotency(address), Idempotency::For(_))
    }

    /// Whether to send keys: the service supports them, or it did before and is being asked again. Sending a key is
    /// harmless.
    pub fn sends_keys(&self, address: &str) -> bool {
        let service = self.0.get(address);
        let is_known =
            |service: &Service| matches!(service.last_support, Some(Idempotency::For(_)));
        let is_asked = self.idempotency(address) == Idempotency::Asked;
        self.supports_keys(address) || (is_asked && service.is_some_and(is_known))
    }

    pub fn is_unreachable(&self, address: &str) -> bool {
        self.idempotency(address) == Idempotency::Unreachable
    }

    /// Records that the service answered a call. If it was unreachable, it is asked about keys next.
    pub fn answered(&mut self, address: &str, now: Millis) {
        let is_unreachable = self.is_unreachable(address);
        let service = self.known(address);
        service.has_answered = service.is_list_missing;
        if is_unreachable {
            service.idempotency = Some((Idempotency::Asked, now));
        }
    }

    /// Returns the time from which new submissions may be sent. They wait up to [`TIMEOUT`] while key support is
    /// unknown. `None` while the service can't be reached.
    pub fn submissions_from(&self, address: &str, now: Millis) -> Option<Millis> {
        match self.0.get(address).and_then(|it| it.idempotency) {
            Some((Idempotency::Unreachable, _)) => None,
            Some((Idempotency::Asked, since)) => Some(now.max(since.min(now) + TIMEOUT)),
            _ => Some(now),
        }
    }

    /// Moves the waits back after the clock was set back.
    pub fn shift_back(&mut self, back: Millis) {
        let limiters = self.0.values_mut().filter_map(|it| it.limiter.as_mut());
        limiters.for_each(|limiter| limiter.shift_back(back));
    }
}

impl Service {
    fn item_limit(&self, kind: CallKind, now: Millis) -> usize {
        let limit = self.item_limits[kind as usize];
        limit.map_or(MAX_BATCH_ITEMS, |limit| limit.at(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: &str = "https://here.example";
    const THERE: &str = "https://there.example";

    #[test]
    fn services_are_independent() {
        let mut services = Services::default();
        services.limiter(HERE, 0).block(0, 9_000);
        services.set_without_batch(HERE, 0);
        services.set_idempotency(HERE, Idempotency::For(60_000), 0);
        assert_eq!(services.blocked_until(HERE, 0), Some(9_000));
        assert_eq!(services.most_items(HERE, CallKind::Status, 0), 1);
        assert!(services.supports_keys(HERE));
        assert_eq!(services.blocked_until(THERE, 0), None);
        assert_eq!(services.next_call(THERE, 7), 7);
        assert_eq!(
            services.most_items(THERE, CallKind::Status, 0),
            MAX_BATCH_ITEMS
        );
        assert_eq!(services.idempotency(THERE), Idempotency::Unknown);
    }

    #[test]
    fn missing_batch_endpoints_are_retried_after_a_while() {
        let mut services = Services::default();
        services.set_without_batch(HERE, 1_000);
        assert_eq!(
            services.most_items(HERE, CallKind::Status, 1_000 + WITHOUT_BATCH - 1),
            1
        );
        let after = services.most_items(HERE, CallKind::Status, 1_000 + WITHOUT_BATCH);
        assert_eq!(after, MAX_BATCH_ITEMS);
        assert_eq!(
            services.most_items(HERE, CallKind::Status, 0),
            1,
            "the clock was set back"
        );
    }

    #[test]
    fn submissions_wait_a_limited_time_for_key_support() {
        let mut services = Services::default();
        assert_eq!(services.submissions_from(HERE, 1_000), Some(1_000));
        services.set_idempotency(HERE, Idempotency::Asked, 1_000);
        assert_eq!(
            services.submissions_from(HERE, 2_000),
            Some(1_000 + TIMEOUT)
        );
        assert_eq!(services.submissions_from(HERE, 19_000), Some(19_000));
        services.set_idempotency(HERE, Idempotency::Unsupported, 2_000);
        assert_eq!(services.submissions_from(HERE, 2_000), Some(2_000));
    }

    /// A task that is sent without a key while the service is starting may be lost.
    #[test]
    fn submissions_wait_a_limited_time_if_the_model_list_fails() {
        let mut services = Services::default();
        services.set_idempotency(HERE, Idempotency::Asked, 1_000);
        for at in [2_000, 7_000] {
            services.set_idempotency(HERE, Idempotency::Unknown, at);
            let from = services.submissions_from(HERE, at);
            assert_eq!(from, Some(1_000 + TIMEOUT));
        }
        assert_eq!(services.submissions_from(HERE, 90_000), Some(90_000));
        services.set_idempotency(HERE, Idempotency::For(60_000), 7_500);
        assert_eq!(services.submissions_from(HERE, 7_500), Some(7_500));
        services.set_idempotency(HERE, Idempotency::Asked, 8_000);
        services.set_idempotency(HERE, Idempotency::Unknown, 8_100);
        assert!(services.sends_keys(HERE), "its last answer stays valid");
    }

    #[test]
    fn submissions_wait_until_an_unreachable_service_answers() {
        let mut services = Services::default();
        services.set_idempotency(HERE, Idempotency::Unreachable, 1_000);
        assert_eq!(services.submissions_from(HERE, 900_000), None);
        assert_eq!(services.submissions_from(THERE, 1_000), Some(1_000));
        services.answered(HERE, 900_000);
        assert_eq!(
            services.submissions_from(HERE, 900_000),
            Some(900_000 + TIMEOUT),
            "waits for its answer about keys"
        );
        services.set_idempotency(HERE, Idempotency::For(60_000), 900_100);
        services.answered(HERE, 900_200);
        assert!(
            services.supports_keys(HERE),
            "another answer does not reset it"
        );
    }

    /// Tasks must not wait forever for a model list. The last known key support stays valid, and one answer does not
    /// make a service reachable forever.
    #[test]
    fn a_missing_model_list_does_not_block_a_service_that_answers() {
        for (before, holds) in [
            (None, Idempotency::Unknown),
            (Some(Idempotency::For(60_000)), Idempotency::For(60_000)),
            (Some(Idempotency::Unsupported), Idempotency::Unsupported),
        ] {
            let mut services = Services::default();
            if let Some(before) = before {
                services.set_idempotency(HERE, before, 0);
                services.answered(HERE, 1);
            }
            services.set_idempotency(HERE, Idempotency::Unreachable, 2);
            assert!(
                services.is_unreachable(HERE),
                "an earlier answer does not count"
            );
            services.answered(HERE, 3);
            assert_eq!(services.idempotency(HERE), Idempotency::Asked);
            for at in [4, 5, 6] {
                services.set_idempotency(HERE, Idempotency::Unreachable, at);
                assert_eq!(services.idempotency(HERE), holds);
                assert_eq!(services.submissions_from(HERE, at), Some(at));
                services.answered(HERE, at);
            }
            services.set_idempotency(HERE, Idempotency::Unreachable, 7);
            services.set_idempotency(HERE, Idempotency::Unreachable, 8);
            assert!(services.is_unreachable(HERE), "it no longer answers");
            services.set_idempotency(HERE, Idempotency::Unknown, 9);
            assert_eq!(services.idempotency(HERE), holds, "it answers again");
        }
    }

    #[test]
    fn a_wait_keeps_its_length_when_the_clock_is_set_back() {
        let mut services = Services::default();
        services.limiter(HERE, 10_000).block(10_000, 15_000);
        services.shift_back(9_000);
        assert_eq!(services.blocked_until(HERE, 1_000), Some(6_000));
    }
}
