//! Decides what to do when records can't be read or written. The page retries until this succeeds, and then writes all
//! unwritten and lost records.

/// The wait after the first retry, in milliseconds. The first retry is immediate, and the wait doubles.
const FIRST_WAIT_MS: u32 = 500;
const LONGEST_WAIT_MS: u32 = 30_000;

/// The reason why storage does not work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The quota is used up; existing records can be read.
    QuotaExceeded,
    /// The database does not open or does not answer.
    NoConnection,
    /// The database was closed by the browser, and maybe deleted.
    ClosedByBrowser,
}

impl Failure {
    /// Whether the connection must be opened again.
    pub fn ends_connection(self) -> bool {
        self != Self::QuotaExceeded
    }
}

/// Tracks whether storage works or has worked, and whether there are unwritten records.
#[derive(Debug, Default)]
pub struct Recovery {
    has_worked: bool,
    is_unwritten: bool,
    /// The wait before the retry in progress.
    wait_ms: Option<u32>,
    offer: Offer,
}

/// A follower's offer to lead in place of a tab that can't write.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Offer {
    #[default]
    None,
    Made,
    /// This tab led after its offer and could not write either. It makes no other offer until it has written, because
    /// two such tabs would exchange leadership forever.
    Failed,
}

impl Recovery {
    /// Records that storage was opened and read.
    pub fn opened(&mut self) {
        self.has_worked = true;
    }

    /// Whether storage has worked in this visit.
    pub fn has_worked(&self) -> bool {
        self.has_worked
    }

    /// Records a failed read or write.
    pub fn failed(&mut self, failure: Failure, leads: bool) {
        // A tab with fewer tasks may lead in the meantime, and then this tab again.
        self.is_unwritten |= leads || failure == Failure::ClosedByBrowser && self.has_worked;
        if leads && self.offer == Offer::Made {
            self.offer = Offer::Failed;
        }
    }

    /// Decides whether this follower offers to lead in place of a leader that can't write, and records the offer.
    pub fn offers_to_lead(&mut self) -> bool {
        let offers = self.has_worked && self.wait_ms.is_none() && self.offer != Offer::Failed;
        if offers {
            self.offer = Offer::Made;
        }
        offers
    }

    /// Whether tasks of this tab that were not removed are missing in storage. The leader writes them.
    pub fn is_unwritten(&self) -> bool {
        self.is_unwritten
    }

    /// Starts to retry. Returns the wait before the first retry in milliseconds; `None` if retries are in progress.
    pub fn begin(&mut self) -> Option<u32> {
        let is_idle = self.wait_ms.is_none();
        is_idle.then(|| *self.wait_ms.insert(0))
    }

    /// Records that this tab has written its records. If it leads, these are all records.
    pub fn written(&mut self, leads: bool) {
        self.is_unwritten &= !leads;
        if leads {
            self.offer = Offer::None;
        }
    }

    /// Records that storage contains all tasks of this tab, because another tab has written them.
    pub fn found_complete(&mut self) {
        self.is_unwritten = false;
    }

    /// Records the result of a retry. Returns the wait before the next one in milliseconds; `None` if storage works
    /// again.
    pub fn tried(&mut self, works: bool, is_connected: bool, leads: bool) -> Option<u32> {
        // Storage may have failed again meanwhile, or this tab may lead now and have more to write.
        if works && is_connected && !(leads && self.is_unwritten) {
            self.has_worked = true;
            self.wait_ms = None;
        } else {
            let longer = self.wait_ms.unwrap_or_default().saturating_mul(2);
            self.wait_ms = Some(longer.clamp(FIRST_WAIT_MS, LONGEST_WAIT_MS));
        }
        self.wait_ms
    }
}

/// The message about tasks that are not stored while the leader is asleep.
pub const UNSTORED_LEADER_ASLEEP: &str = "Tasks are not being stored at present: another tab of Atelier, which stores them, is \
    asleep. Switch to that tab or close it to continue.";

/// The banner in a tab of an older release, once a newer release stores the tasks.
pub const SUPERSEDED: &str = "A newer version of Atelier stores this browser's tasks, and this one can't read or send them. \
                              Reload this page to get it; the form's contents are kept. If this message remains, the newer \
                              version is unavailable: your tasks are kept until it is back.";

/// The banner after the tasks of a newer release were cleared while this tab was open. This tab no longer sends.
pub const NEWER_DATA_CLEARED: &str = "A newer version of Atelier stored data here, which was cleared. Reload this page to \
                                      continue; the form's contents are kept.";

/// The message in a tab that sends nothing, because a newer release stores the tasks.
pub const SUPERSEDED_REFUSAL: &str = "A newer version of Atelier stores this browser's tasks, and this one can't store more. \
                                      Reload this page to get it.";

/// The message in place of tasks that a newer release has stored.
pub const UNREAD_NEWER: &str = "Your tasks can't be read: a newer version of Atelier has stored them. Reload this page to get \
                                it. If it is unavailable, they are kept until it is back. To start without them, clear this \
                                site's data in the browser.";

/// Returns the message in place of tasks that can't be read yet. An empty list would be wrong.
pub fn unread(is_leader_asleep: bool) -> &'static str {
    match is_leader_asleep {
        true => {
            "Tasks can't be read yet: another tab of Atelier locks them and is asleep. Switch to that tab or close it to read \
             them here."
        }
        false => {
            "Tasks can't be read yet: this browser does not respond. Another tab of Atelier may lock them. Atelier keeps trying."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unread_tasks_are_not_reported_as_none() {
        for is_leader_asleep in [true, false] {
            assert!(unread(is_leader_asleep).starts_with("Tasks can't be read yet: "));
        }
        assert!(unread(true).contains("asleep"));
        assert!(!unread(false).contains("asleep"));
    }

    fn opened() -> Recovery {
        let mut recovery = Recovery::default();
        recovery.opened();
        recovery
    }

    #[test]
    fn retries_at_once_and_then_at_growing_intervals() {
        let mut recovery = opened();
        recovery.failed(Failure::QuotaExceeded, true);
        let mut waits = vec![recovery.begin()];
        waits.extend((0..9).map(|_| recovery.tried(false, true, true)));
        let ms = [
            0, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000,
        ];
        assert_eq!(waits, ms.map(Some));
    }

    #[test]
    fn retries_run_one_at_a_time_and_reset_after_success() {
        let mut recovery = opened();
        assert_eq!(recovery.begin(), Some(0));
        assert_eq!(recovery.begin(), None);
        assert_eq!(recovery.tried(false, true, true), Some(500));
        assert_eq!(recovery.begin(), None);
        assert_eq!(recovery.tried(true, true, true), None);
        assert_eq!(recovery.begin(), Some(0));
    }

    #[test]
    fn a_full_storage_keeps_its_connection() {
        assert!(!Failure::QuotaExceeded.ends_connection());
        assert!(Failure::NoConnection.ends_connection());
        assert!(Failure::ClosedByBrowser.ends_connection());
    }

    #[test]
    fn a_storage_that_opens_late_counts_as_working() {
        let mut recovery = Recovery::default();
        recovery.failed(Failure::NoConnection, true);
        recovery.begin();
        assert!(!recovery.has_worked());
        assert_eq!(recovery.tried(true, true, false), None);
        assert!(recovery.has_worked());
    }

    /// After the user has cleared the site's data, the tasks on the page must be stored again.
    #[test]
    fn only_the_leader_rewrites_lost_records() {
        let mut recovery = opened();
        recovery.failed(Failure::ClosedByBrowser, true);
        recovery.begin();
        recovery.written(false);
        assert!(recovery.is_unwritten());
        assert_eq!(
            recovery.tried(true, true, false),
            None,
            "a follower is finished"
        );
        assert!(recovery.is_unwritten(), "recorded in case this tab leads");
        recovery.begin();
        assert!(recovery.tried(true, true, true).is_some());
        recovery.written(true);
        assert_eq!(recovery.tried(true, true, true), None);
        assert!(!recovery.is_unwritten());
    }

    #[test]
    fn found_complete_clears_unwritten() {
        let mut recovery = opened();
        recovery.failed(Failure::ClosedByBrowser, true);
        recovery.found_complete();
        assert!(!recovery.is_unwritten());
    }

    #[test]
    fn a_follower_offers_to_lead_while_its_storage_works() {
        let mut recovery = Recovery::default();
        assert!(!recovery.offers_to_lead(), "its state is unknown");
        recovery.opened();
        assert!(recovery.offers_to_lead());
        // Storage fails in a follower. The follower makes an offer again once storage works.
        recovery.failed(Failure::NoConnection, false);
        recovery.begin();
        assert!(!recovery.offers_to_lead());
        recovery.tried(true, true, false);
        assert!(recovery.offers_to_lead());
    }

    /// A follower has nothing to write, so it considers its storage working and offers to lead.
    #[test]
    fn two_tabs_that_cannot_write_stop_exchanging_leadership() {
        let mut tabs = [opened(), opened()];
        let (mut leader, mut handovers) = (0, 0);
        for _ in 0..100 {
            tabs[leader].failed(Failure::QuotaExceeded, true);
            tabs[leader].begin();
            let other = 1 - leader;
            tabs[other].tried(true, true, false);
            if tabs[other].offers_to_lead() {
                (leader, handovers) = (other, handovers + 1);
            }
        }
        assert_eq!(handovers, 2);
        // A third tab may still offer.
        assert!(opened().offers_to_lead());
        // A tab that has written since offers again.
        let mut recovered = std::mem::take(&mut tabs[0]);
        recovered.written(true);
        recovered.tried(true, true, true);
        assert!(recovered.offers_to_lead());
    }

    #[test]
    fn a_storage_that_never_worked_has_no_unwritten_records() {
        let mut recovery = Recovery::default();
        recovery.failed(Failure::ClosedByBrowser, false);
        assert!(!recovery.is_unwritten());
    }

    /// The leader could not write a task, handed over to a tab that was closed at that time, and led again. It must not
    /// delete the task as if another tab had removed it.
    #[test]
    fn a_failed_write_of_the_leader_stays_unwritten() {
        let mut recovery = opened();
        recovery.failed(Failure::QuotaExceeded, true);
        recovery.begin();
        // A follower has nothing to write.
        recovery.written(false);
        recovery.tried(true, true, false);
        assert!(recovery.is_unwritten());
        recovery.written(true);
        assert!(!recovery.is_unwritten());
    }

    #[test]
    fn retries_when_the_connection_is_lost_again() {
        let mut recovery = opened();
        recovery.failed(Failure::NoConnection, true);
        recovery.begin();
        assert_eq!(recovery.tried(true, false, true), Some(500));
    }
}
