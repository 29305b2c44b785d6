use super::*;
use proptest::prelude::*;

fn lease(holder: &str, until: Millis, locked: bool) -> StoredLease {
    StoredLease::Lease(Lease {
        holder: holder.into(),
        until,
        locked,
    })
}

#[test]
fn parses_leases_of_all_releases() {
    for locked in [true, false] {
        let StoredLease::Lease(lease) = lease("a", 7, locked) else {
            unreachable!()
        };
        assert_eq!(Lease::parse(&lease.to_text()), Some(lease));
    }
    assert_eq!(Lease::parse("a 7").map(|lease| lease.locked), Some(false));
    assert_eq!(Lease::parse("a"), None);
    assert_eq!(Lease::parse(""), None);
}

/// Guards against two leaders: one with the lock, and one with a lease because the browser has refused the lock.
#[test]
fn the_lock_holder_follows_a_lease_without_lock() {
    let other = lease("b", 1_000, false);
    assert_eq!(
        renewal(LeadershipClaim::HasLock, "a", &other, false, 900),
        Renewal::Follow
    );
    assert!(!still_leads(LeadershipClaim::HasLock, "a", &other, 900));
    assert_eq!(
        renewal(LeadershipClaim::HasLock, "a", &other, false, 1_001),
        Renewal::Lead
    );
}

/// After the user has cleared the site's data, the browser grants the lock again. Both tabs would send the queued
/// tasks.
#[test]
fn the_lock_holder_follows_another_lock_holder() {
    let other = lease("b", 1_000, true);
    for claim in [LeadershipClaim::HasLock, LeadershipClaim::LeaseOnly] {
        assert_eq!(renewal(claim, "a", &other, false, 900), Renewal::Follow);
        assert!(!still_leads(claim, "a", &other, 900));
    }
    // The lease has expired.
    assert_eq!(
        renewal(LeadershipClaim::HasLock, "a", &other, false, 1_001),
        Renewal::Lead
    );
}

/// After the clock is set back, there must not be hours without a leader.
#[test]
fn ignores_leases_that_end_too_late() {
    let odd = lease("b", 100_000, false);
    assert_eq!(
        renewal(LeadershipClaim::LeaseOnly, "a", &odd, false, 1_000),
        Renewal::Bid
    );
}

/// After a stall, a tab may read its own lease although another tab has taken over.
#[test]
fn a_tab_with_an_expired_lease_checks_before_it_leads() {
    let own = lease("a", 1_000, false);
    let at = |has_looked, now| renewal(LeadershipClaim::LeaseOnly, "a", &own, has_looked, now);
    assert_eq!(at(false, 1_000), Renewal::Lead);
    assert_eq!(at(false, 1_001), Renewal::Recheck);
    assert_eq!(at(true, 1_001), Renewal::Lead);
}

/// A handover must end even if the tab that should take over has been closed.
#[test]
fn a_handover_ends_when_another_tab_leads_or_after_some_renewals() {
    let ends = |found: &StoredLease, renewals| ends_handover("a", found, renewals, 900);
    assert!(!ends(&StoredLease::Missing, 1));
    assert!(!ends(&lease("b", 899, true), 1), "an expired lease");
    assert!(ends(&lease("b", 1_000, true), 1));
    assert!(ends(&StoredLease::Missing, HANDOVER_RENEWALS));
    assert!(ends(&StoredLease::Unreadable, HANDOVER_RENEWALS));
}

#[test]
fn a_lock_holder_with_an_expired_lease_is_overdue() {
    let own = lease("a", 1_000, true);
    let is_overdue = |claim, me, now| is_overdue(claim, me, &own, now);
    assert!(is_overdue(LeadershipClaim::HasLock, "a", 1_001));
    assert!(!is_overdue(LeadershipClaim::HasLock, "a", 1_000));
    assert!(
        !is_overdue(LeadershipClaim::HasLock, "b", 1_001),
        "held by another tab"
    );
    // This tab reads the lease before it continues, because another tab may have taken over.
    assert!(!is_overdue(LeadershipClaim::LeaseOnly, "a", 1_001));
}

/// Guards against showing `Sending the request.` forever while the tab that should send it is frozen.
#[test]
fn a_silent_leader_is_asleep() {
    let mut watch = LeaderWatch::default();
    let ended = lease("b", 1_000, true);
    let asked: Vec<bool> = (0..5).map(|_| watch.check(&ended, 9_000)).collect();
    assert_eq!(asked, [false, false, true, true, true]);
    assert!(!watch.is_asleep());
    watch.check(&ended, 9_000);
    assert!(watch.is_asleep());
    // The tab wakes up.
    assert!(!watch.check(&lease("b", 15_000, true), 9_001));
    assert!(!watch.is_asleep());
}

/// A hidden or missing leader must not be reported as asleep.
#[test]
fn a_leader_that_answers_or_does_not_exist_is_not_asleep() {
    let ended = lease("b", 1_000, true);
    for sign in [
        StoredLease::Missing,
        StoredLease::Unreadable,
        lease("b", 9_000, false),
    ] {
        let mut watch = LeaderWatch::default();
        for _ in 0..9 {
            watch.check(&ended, 9_000);
        }
        watch.check(&sign, 9_000);
        assert!(!watch.is_asleep(), "{sign:?}");
    }
    let mut watch = LeaderWatch::default();
    for _ in 0..99 {
        if watch.check(&ended, 9_000) {
            watch.reset();
        }
        assert!(!watch.is_asleep());
    }
}

proptest! {
    /// Tabs share a lease, with or without the lock, and may stall at any time.
    #[test]
    fn there_are_never_two_leaders(
        has_lock in any::<[bool; 3]>(),
        turns in prop::collection::vec((0usize..3, 0u64..9_000, any::<bool>(), any::<bool>()), 0..80),
    ) {
        let names = ["a", "b", "c"];
        let claim = |tab: usize| match has_lock[tab] {
            true => LeadershipClaim::HasLock,
            false => LeadershipClaim::LeaseOnly,
        };
        let mut found = StoredLease::Missing;
        let mut leads = [false; 3];
        let mut bid_at = [None::<Millis>; 3];
        let mut now = 0;
        // The lease that each tab has read last.
        let mut known = [const { StoredLease::Missing }; 3];
        // Whether each tab reads the lease again.
        let mut looks = [false; 3];
        for (tab, wait, clears, is_stalled) in turns {
            now += wait;
            // Right after a stall, a tab may see its own lease, even if other tabs have written since.
            let is_own = |found: &StoredLease| matches!(found, StoredLease::Lease(lease) if lease.holder == names[tab]);
            if is_stalled && !has_lock[tab] && !looks[tab] && is_own(&known[tab]) {
                let decision = renewal(LeadershipClaim::LeaseOnly, names[tab], &known[tab], false, now);
                looks[tab] = decision == Renewal::Recheck;
                if looks[tab] {
                    leads[tab] = false;
                    bid_at[tab] = None;
                    continue;
                }
            }
            // Renewals are at least one interval apart.
            if bid_at[tab].is_some_and(|at| now < at + Millis::from(RENEW_MS)) {
                continue;
            }
            if clears && wait < 100 {
                found = StoredLease::Missing;
            }
            bid_at[tab] = Some(now);
            let has_looked = std::mem::take(&mut looks[tab]);
            let decision = renewal(claim(tab), names[tab], &found, has_looked, now);
            leads[tab] = decision == Renewal::Lead;
            looks[tab] = decision == Renewal::Recheck;
            if looks[tab] {
                bid_at[tab] = None;
            }
            if matches!(decision, Renewal::Lead | Renewal::Bid) {
                found = lease(names[tab], now + LEASE_MS, claim(tab) == LeadershipClaim::HasLock);
            }
            known[tab] = found.clone();
            let leading = (0..3)
                .filter(|tab| leads[*tab] && still_leads(claim(*tab), names[*tab], &found, now));
            prop_assert!(leading.count() <= 1);
        }
    }
}
