//! Paces the built-in models: each stage of a run waits until it is due. Also defines how a run can end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use atelier_procedural::Error;

/// Why a run ended without output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The task failed; a message for its owner.
    Failed(String),
    /// The task was sent and no response was received, so its outcome is unknown; a message for its owner.
    Unknown(String),
    /// A retryable error of the model, for the log; the task is retried within its time limit.
    Retry(String),
    /// The service's own database or outputs are unavailable, for the log; the task is retried regardless of its time
    /// limit.
    Blocked(String),
    /// The service is stopping, and the task is resumed later; or the task was canceled.
    Stopped,
}

impl Ended {
    /// Changes the message.
    #[must_use]
    pub fn map_text(self, change: impl FnOnce(&str) -> String) -> Self {
        match self {
            Self::Failed(text) => Self::Failed(change(&text)),
            Self::Unknown(text) => Self::Unknown(change(&text)),
            Self::Retry(text) => Self::Retry(change(&text)),
            Self::Blocked(text) => Self::Blocked(change(&text)),
            Self::Stopped => Self::Stopped,
        }
    }
}

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        match error {
            Error::Failed(message) => Self::Failed(message),
            Error::Unavailable(message) => Self::Blocked(message),
            Error::Stopped => Self::Stopped,
        }
    }
}

/// A flag that is set when the service stops. Threads can wait for it.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<(Mutex<bool>, Condvar)>);

impl Stop {
    pub fn set(&self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }

    pub fn is_set(&self) -> bool {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits up to `time` for the flag. Returns whether it is set.
    pub fn is_set_within(&self, time: Duration) -> bool {
        let (stopping, changed) = &*self.0;
        let stopping = stopping.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = changed.wait_timeout_while(stopping, time, |stopping| !*stopping);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Stops one run: when the service stops, or when its task is canceled.
#[derive(Debug, Clone, Default)]
pub struct RunStop {
    stop: Stop,
    is_canceled: Arc<AtomicBool>,
}

impl RunStop {
    /// Stops the run because the service stops.
    pub fn set(&self) {
        self.stop.set();
    }

    /// Stops the run because its task is canceled.
    pub fn cancel(&self) {
        self.is_canceled.store(true, Ordering::Relaxed);
        self.stop.set();
    }

    pub fn is_canceled(&self) -> bool {
        self.is_canceled.load(Ordering::Relaxed)
    }

    /// Returns the flag that is set in both cases.
    pub fn flag(&self) -> &Stop {
        &self.stop
    }
}

/// The interval at which a run that waits reports its progress.
const REPORT_INTERVAL: Duration = Duration::from_millis(250);

/// The pace of one run.
#[derive(Debug, Clone)]
pub struct Pace {
    started: Instant,
    seconds: f64,
    stop: Stop,
}

impl Pace {
    /// Starts a run that takes `seconds`, or longer if its work does.
    pub fn new(seconds: f64, stop: &Stop) -> Self {
        Self {
            started: Instant::now(),
            seconds: seconds.max(0.0),
            stop: stop.clone(),
        }
    }

    /// Waits until `fraction` (0 to 1) of the run's time has passed. Meanwhile, calls `report` with the fraction that has
    /// passed.
    ///
    /// # Errors
    ///
    /// [`Error::Stopped`] when the service stops.
    pub fn reach(&self, fraction: f64, report: impl Fn(f64)) -> Result<(), Error> {
        let fraction = fraction.clamp(0.0, 1.0);
        let due = Duration::from_secs_f64(self.seconds * fraction);
        loop {
            let elapsed = self.started.elapsed();
            let left = due.saturating_sub(elapsed);
            report(match left.is_zero() {
                true => fraction,
                false => elapsed.as_secs_f64() / self.seconds,
            });
            if self.stop.is_set_within(left.min(REPORT_INTERVAL)) {
                return Err(Error::Stopped);
            }
            if left.is_zero() {
                return Ok(());
            }
        }
    }
}
