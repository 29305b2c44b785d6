//! The clock of a proxy, which a test can move forward together with that of the page.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

pub(super) struct Clock {
    start: Instant,
    skipped: Mutex<Duration>,
}

impl Clock {
    pub fn start() -> Self {
        Self {
            start: Instant::now(),
            skipped: Mutex::default(),
        }
    }

    /// Since the start.
    pub fn now(&self) -> Duration {
        self.start.elapsed() + self.skipped()
    }

    /// What a page whose clock was moved as far takes for the present date.
    pub fn date(&self) -> SystemTime {
        SystemTime::now() + self.skipped()
    }

    pub fn skip(&self, by: Duration) {
        *self.skipped.lock().unwrap_or_else(PoisonError::into_inner) += by;
    }

    fn skipped(&self) -> Duration {
        *self.skipped.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
