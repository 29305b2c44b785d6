//! Tracks the role of a tab: one tab of a browser leads and makes all calls, and the others follow.
//!
//! A tab that becomes the leader first reads the stored records. During this takeover, it has neither role: it defers
//! messages of other tabs, and it may lose the leadership again.

/// The role of a tab, and the messages that it has deferred.
#[derive(Debug, Default)]
pub struct TabRole {
    /// Incremented with every change. Work from another generation must be dropped.
    generation: u64,
    stage: Stage,
}

#[derive(Debug, Default)]
enum Stage {
    #[default]
    Follows,
    /// The tab reads the stored records. Messages that arrive in the meantime are deferred. Otherwise, a task that was
    /// submitted in between would be missing in the records and would be considered removed.
    TakesOver(Vec<String>),
    Leads,
}

impl TabRole {
    /// Starts to take over the leadership. Returns the new generation.
    pub fn take_over(&mut self) -> u64 {
        self.generation += 1;
        self.stage = Stage::TakesOver(Vec::new());
        self.generation
    }

    /// Completes the takeover of this generation. Returns the deferred messages in order, or `None` if the leadership
    /// was lost meanwhile.
    pub fn lead(&mut self, generation: u64) -> Option<Vec<String>> {
        match &mut self.stage {
            Stage::TakesOver(deferred) if self.generation == generation => {
                let deferred = std::mem::take(deferred);
                self.stage = Stage::Leads;
                Some(deferred)
            }
            _ => None,
        }
    }

    /// Follows another tab. Deferred messages are dropped, because the new leader handles them.
    pub fn follow(&mut self) {
        self.generation += 1;
        self.stage = Stage::Follows;
    }

    /// Defers a message during a takeover. Returns whether it was deferred.
    pub fn defer(&mut self, text: &str) -> bool {
        match &mut self.stage {
            Stage::TakesOver(deferred) => {
                deferred.push(text.to_owned());
                true
            }
            _ => false,
        }
    }

    /// Whether a takeover is in progress.
    pub fn is_taking_over(&self) -> bool {
        matches!(self.stage, Stage::TakesOver(_))
    }

    /// Whether this tab leads.
    pub fn is_leader(&self) -> bool {
        matches!(self.stage, Stage::Leads)
    }

    /// Returns the generation in which this tab leads, if it does.
    pub fn generation(&self) -> Option<u64> {
        self.is_leader().then_some(self.generation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tab_leads_after_reading_the_stored_records() {
        let mut role = TabRole::default();
        assert!(!role.is_leader());
        let generation = role.take_over();
        assert!(!role.is_leader());
        assert_eq!(role.lead(generation), Some(Vec::new()));
        assert_eq!(role.generation(), Some(generation));
    }

    #[test]
    fn messages_during_a_takeover_are_returned_once_in_order() {
        let mut role = TabRole::default();
        assert!(!role.defer("as a follower"));
        let generation = role.take_over();
        assert!(role.defer("first") && role.defer("second"));
        let deferred = role.lead(generation).unwrap_or_default();
        assert_eq!(deferred, ["first", "second"]);
        assert!(!role.defer("as a leader"));
        assert_eq!(role.lead(generation), None, "already the leader");
    }

    /// Otherwise, two tabs would make calls.
    #[test]
    fn a_takeover_that_was_lost_does_not_lead() {
        let mut role = TabRole::default();
        let lost = role.take_over();
        assert!(role.defer("for the leader"));
        role.follow();
        assert_eq!(role.lead(lost), None);
        assert_eq!(role.generation(), None);
        let own = role.take_over();
        assert_eq!(role.lead(lost), None, "an earlier generation");
        assert_eq!(role.lead(own), Some(Vec::new()), "no earlier messages");
    }

    #[test]
    fn each_leadership_has_its_own_generation() {
        let mut role = TabRole::default();
        let first = role.take_over();
        role.lead(first);
        role.follow();
        let second = role.take_over();
        role.lead(second);
        assert_ne!(role.generation(), Some(first));
    }
}
