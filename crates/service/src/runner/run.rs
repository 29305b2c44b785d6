//! One attempt at a task of a remote model: its input, its time limit, and the state that it stores.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use crate::model::{Ended, RunStop};
use crate::outputs::Outputs;
use crate::report::Report;
use crate::store::Store;

/// The pause before a failed write to the store is retried.
const WRITE_RETRY: Duration = Duration::from_secs(1);

/// One attempt at a task.
pub struct Run<'a> {
    /// The task's id, which is the same in all attempts.
    pub id: &'a str,
    pub input: &'a Map<String, Value>,
    pub outputs: &'a Outputs,
    pub stop: &'a RunStop,
    /// The end of the time limit, which counts from the task's first attempt.
    pub deadline: Instant,
    pub time_limit: Duration,
    /// The error that ended the attempt before this one.
    pub last_error: Option<&'a str>,
    /// Whether an earlier attempt has called [`Run::mark_sent`].
    pub sent: bool,
    pub store: &'a dyn Store,
    /// Reports the progress to clients.
    pub report: &'a dyn Fn(Report),
    /// Shows clients a PNG or JPEG picture of the unfinished result. Call this at most once a second. Ignores pictures
    /// larger than [`Preview::MAX_BYTES`](crate::report::Preview::MAX_BYTES).
    pub preview: &'a dyn Fn(&[u8]),
    /// Hides the task's secrets in a text that is logged or stored.
    pub hide: &'a dyn Fn(&str) -> String,
}

impl Run<'_> {
    /// Stores that the task is about to be sent to a server that may charge for it. With `may_resend`, it may be sent
    /// more than once, because the server honours an idempotency key.
    ///
    /// # Errors
    ///
    /// [`Ended::Blocked`] if the store can't write it, or another attempt has sent the task or ended it since
    /// this one began.
    pub fn mark_sent(&self, may_resend: bool) -> Result<(), Ended> {
        match self.store.set_sent(self.id, may_resend).map_err(blocked)? {
            true => Ok(()),
            false => Err(blocked("another attempt has sent this task, or ended it")),
        }
    }

    /// Undoes [`Self::mark_sent`]: the task was certainly not accepted. Retries until the store can write it.
    ///
    /// # Errors
    ///
    /// As for [`Self::pause`].
    pub fn mark_unsent(&self) -> Result<(), Ended> {
        while let Err(error) = self.store.set_unsent(self.id) {
            tracing::error!("task {:.8}…: {error}", self.id);
            self.pause(WRITE_RETRY)?;
        }
        Ok(())
    }

    /// Saves a paid response, so that an attempt after a restart continues from it. Returns whether it is saved. If
    /// there is no space, or another process has ended the task, this attempt continues anyway.
    pub fn save_answer(&self, answer: &[u8]) -> bool {
        self.store
            .save_answer(self.id, answer)
            .unwrap_or_else(|error| {
                tracing::warn!("task {:.8}…: can't save the answer: {error}", self.id);
                false
            })
    }

    /// Returns the response that an earlier attempt saved.
    ///
    /// # Errors
    ///
    /// [`Ended::Blocked`] if the store can't read it.
    pub fn saved_answer(&self) -> Result<Option<Vec<u8>>, Ended> {
        match self.sent {
            true => self.store.saved_answer(self.id).map_err(blocked),
            false => Ok(None),
        }
    }

    /// Waits for `time`.
    ///
    /// # Errors
    ///
    /// [`Ended::Stopped`] when the service stops or the task is canceled, [`Ended::Failed`] when the time limit expires.
    pub fn pause(&self, time: Duration) -> Result<(), Ended> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if self.stop.flag().is_set_within(time.min(left)) {
            return Err(Ended::Stopped);
        }
        if time >= left {
            let message = time_limit_message(self.time_limit, self.last_error);
            return Err(Ended::Failed(message));
        }
        Ok(())
    }

    /// Runs blocking work on a separate thread, which is detached when the run is stopped or the time limit expires.
    ///
    /// # Errors
    ///
    /// As for [`Self::pause`]; also [`Ended::Failed`] if the work panics.
    pub fn wait_for<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Ended> {
        self.wait_for_and(work, || {})
    }

    /// Like [`Self::wait_for`]. Also calls `meanwhile` at least every 100 ms.
    ///
    /// # Errors
    ///
    /// As for [`Self::wait_for`].
    pub fn wait_for_and<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
        meanwhile: impl Fn(),
    ) -> Result<T, Ended> {
        let (done, waiting) = std::sync::mpsc::channel();
        std::thread::spawn(move || done.send(work()));
        loop {
            let received = waiting.recv_timeout(Duration::from_millis(100));
            meanwhile();
            match received {
                Ok(result) => return Ok(result),
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => self.pause(Duration::ZERO)?,
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => {
                    return Err(Ended::Failed("The runner crashed on this input.".into()));
                }
            }
        }
    }

    /// Waits as long as a server requests (`Retry-After`), then returns [`Ended::Retry`] with `why`. If the wait exceeds
    /// the time limit, returns [`Ended::Failed`] at once.
    pub fn defer(&self, why: String, wait: Option<Duration>) -> Ended {
        let Some(wait) = wait else {
            return Ended::Retry(why);
        };
        let (seconds, left) = (wait.as_secs(), self.time_left());
        if wait >= left {
            return Ended::Failed(format!(
                "{why} (the server takes the next request in {seconds} s; the task's time limit ends in {} s)",
                left.as_secs()
            ));
        }
        (self.report)(Report::message(format!(
            "{why}; trying again in {seconds} s"
        )));
        match self.pause(wait) {
            Ok(()) => Ended::Retry(why),
            Err(ended) => ended,
        }
    }

    /// Like [`Self::defer`], for a poll of a task that was sent: a long wait does not fail the task before its time
    /// limit.
    pub fn defer_poll(&self, why: String, wait: Option<Duration>) -> Ended {
        self.defer(why, wait.map(|wait| wait.min(self.time_left() / 2)))
    }

    pub fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Returns a local path of the output or upload that a value refers to; `None` if it is not the path of one.
    ///
    /// # Errors
    ///
    /// [`Ended::Blocked`] if the outputs' bucket does not respond, [`Ended::Failed`] if the file does not exist any more:
    /// a model would be paid for an input that it can't read.
    pub fn own_file(&self, value: &Value) -> Result<Option<PathBuf>, Ended> {
        let Some(path) = value.as_str().filter(|text| Outputs::is_output_path(text)) else {
            return Ok(None);
        };
        match self.outputs.own_file(path).map_err(blocked)? {
            Some(file) => Ok(Some(file)),
            None => Err(Ended::Failed(format!(
                "The input file {path} does not exist any more."
            ))),
        }
    }

    /// Returns the input without nulls. `file` converts each output of this service, also in lists and objects.
    ///
    /// # Errors
    ///
    /// As for [`Self::own_file`]; also errors of `file`.
    pub fn convert_input(
        &self,
        file: impl Fn(&Path) -> Result<Value, Ended>,
    ) -> Result<Map<String, Value>, Ended> {
        self.convert(self.input, file)
    }

    /// Converts a part of the input, like [`Self::convert_input`].
    ///
    /// # Errors
    ///
    /// As for [`Self::convert_input`].
    pub fn convert(
        &self,
        input: &Map<String, Value>,
        file: impl Fn(&Path) -> Result<Value, Ended>,
    ) -> Result<Map<String, Value>, Ended> {
        let given = input.iter().filter(|(_, value)| !value.is_null());
        given
            .map(|(name, value)| Ok((name.clone(), self.with_files(value, &file)?)))
            .collect()
    }

    fn with_files(
        &self,
        value: &Value,
        file: &impl Fn(&Path) -> Result<Value, Ended>,
    ) -> Result<Value, Ended> {
        if let Some(path) = self.own_file(value)? {
            return file(&path);
        }
        Ok(match value {
            Value::Array(items) => {
                let items = items.iter().map(|item| self.with_files(item, file));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            Value::Object(fields) => {
                let field = |(name, value): (&String, &Value)| {
                    Ok((name.clone(), self.with_files(value, file)?))
                };
                Value::Object(fields.iter().map(field).collect::<Result<_, Ended>>()?)
            }
            other => other.clone(),
        })
    }
}

fn blocked(error: impl std::fmt::Display) -> Ended {
    Ended::Blocked(error.to_string())
}

/// Returns the message that a task's time limit has expired, with the last error of its attempts, if any.
pub fn time_limit_message(limit: Duration, last_error: Option<&str>) -> String {
    let limit = limit.as_secs();
    let last = last_error.map(|error| format!(" The last error: {error}"));
    let last = last.unwrap_or_default();
    format!("The model did not finish within its time limit of {limit} s.{last}")
}
