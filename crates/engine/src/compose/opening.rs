//! Whether the form of a batch is open, or a line above the batch that was sent from it.

/// What speaks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opening {
    /// Rows that are yet to be sent, whether they can be or not.
    pub unsent: usize,
    /// There is a batch to look at.
    pub has_batch: bool,
    /// A person has opened it, or was writing in it since something was sent last: it is not taken out of their hands.
    pub is_held: bool,
}

impl Opening {
    pub fn is_open(self) -> bool {
        self.is_held || self.unsent > 0 || !self.has_batch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against a screen of an empty form above what was just made.
    #[test]
    fn it_is_a_line_where_there_is_nothing_left_to_send() {
        let opening = |unsent, has_batch, is_held| Opening {
            unsent,
            has_batch,
            is_held,
        };
        assert!(!opening(0, true, false).is_open());
        assert!(opening(0, false, false).is_open(), "nothing was sent yet");
        assert!(opening(1, true, false).is_open(), "a row waits");
        assert!(opening(0, true, true).is_open(), "a person wants it");
    }
}
