//! The clock of a proxy. A test can move it forward together with the page's clock.

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

    /// Returns the time since the start.
    pub fn now(&self) -> Duration {
        self.start.elapsed() + self.skipped()
    }

    /// Returns the current date of a page whose clock was moved by the same time.
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
