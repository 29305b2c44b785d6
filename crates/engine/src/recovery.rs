//! Decides what is done when records can't be read or written: it is tried again until it works, and then everything
//! is written that was not, or was taken away meanwhile.

/// The wait between the first tries, which come at once and then less and less often.
const FIRST_WAIT_MS: u32 = 500;
const LONGEST_WAIT_MS: u32 = 30_000;

/// The state of storage, as far as it matters for what is done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// It takes nothing more; what is in it can be read.
    NoRoom,
    /// It does not open, or does not answer.
    NoConnection,
    /// It was taken away, and maybe cleared.
    TakenAway,
}

impl Failure {
    /// The connection is of no use any more.
    pub fn ends_connection(self) -> bool {
        self != Self::NoRoom
    }
}

/// Whether storage works, has worked, and what is to be written once it does again.
#[derive(Debug, Default)]
pub struct Recovery {
    has_worked: bool,
    is_unwritten: bool,
    /// The wait before the try that is under way.
    wait_ms: Option<u32>,
    offer: Offer,
}

/// The offer of a follower to lead in place of a tab that can't write.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Offer {
    #[default]
    None,
    Made,
    /// This tab led after its offer and could not write either. It makes no other before it has: two such tabs would
    /// hand leadership to and fro for ever.
    Failed,
}

impl Recovery {
    /// It could be opened and read.
    pub fn opened(&mut self) {
        self.has_worked = true;
    }

    /// It has worked in this visit.
    pub fn has_worked(&self) -> bool {
        self.has_worked
    }

    /// Something was not read or written.
    pub fn failed(&mut self, failure: Failure, leads: bool) {
        // It may lead again after another tab that knew of less.
        self.is_unwritten |= leads || failure == Failure::TakenAway && self.has_worked;
        if leads && self.offer == Offer::Made {
            self.offer = Offer::Failed;
        }
    }

    /// The tab that leads can't write. Whether this one, a follower, offers to lead in its place.
    pub fn offers_to_lead(&mut self) -> bool {
        let offers = self.has_worked && self.wait_ms.is_none() && self.offer != Offer::Failed;
        if offers {
            self.offer = Offer::Made;
        }
        offers
    }

    /// Whether this tab knows tasks that storage does not and that were not removed. The tab that leads writes them
    /// again.
    pub fn is_unwritten(&self) -> bool {
        self.is_unwritten
    }

    /// How long to wait before the first try, in milliseconds; `None` while it is tried already.
    pub fn begin(&mut self) -> Option<u32> {
        let is_idle = self.wait_ms.is_none();
        is_idle.then(|| *self.wait_ms.insert(0))
    }

    /// Everything was written that this tab answers for: that is all there is, if it leads.
    pub fn written(&mut self, leads: bool) {
        self.is_unwritten &= !leads;
        if leads {
            self.offer = Offer::None;
        }
    }

    /// Storage was seen to have all that this tab knows: another tab has written it again.
    pub fn found_whole(&mut self) {
        self.is_unwritten = false;
    }

    /// A try has ended, and this is how it stands now. How long to wait before the next one, in
    /// milliseconds; `None` when storage works again.
    pub fn tried(&mut self, works: bool, is_connected: bool, leads: bool) -> Option<u32> {
        // It may have gone again meanwhile, or this tab leads now and did not when it wrote.
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

/// Why tasks are not being kept, where the tab that leads is asleep.
pub const UNKEPT_BY_SLEEPER: &str = "Tasks are not being kept at present: another tab of Atelier, which keeps them, \
    is asleep. Looking at that tab, or closing it, lets it go on.";

/// The message above every page of an older release, when a newer one keeps the tasks.
pub const SUPERSEDED: &str = "A newer Atelier keeps the tasks of this browser, and this one can't read \
    or send them. Reload this page to get the newer one; what stands in the form is kept. If this is \
    still said then, the newer one is not there at present: your tasks are kept until it is back.";

/// The message when the tasks of a newer release were cleared while this one was open, which has given up sending by
/// then.
pub const SUPERSEDED_NO_LONGER: &str = "What a newer Atelier kept in this browser was cleared. Reload this \
    page to go on; what stands in the form is kept.";

/// Why nothing is sent from here.
pub const SUPERSEDED_REFUSAL: &str = "A newer Atelier keeps the tasks of this browser, and this one can't \
    keep another. Reload this page to get the newer one.";

/// The message in place of tasks that a newer release keeps.
pub const UNREAD_NEWER: &str = "Your tasks can't be read: a newer Atelier has written them. Reload this \
    page to get it. If it is not there at present, they are kept until it is back. Clearing this site's \
    data in the browser starts afresh, without them.";

/// Gives the message in place of tasks that could not be read because storage does not answer. To say that there are
/// none would be a guess.
pub fn unread(is_leader_asleep: bool) -> &'static str {
    match is_leader_asleep {
        true => {
            "Tasks can't be read yet: another tab of Atelier holds on to them, and is asleep. Looking at \
             that tab, or closing it, lets this one read them."
        }
        false => {
            "Tasks can't be read yet: this browser does not answer. Another tab of Atelier may hold on to \
             them; they are tried again by themselves."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_read_is_not_said_to_be_nothing() {
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
    fn it_is_tried_at_once_and_then_less_and_less_often() {
        let mut recovery = opened();
        recovery.failed(Failure::NoRoom, true);
        let mut waits = vec![recovery.begin()];
        waits.extend((0..9).map(|_| recovery.tried(false, true, true)));
        let ms = [
            0, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000,
        ];
        assert_eq!(waits, ms.map(Some));
    }

    #[test]
    fn one_at_a_time_tries_and_the_next_begins_anew() {
        let mut recovery = opened();
        assert_eq!(recovery.begin(), Some(0));
        assert_eq!(recovery.begin(), None);
        assert_eq!(recovery.tried(false, true, true), Some(500));
        assert_eq!(recovery.begin(), None);
        assert_eq!(recovery.tried(true, true, true), None);
        assert_eq!(recovery.begin(), Some(0));
    }

    #[test]
    fn a_full_storage_stays_connected() {
        assert!(!Failure::NoRoom.ends_connection());
        assert!(Failure::NoConnection.ends_connection());
        assert!(Failure::TakenAway.ends_connection());
    }

    #[test]
    fn a_storage_that_opens_late_has_worked() {
        let mut recovery = Recovery::default();
        recovery.failed(Failure::NoConnection, true);
        recovery.begin();
        assert!(!recovery.has_worked());
        assert_eq!(recovery.tried(true, true, false), None);
        assert!(recovery.has_worked());
    }

    /// A person clears the site's data: what the page shows must not be lost with it.
    #[test]
    fn what_was_taken_away_is_written_again_by_the_leader_alone() {
        let mut recovery = opened();
        recovery.failed(Failure::TakenAway, true);
        recovery.begin();
        recovery.written(false);
        assert!(recovery.is_unwritten());
        assert_eq!(
            recovery.tried(true, true, false),
            None,
            "a follower is done"
        );
        assert!(recovery.is_unwritten(), "and knows it, should it lead");
        recovery.begin();
        assert!(recovery.tried(true, true, true).is_some());
        recovery.written(true);
        assert_eq!(recovery.tried(true, true, true), None);
        assert!(!recovery.is_unwritten());
    }

    #[test]
    fn a_follower_has_nothing_to_hand_over_once_all_of_it_is_stored_again() {
        let mut recovery = opened();
        recovery.failed(Failure::TakenAway, true);
        recovery.found_whole();
        assert!(!recovery.is_unwritten());
    }

    #[test]
    fn a_tab_offers_to_lead_while_its_own_storage_works() {
        let mut recovery = Recovery::default();
        assert!(!recovery.offers_to_lead(), "nothing is known of it");
        recovery.opened();
        assert!(recovery.offers_to_lead());
        // It fails in a follower, which makes an offer again once it is mended.
        recovery.failed(Failure::NoConnection, false);
        recovery.begin();
        assert!(!recovery.offers_to_lead());
        recovery.tried(true, true, false);
        assert!(recovery.offers_to_lead());
    }

    /// Guards against two tabs that both can't write and hand leadership to and fro for ever: a follower has nothing to
    /// write, and takes its storage for mended.
    #[test]
    fn two_tabs_that_cannot_write_do_not_hand_leadership_to_and_fro() {
        let mut tabs = [opened(), opened()];
        let (mut leader, mut handovers) = (0, 0);
        for _ in 0..100 {
            tabs[leader].failed(Failure::NoRoom, true);
            tabs[leader].begin();
            let other = 1 - leader;
            tabs[other].tried(true, true, false);
            if tabs[other].offers_to_lead() {
                (leader, handovers) = (other, handovers + 1);
            }
        }
        assert_eq!(handovers, 2);
        // A third tab is another matter.
        assert!(opened().offers_to_lead());
        // What could write since offers again.
        let mut mended = std::mem::take(&mut tabs[0]);
        mended.written(true);
        mended.tried(true, true, true);
        assert!(mended.offers_to_lead());
    }

    #[test]
    fn what_never_worked_has_nothing_that_could_be_taken_away() {
        let mut recovery = Recovery::default();
        recovery.failed(Failure::TakenAway, false);
        assert!(!recovery.is_unwritten());
    }

    /// Guards against a task that is deleted as one that another tab has removed: the leader could not write it, left
    /// leading to a tab that was closed in that moment, and led again.
    #[test]
    fn what_a_leader_could_not_write_stays_unwritten_until_it_is_written() {
        let mut recovery = opened();
        recovery.failed(Failure::NoRoom, true);
        recovery.begin();
        // As a follower it has nothing to write.
        recovery.written(false);
        recovery.tried(true, true, false);
        assert!(recovery.is_unwritten());
        recovery.written(true);
        assert!(!recovery.is_unwritten());
    }

    #[test]
    fn a_connection_that_goes_again_is_tried_again() {
        let mut recovery = opened();
        recovery.failed(Failure::NoConnection, true);
        recovery.begin();
        assert_eq!(recovery.tried(true, false, true), Some(500));
    }
}
