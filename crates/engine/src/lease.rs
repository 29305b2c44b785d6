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
                // Perhaps it has ended: whoever bids meanwhile sees at its next look that it did not
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

    /// The leader has said something, or nobody looks any more.
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
        assert_eq!(
            renewal(Claim::HasLock, "a", &other, false, 900),
            Renewal::Follow
        );
        assert!(!may_go_on(Claim::HasLock, "a", &other, 900));
        assert_eq!(
            renewal(Claim::HasLock, "a", &other, false, 1_001),
            Renewal::Lead
        );
    }

    /// Guards against two tabs that both have the lock: once a person has cleared the site's data,
    /// the browser gives it once more, and both sent what was queued.
    #[test]
    fn the_holder_of_the_lock_gives_way_to_another_holder() {
        let other = lease("b", 1_000, true);
        for claim in [Claim::HasLock, Claim::LeaseOnly] {
            assert_eq!(renewal(claim, "a", &other, false, 900), Renewal::Follow);
            assert!(!may_go_on(claim, "a", &other, 900));
        }
        // The lease is gone.
        assert_eq!(
            renewal(Claim::HasLock, "a", &other, false, 1_001),
            Renewal::Lead
        );
    }

    /// Guards against a tab that sees its own lease in one place and not that another tab, for which
    /// that place was full, has one in the other.
    #[test]
    fn of_several_leases_that_of_another_counts_as_long_as_it_holds() {
        let lease = |holder: &str, until| Lease {
            holder: holder.into(),
            until,
            locked: false,
        };
        let both = || [lease("a", 1_500), lease("b", 1_000)];
        let holder = |now| governing(both(), "a", now).map(|lease| lease.holder);
        assert_eq!(holder(1_000).as_deref(), Some("b"));
        assert_eq!(holder(1_001).as_deref(), Some("a"));
        // It ends later than any could, from before the clock was set back, and can't be written over.
        let odd = governing([lease("b", 100_000), lease("a", 1_500)], "a", 1_000);
        assert_eq!(odd.map(|lease| lease.holder).as_deref(), Some("a"));
        assert_eq!(governing([], "a", 1_000), None);
    }

    /// Guards against a clock that was set back, after which nobody would lead for hours.
    #[test]
    fn a_lease_that_ends_later_than_any_could_is_not_believed() {
        let odd = lease("b", 100_000, false);
        assert_eq!(
            renewal(Claim::LeaseOnly, "a", &odd, false, 1_000),
            Renewal::Bid
        );
    }

    /// Guards against a tab that was stalled, read what it had written itself, and led: another one
    /// had taken over meanwhile, and both sent what was queued.
    #[test]
    fn a_tab_whose_lease_has_ended_looks_before_it_leads() {
        let own = lease("a", 1_000, false);
        let at = |has_looked, now| renewal(Claim::LeaseOnly, "a", &own, has_looked, now);
        assert_eq!(at(false, 1_000), Renewal::Lead);
        assert_eq!(at(false, 1_001), Renewal::Look);
        assert_eq!(at(true, 1_001), Renewal::Lead);
    }

    #[test]
    fn a_leader_whose_timers_are_slow_says_that_it_leads_when_it_is_spoken_to() {
        let own = lease("a", 1_000, true);
        let is_overdue = |claim, me, now| is_overdue(claim, me, &own, now);
        assert!(is_overdue(Claim::HasLock, "a", 1_001));
        assert!(!is_overdue(Claim::HasLock, "a", 1_000));
        assert!(!is_overdue(Claim::HasLock, "b", 1_001), "of another");
        // It looks before it goes on: another may have taken over.
        assert!(!is_overdue(Claim::LeaseOnly, "a", 1_001));
    }

    /// Guards against `Sending the request.` for ever, while the tab that was to send it is frozen.
    #[test]
    fn a_leader_that_gives_no_sign_is_asleep() {
        let mut watch = LeaderWatch::default();
        let ended = lease("b", 1_000, true);
        let asked: Vec<bool> = (0..5).map(|_| watch.look(&ended, 9_000)).collect();
        assert_eq!(asked, [false, false, true, true, true]);
        assert!(!watch.is_asleep());
        watch.look(&ended, 9_000);
        assert!(watch.is_asleep());
        // The tab wakes up.
        assert!(!watch.look(&lease("b", 15_000, true), 9_001));
        assert!(!watch.is_asleep());
    }

    /// Guards against words about a tab that is asleep where it only is hidden, or there is none.
    #[test]
    fn a_leader_that_answers_or_is_none_is_not_asleep() {
        let ended = lease("b", 1_000, true);
        for sign in [Found::Nothing, Found::Refused, lease("b", 9_000, false)] {
            let mut watch = LeaderWatch::default();
            for _ in 0..9 {
                watch.look(&ended, 9_000);
            }
            watch.look(&sign, 9_000);
            assert!(!watch.is_asleep(), "{sign:?}");
        }
        let mut watch = LeaderWatch::default();
        for _ in 0..99 {
            if watch.look(&ended, 9_000) {
                watch.reset();
            }
            assert!(!watch.is_asleep());
        }
    }

    proptest! {
        /// Tabs that share a lease, with or without the lock, stalled at any time: never two lead.
        #[test]
        fn never_two_lead(
            has_lock in any::<[bool; 3]>(),
            turns in prop::collection::vec((0usize..3, 0u64..9_000, any::<bool>(), any::<bool>()), 0..80),
        ) {
            let names = ["a", "b", "c"];
            let claim = |tab: usize| match has_lock[tab] {
                true => Claim::HasLock,
                false => Claim::LeaseOnly,
            };
            let mut found = Found::Nothing;
            let mut leads = [false; 3];
            let mut bid_at = [None::<Millis>; 3];
            let mut now = 0;
            // What each has last read; and whether it is to look once more.
            let mut known = [const { Found::Nothing }; 3];
            let mut looks = [false; 3];
            for (tab, wait, clears, is_stalled) in turns {
                now += wait;
                // Right after a stall a tab sees its own lease, whatever others have written since.
                let is_own = |found: &Found| matches!(found, Found::Lease(lease) if lease.holder == names[tab]);
                if is_stalled && !has_lock[tab] && !looks[tab] && is_own(&known[tab]) {
                    let decision = renewal(Claim::LeaseOnly, names[tab], &known[tab], false, now);
                    looks[tab] = decision == Renewal::Look;
                    if looks[tab] {
                        leads[tab] = false;
                        bid_at[tab] = None;
                        continue;
                    }
                }
                // A renewal comes no sooner than the interval after the last one.
                if bid_at[tab].is_some_and(|at| now < at + Millis::from(RENEW_MS)) {
                    continue;
                }
                if clears && wait < 100 {
                    found = Found::Nothing;
                }
                bid_at[tab] = Some(now);
                let has_looked = std::mem::take(&mut looks[tab]);
                let decision = renewal(claim(tab), names[tab], &found, has_looked, now);
                leads[tab] = decision == Renewal::Lead;
                looks[tab] = decision == Renewal::Look;
                if looks[tab] {
                    bid_at[tab] = None;
                }
                if matches!(decision, Renewal::Lead | Renewal::Bid) {
                    found = lease(names[tab], now + LEASE_MS, claim(tab) == Claim::HasLock);
                }
                known[tab] = found.clone();
                let going_on = (0..3)
                    .filter(|tab| leads[*tab] && may_go_on(claim(*tab), names[*tab], &found, now));
                prop_assert!(going_on.count() <= 1);
            }
        }
    }
}
