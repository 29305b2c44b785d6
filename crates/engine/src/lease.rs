//! Which of several tabs leads, where the browser's own locks cannot decide: a lease in storage
//! that all tabs share, renewed by its holder.
//!
//! Locks may work in one tab and be refused in another (a policy, a private window, an extension),
//! so the holder of the lock keeps a lease as well, and gives way to a tab that leads by lease.

use crate::Millis;

/// How long a lease lasts: several renewals, so that a short stall does not lose it.
pub const LEASE_MS: Millis = 6_000;

/// How often its holder renews it.
pub const RENEW_MS: u32 = 2_000;

/// The right to lead for a while, as it stands in storage: `{holder} {until}`, and ` locked` where
/// the holder has the browser's lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub holder: String,
    pub until: Millis,
    pub locked: bool,
}

impl Lease {
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(' ');
        Some(Self {
            holder: parts.next()?.to_owned(),
            until: parts.next()?.parse().ok()?,
            locked: parts.next() == Some("locked"),
        })
    }

    pub fn to_text(&self) -> String {
        let locked = if self.locked { " locked" } else { "" };
        format!("{} {}{locked}", self.holder, self.until)
    }
}

/// How a tab tries to lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// It waits for the browser's lock, which another tab may hold.
    AwaitsLock,
    /// It holds the browser's lock.
    HasLock,
    /// The browser gives no locks: the lease alone decides.
    LeaseOnly,
}

/// What storage says of the lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Storage cannot be read: it says nothing about other tabs.
    Refused,
    Nothing,
    Lease(Lease),
}

/// What a tab is to do at a renewal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewal {
    /// Write the lease, and lead.
    Lead,
    /// Write the lease, and look again at the next renewal: another tab may have written, too.
    Bid,
    /// Leave the lease alone, and do not lead.
    Follow,
}

/// What `me` is to do when it is time to renew.
pub fn renewal(claim: Claim, me: &str, found: &Found, now: Millis) -> Renewal {
    match (claim, found) {
        (Claim::AwaitsLock, _) => Renewal::Follow,
        // Without storage each tab is on its own.
        (Claim::HasLock | Claim::LeaseOnly, Found::Refused) => Renewal::Lead,
        (Claim::HasLock, Found::Lease(lease)) if is_of_another(lease, me, now) && !lease.locked => {
            Renewal::Follow
        }
        (Claim::HasLock, _) => Renewal::Lead,
        (Claim::LeaseOnly, Found::Nothing) => Renewal::Bid,
        (Claim::LeaseOnly, Found::Lease(lease)) => {
            if is_of_another(lease, me, now) {
                Renewal::Follow
            } else if lease.holder == me {
                // Though it has ended: whoever bids meanwhile sees at its next look that it did not
                // get it. The timers of a hidden tab are slow.
                Renewal::Lead
            } else {
                Renewal::Bid
            }
        }
    }
}

/// Whether `me`, which leads, may go on; to be asked before each call, because after a stall another
/// tab may have taken over, and two that lead would both send what is queued.
pub fn may_go_on(claim: Claim, me: &str, found: &Found, now: Millis) -> bool {
    match (claim, found) {
        (Claim::AwaitsLock, _) => false,
        (_, Found::Refused) => true,
        (Claim::HasLock, found) => renewal(Claim::HasLock, me, found, now) == Renewal::Lead,
        (Claim::LeaseOnly, Found::Nothing) => false,
        (Claim::LeaseOnly, Found::Lease(lease)) => lease.holder == me && lease.until >= now,
    }
}

fn is_of_another(lease: &Lease, me: &str, now: Millis) -> bool {
    lease.holder != me && lease.until >= now && lease.until <= now.saturating_add(LEASE_MS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lease(holder: &str, until: Millis, locked: bool) -> Found {
        Found::Lease(Lease {
            holder: holder.into(),
            until,
            locked,
        })
    }

    #[test]
    fn a_lease_is_read_as_it_was_written_also_by_earlier_versions() {
        for locked in [true, false] {
            let Found::Lease(lease) = lease("a", 7, locked) else {
                unreachable!()
            };
            assert_eq!(Lease::parse(&lease.to_text()), Some(lease));
        }
        assert_eq!(Lease::parse("a 7").map(|lease| lease.locked), Some(false));
        assert_eq!(Lease::parse("a"), None);
        assert_eq!(Lease::parse(""), None);
    }

    /// Guards against a tab with the lock that leads beside one that has a lease because it was
    /// refused the lock.
    #[test]
    fn the_holder_of_the_lock_gives_way_to_a_lease_without_lock() {
        let other = lease("b", 1_000, false);
        assert_eq!(renewal(Claim::HasLock, "a", &other, 900), Renewal::Follow);
        assert!(!may_go_on(Claim::HasLock, "a", &other, 900));
        assert_eq!(renewal(Claim::HasLock, "a", &other, 1_001), Renewal::Lead);
        // The lock that this lease speaks of is ours now: its holder is gone.
        let before = lease("b", 1_000, true);
        assert_eq!(renewal(Claim::HasLock, "a", &before, 900), Renewal::Lead);
        assert_eq!(
            renewal(Claim::LeaseOnly, "a", &before, 900),
            Renewal::Follow
        );
    }

    /// Guards against a clock that was set back, after which nobody would lead for hours.
    #[test]
    fn a_lease_that_ends_later_than_any_could_is_not_believed() {
        let odd = lease("b", 100_000, false);
        assert_eq!(renewal(Claim::LeaseOnly, "a", &odd, 1_000), Renewal::Bid);
    }

    proptest! {
        /// Tabs that share a lease, with or without the lock, stalled at any time: never two lead.
        #[test]
        fn never_two_lead(
            has_lock in prop::option::of(0usize..3),
            turns in prop::collection::vec((0usize..3, 0u64..9_000, any::<bool>()), 0..80),
        ) {
            let names = ["a", "b", "c"];
            let claim = |tab| match has_lock {
                Some(lock) if lock == tab => Claim::HasLock,
                _ => Claim::LeaseOnly,
            };
            let mut found = Found::Nothing;
            let mut leads = [false; 3];
            let mut bid_at = [None::<Millis>; 3];
            let mut now = 0;
            for (tab, wait, clears) in turns {
                now += wait;
                // A renewal comes no sooner than the interval after the last one.
                if bid_at[tab].is_some_and(|at| now < at + Millis::from(RENEW_MS)) {
                    continue;
                }
                if clears && wait < 100 {
                    found = Found::Nothing;
                }
                bid_at[tab] = Some(now);
                let decision = renewal(claim(tab), names[tab], &found, now);
                leads[tab] = decision == Renewal::Lead;
                if decision != Renewal::Follow {
                    found = lease(names[tab], now + LEASE_MS, claim(tab) == Claim::HasLock);
                }
                let going_on = (0..3)
                    .filter(|tab| leads[*tab] && may_go_on(claim(*tab), names[*tab], &found, now));
                prop_assert!(going_on.count() <= 1);
            }
        }
    }
}
