//! A tab's part among the tabs of one person: one leads and makes all calls, the others follow.
//!
//! A tab that becomes the leader first reads what the last one left. Until it has, it is neither: what
//! others say is put off, and the right to lead may be lost again.

/// The role of a tab, and the messages that it has put off.
#[derive(Debug, Default)]
pub struct TabRole {
    /// Counts up with every change: what was begun in another generation must not be gone on with.
    generation: u64,
    stage: Stage,
}

#[derive(Debug, Default)]
enum Stage {
    #[default]
    Follows,
    /// It reads what the last leader left. What it hears meanwhile is heard once it leads: heard
    /// before, a task submitted in that moment would not be in what was read, and be taken for one
    /// that was removed.
    TakesOver(Vec<String>),
    Leads,
}

impl TabRole {
    /// The right to lead is this tab's; the generation in which it is.
    pub fn take_over(&mut self) -> u64 {
        self.generation += 1;
        self.stage = Stage::TakesOver(Vec::new());
        self.generation
    }

    /// Everything was read in this generation: it leads, unless the right was lost meanwhile. What it
    /// has put off, in the order in which it came.
    pub fn lead(&mut self, generation: u64) -> Option<Vec<String>> {
        match &mut self.stage {
            Stage::TakesOver(put_off) if self.generation == generation => {
                let put_off = std::mem::take(put_off);
                self.stage = Stage::Leads;
                Some(put_off)
            }
            _ => None,
        }
    }

    /// Another tab leads from now on, and what was put off is for that one.
    pub fn follow(&mut self) {
        self.generation += 1;
        self.stage = Stage::Follows;
    }

    /// Puts off what another tab says, if it is not to be heard yet; whether it is.
    pub fn puts_off(&mut self, text: &str) -> bool {
        match &mut self.stage {
            Stage::TakesOver(put_off) => {
                put_off.push(text.to_owned());
                true
            }
            _ => false,
        }
    }

    /// It is about to lead.
    pub fn takes_over(&self) -> bool {
        matches!(self.stage, Stage::TakesOver(_))
    }

    pub fn leads(&self) -> bool {
        matches!(self.stage, Stage::Leads)
    }

    /// Gives the generation in which this tab leads, if it does.
    pub fn generation(&self) -> Option<u64> {
        self.leads().then_some(self.generation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tab_follows_until_it_has_read_what_the_last_leader_left() {
        let mut role = TabRole::default();
        assert!(!role.leads());
        let generation = role.take_over();
        assert!(!role.leads());
        assert_eq!(role.lead(generation), Some(Vec::new()));
        assert_eq!(role.generation(), Some(generation));
    }

    #[test]
    fn what_is_said_while_it_takes_over_is_heard_once_and_in_order() {
        let mut role = TabRole::default();
        assert!(!role.puts_off("to a follower"));
        let generation = role.take_over();
        assert!(role.puts_off("first") && role.puts_off("second"));
        let put_off = role.lead(generation).unwrap_or_default();
        assert_eq!(put_off, ["first", "second"]);
        assert!(!role.puts_off("to a leader"));
        assert_eq!(role.lead(generation), None, "it leads already");
    }

    /// Two tabs would make calls otherwise.
    #[test]
    fn a_right_that_was_lost_while_reading_is_not_used() {
        let mut role = TabRole::default();
        let lost = role.take_over();
        assert!(role.puts_off("for whoever leads"));
        role.follow();
        assert_eq!(role.lead(lost), None);
        assert_eq!(role.generation(), None);
        let own = role.take_over();
        assert_eq!(role.lead(lost), None, "of an earlier generation");
        assert_eq!(role.lead(own), Some(Vec::new()), "nothing of before");
    }

    #[test]
    fn what_was_begun_as_a_leader_ends_with_it() {
        let mut role = TabRole::default();
        let first = role.take_over();
        role.lead(first);
        role.follow();
        let second = role.take_over();
        role.lead(second);
        assert_ne!(role.generation(), Some(first));
    }
}
