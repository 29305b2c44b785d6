//! Which of several tabs leads, where the browser's own locks cannot decide: a lease in storage
//! that all tabs share, renewed by its holder.
//!
//! Locks may work in one tab and be refused in another (a policy, a private window, an extension),
//! so the holder of the lock keeps a lease as well, and gives way to a tab that leads by lease. And
//! when a person clears the site's data, the browser forgets who has the lock and gives it once
//! more, to the next page that asks: so its holder gives way to another one, too.

use crate::Millis;

/// How long a lease lasts, in milliseconds: several renewals, so that a short stall does not lose it.
pub const LEASE_MS: Millis = 6_000;

/// How often its holder renews it, in milliseconds.
pub const RENEW_MS: u32 = 2_000;

/// How long after [`Renewal::Look`] to look, in milliseconds: long enough for what other tabs wrote
/// to arrive.
pub const LOOK_MS: u32 = 50;

/// The right to lead for a while, as it stands in storage: `{holder} {until}`, and ` locked` where
/// the holder has the browser's lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub holder: String,
    /// When it ends, in ms since 1970.
    pub until: Millis,
    /// Versions that believe in one holder alone give way only to a lease without it.
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

/// Gives the lease that counts for `me`: one that holds for another tab, or its own, or the latest.
pub fn governing(leases: impl IntoIterator<Item = Lease>, me: &str, now: Millis) -> Option<Lease> {
    leases.into_iter().max_by_key(|lease| {
        (
            is_of_another(lease, me, now),
            lease.holder == me,
            lease.until,
        )
    })
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

/// The result of reading the lease from storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Storage cannot be read: it says nothing about other tabs.
    Refused,
    Nothing,
    Lease(Lease),
}

/// The step of a tab at a renewal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewal {
    /// Write the lease, and lead.
    Lead,
    /// Write the lease, and look again at the next renewal: another tab may have written, too.
    Bid,
    /// Leave the lease alone, do not lead, and look again in [`LOOK_MS`]. After a stall, in which
    /// this tab's own lease has ended, it may not have heard yet who has taken over.
    Look,
    /// Leave the lease alone, and do not lead.
    Follow,
}

/// Decides what `me` is to do when it is time to renew. `has_looked` says that this is the look that
/// [`Renewal::Look`] has asked for.
pub fn renewal(claim: Claim, me: &str, found: &Found, has_looked: bool, now: Millis) -> Renewal {
    match (claim, found) {
        (Claim::AwaitsLock, _) => Renewal::Follow,
        // Without storage each tab is on its own.
        (Claim::HasLock | Claim::LeaseOnly, Found::Refused) => Renewal::Lead,
        (Claim::HasLock, Found::Lease(lease)) if is_of_another(lease, me, now) => Renewal::Follow,
        (Claim::HasLock, _) => Renewal::Lead,
        (Claim::LeaseOnly, Found::Nothing) => Renewal::Bid,
        (Claim::LeaseOnly, Found::Lease(lease)) => {
            if is_of_another(lease, me, now) {
                Renewal::Follow
            } else if lease.holder != me {
                Renewal::Bid
            } else if lease.until < now && !has_looked {
                Renewal::Look
            } else {
                // Perhaps it has ended: a tab that bids meanwhile sees at its next look that it did not
                // get it. The timers of a hidden tab are slow.
                Renewal::Lead
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
        (Claim::HasLock, Found::Nothing) => true,
        // Another's may have ended; but then this tab says first that it leads.
        (Claim::HasLock, Found::Lease(lease)) => lease.holder == me,
        (Claim::LeaseOnly, Found::Nothing) => false,
        (Claim::LeaseOnly, Found::Lease(lease)) => lease.holder == me && lease.until >= now,
    }
}

/// Renewals for which a tab that leaves leading to another one waits for that one to lead.
const STAND_BACK_RENEWALS: u32 = 3;

/// Whether a tab that has left leading to another one asks for it again, behind that one, at its next renewal. Where no
/// tab has taken over after some `renewals`, it leads again.
pub fn ends_standing_back(me: &str, found: &Found, renewals: u32, now: Millis) -> bool {
    let has_leader = matches!(found, Found::Lease(lease) if is_of_another(lease, me, now));
    has_leader || renewals >= STAND_BACK_RENEWALS
}

/// Whether `me`, which leads by the lock, has not said so for a while; to be asked whenever it hears
/// of other tabs. The timers of a hidden tab are slow: others would take it for one that is asleep.
pub fn is_overdue(claim: Claim, me: &str, found: &Found, now: Millis) -> bool {
    match found {
        Found::Lease(lease) => claim == Claim::HasLock && lease.holder == me && lease.until < now,
        _ => false,
    }
}

/// After how many looks, each a second after the last one, a leader that gives no sign is asleep.
const ASLEEP_LOOKS: u32 = 6;

/// After how many it is asked for a sign by itself: storage may take no lease of it.
const ASKED_LOOKS: u32 = 3;

/// Judges for a follower that is looked at whether the leading tab works: the browser, or the system, may have
/// stopped that one without taking its lock away.
#[derive(Debug, Default)]
pub struct LeaderWatch {
    /// Looks in a row without a sign of it.
    silent_looks: u32,
}

impl LeaderWatch {
    /// A second has passed, at whose beginning the leader was told so. Whether it is to be asked for a
    /// sign.
    ///
    /// Seconds are counted, not measured: after the machine has slept, every lease has ended long ago.
    pub fn look(&mut self, found: &Found, now: Millis) -> bool {
        let is_silent = matches!(found, Found::Lease(lease) if lease.until < now);
        self.silent_looks = match is_silent {
            true => self.silent_looks.saturating_add(1),
            false => 0,
        };
        self.silent_looks >= ASKED_LOOKS
    }

    /// The leader has said something, or no tab looks any more.
    pub fn reset(&mut self) {
        self.silent_looks = 0;
    }

    pub fn is_asleep(&self) -> bool {
        self.silent_looks >= ASLEEP_LOOKS
    }
}

fn is_of_another(lease: &Lease, me: &str, now: Millis) -> bool {
    lease.holder != me && lease.until >= now && lease.until <= now.saturating_add(LEASE_MS)
}

#[cfg(test)]
mod tests;
