//! Leader election without the Web Locks API: a lease in storage that all tabs share, renewed by its holder.
//!
//! Locks may work in one tab and be refused in another, because of a policy, a private window or an extension. So the
//! holder of the lock also writes a lease, and follows a tab that leads by lease. When the user clears the site's data,
//! the browser grants the lock a second time, to the next page that requests it. Then the first holder follows the
//! second.

use crate::Millis;

/// The duration of a lease in milliseconds. It spans several renewals, so that a short stall does not lose the lease.
pub const LEASE_MS: Millis = 6_000;

/// The interval at which the holder renews its lease, in milliseconds.
pub const RENEW_MS: u32 = 2_000;

/// The time after [`Renewal::Recheck`] until the lease is read again, in milliseconds. The writes of other tabs arrive
/// within this time.
pub const RECHECK_MS: u32 = 50;

/// The right to lead for some time. Its stored form is `{holder} {until}`, with ` locked` if the holder has the
/// browser's lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub holder: String,
    /// When the lease ends, in ms since 1970-01-01 UTC.
    pub until: Millis,
    /// Whether the holder has the lock. Old releases follow only a lease without it.
    pub locked: bool,
}

impl Lease {
    /// Parses the stored form; `None` if it is invalid.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(' ');
        Some(Self {
            holder: parts.next()?.to_owned(),
            until: parts.next()?.parse().ok()?,
            locked: parts.next() == Some("locked"),
        })
    }

    /// Returns the stored form.
    pub fn to_text(&self) -> String {
        let locked = if self.locked { " locked" } else { "" };
        format!("{} {}{locked}", self.holder, self.until)
    }
}

/// The way in which a tab tries to become the leader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeadershipClaim {
    /// The tab waits for the browser's lock, which another tab may hold.
    AwaitsLock,
    /// The tab holds the browser's lock.
    HasLock,
    /// The browser offers no locks: the lease alone decides.
    LeaseOnly,
}

/// The result of reading the lease from storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredLease {
    /// Storage can't be read, so other tabs are unknown.
    Unreadable,
    Missing,
    Lease(Lease),
}

/// The action of a tab at a renewal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewal {
    /// Write the lease, and lead.
    Lead,
    /// Write the lease without leading, and read it again at the next renewal, because another tab may have written a
    /// lease, too.
    Bid,
    /// Don't write, don't lead, and read the lease again in [`RECHECK_MS`]. After a stall in which its lease expired,
    /// this tab may not see yet that another tab has taken over.
    Recheck,
    /// Don't write, and don't lead.
    Follow,
}

/// Decides what the tab `me` does when its renewal is due. `has_looked`: whether the lease was read again after
/// [`Renewal::Recheck`].
pub fn renewal(
    claim: LeadershipClaim,
    me: &str,
    found: &StoredLease,
    has_looked: bool,
    now: Millis,
) -> Renewal {
    match (claim, found) {
        (LeadershipClaim::AwaitsLock, _) => Renewal::Follow,
        // Without storage, tabs can't see each other.
        (LeadershipClaim::HasLock | LeadershipClaim::LeaseOnly, StoredLease::Unreadable) => {
            Renewal::Lead
        }
        (LeadershipClaim::HasLock, StoredLease::Lease(lease)) if is_of_another(lease, me, now) => {
            Renewal::Follow
        }
        (LeadershipClaim::HasLock, _) => Renewal::Lead,
        (LeadershipClaim::LeaseOnly, StoredLease::Missing) => Renewal::Bid,
        (LeadershipClaim::LeaseOnly, StoredLease::Lease(lease)) => {
            if is_of_another(lease, me, now) {
                Renewal::Follow
            } else if lease.holder != me {
                Renewal::Bid
            } else if lease.until < now && !has_looked {
                Renewal::Recheck
            } else {
                // The lease may have expired because timers of a hidden tab are slow. A tab that bids in the meantime
                // sees at its next read that it did not get the lease.
                Renewal::Lead
            }
        }
    }
}

/// Whether `me`, the leader, still leads. Must be checked before each call, because another tab may have taken over
/// during a stall, and both would send the queued tasks.
pub fn still_leads(claim: LeadershipClaim, me: &str, found: &StoredLease, now: Millis) -> bool {
    match (claim, found) {
        (LeadershipClaim::AwaitsLock, _) => false,
        (_, StoredLease::Unreadable) => true,
        (LeadershipClaim::HasLock, StoredLease::Missing) => true,
        // If another tab's lease has expired, this tab must write its own lease before it leads.
        (LeadershipClaim::HasLock, StoredLease::Lease(lease)) => lease.holder == me,
        (LeadershipClaim::LeaseOnly, StoredLease::Missing) => false,
        (LeadershipClaim::LeaseOnly, StoredLease::Lease(lease)) => {
            lease.holder == me && lease.until >= now
        }
    }
}

/// The number of renewals for which a tab that has handed over its leadership waits for the other tab to lead.
const HANDOVER_RENEWALS: u32 = 3;

/// Whether a handover has ended, so that the tab `me`, which has handed over its leadership, may claim it again:
/// another tab leads now, or no tab has taken over within [`HANDOVER_RENEWALS`] renewals.
pub fn ends_handover(me: &str, found: &StoredLease, renewals: u32, now: Millis) -> bool {
    let has_leader = matches!(found, StoredLease::Lease(lease) if is_of_another(lease, me, now));
    has_leader || renewals >= HANDOVER_RENEWALS
}

/// Whether `me`, which leads by the lock, has let its lease expire. This is checked for each message from another tab,
/// because timers of a hidden tab are slow, and other tabs would consider the leader asleep.
pub fn is_overdue(claim: LeadershipClaim, me: &str, found: &StoredLease, now: Millis) -> bool {
    match found {
        StoredLease::Lease(lease) => {
            claim == LeadershipClaim::HasLock && lease.holder == me && lease.until < now
        }
        _ => false,
    }
}

/// The number of checks without an answer, one second apart, after which the leader counts as asleep.
const ASLEEP_CHECKS: u32 = 6;

/// The number of checks after which the leader is asked for an answer, because storage may reject its lease.
const ASK_CHECKS: u32 = 3;

/// Detects for a visible follower whether the leader is asleep: the browser or the system may have frozen the leader
/// without taking its lock.
#[derive(Debug, Default)]
pub struct LeaderWatch {
    /// Consecutive checks without an answer.
    silent_checks: u32,
}

impl LeaderWatch {
    /// Checks the lease one second after the leader was notified that a tab is visible. Returns whether to ask the
    /// leader for an answer.
    ///
    /// Counts checks instead of measuring time, because all leases have expired after the machine has slept.
    pub fn check(&mut self, found: &StoredLease, now: Millis) -> bool {
        let is_silent = matches!(found, StoredLease::Lease(lease) if lease.until < now);
        self.silent_checks = match is_silent {
            true => self.silent_checks.saturating_add(1),
            false => 0,
        };
        self.silent_checks >= ASK_CHECKS
    }

    /// Resets the count, because the leader has answered or no tab is visible.
    pub fn reset(&mut self) {
        self.silent_checks = 0;
    }

    /// Whether the leader counts as asleep.
    pub fn is_asleep(&self) -> bool {
        self.silent_checks >= ASLEEP_CHECKS
    }
}

fn is_of_another(lease: &Lease, me: &str, now: Millis) -> bool {
    lease.holder != me && lease.until >= now && lease.until <= now.saturating_add(LEASE_MS)
}

#[cfg(test)]
mod tests;
