//! Models that run elsewhere: in a program of one's own, in a container, behind another service.
//! Each kind of place is one file here, a [`Runner`]; [`Remote`] makes a model of it.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use atelier_contract::{Kind, Media, ModelId, Parameters, Schema};
use serde_json::{Map, Value, json};

use crate::art::canvas::Canvas;
use crate::art::vocabulary::Sense;
use crate::models::{About, Ended, Job, Model, Stop};
use crate::outputs::{Artifact, Outputs};
use crate::store::Store;

pub mod addresses;
pub mod cog;
pub mod comfyui;
pub mod command;
pub mod fetch;
pub mod file;
pub mod guard;
pub mod http;
pub mod openai;
pub mod pictures;
pub mod watch;

/// The pause before the store is written to again.
const WRITE_AGAIN: Duration = Duration::from_secs(1);

/// A place where a model runs, and the way to ask it.
pub trait Runner: Send + Sync {
    /// Gives the parameters that it takes, as far as they are known by now.
    fn parameters(&self) -> Parameters;

    /// Asks whether it is there. Blocks.
    ///
    /// # Errors
    ///
    /// A sentence that says why it is not there.
    fn check(&self) -> Result<(), String>;

    /// Whether it is a program on this machine, which does not come by itself if it is not there.
    fn is_program(&self) -> bool {
        false
    }

    /// How long to wait between two checks.
    fn check_interval(&self) -> Duration {
        Duration::from_secs(5)
    }

    /// Does the work, within the run's deadline.
    ///
    /// # Errors
    ///
    /// [`Ended::Hindered`] if the work was surely not done and may be later: the run then begins anew after a
    /// pause, until the time limit passes. [`Ended::Failed`] if it failed or did not end in time, [`Ended::Unknown`] if it may have been
    /// done, and would be paid for once more, [`Ended::Stopped`] when the service
    /// stops.
    fn run(&self, run: &Run<'_>) -> Result<Vec<Artifact>, Ended>;
}

/// One attempt at a task.
pub struct Run<'a> {
    /// The task's id: the same at every attempt.
    pub id: &'a str,
    pub input: &'a Map<String, Value>,
    pub outputs: &'a Outputs,
    pub stop: &'a Stop,
    /// The end of the time limit, which counts from the task's first attempt.
    pub deadline: Instant,
    pub time_limit: Duration,
    /// The error that ended the attempt before this one.
    pub last_error: Option<&'a str>,
    /// An earlier attempt has set the mark of [`Run::mark_sent`].
    pub sent: bool,
    pub store: &'a Store,
    /// Tells whoever asks how far it is.
    pub say: &'a dyn Fn(&str),
}

impl Run<'_> {
    /// Notes on the disk that the task is about to be sent to somebody who may want to be paid.
    ///
    /// # Errors
    ///
    /// [`Ended::Blocked`] if the store can't write it.
    pub fn mark_sent(&self) -> Result<(), Ended> {
        self.store.set_sent(self.id).map_err(blocked)
    }

    /// Takes the mark back: it was surely not taken. Repeated until the store can write it.
    ///
    /// # Errors
    ///
    /// As for [`Self::pause`].
    pub fn mark_unsent(&self) -> Result<(), Ended> {
        while let Err(error) = self.store.set_unsent(self.id) {
            tracing::error!("task {:.8}…: {error}", self.id);
            self.pause(WRITE_AGAIN)?;
        }
        Ok(())
    }

    /// Saves an answer that was paid for, so that an attempt after a restart continues from it. Without
    /// space for it, this attempt goes on all the same.
    pub fn save_answer(&self, answer: &[u8]) {
        if let Err(error) = self.store.save_answer(self.id, answer) {
            tracing::warn!("task {:.8}…: can't save the answer: {error}", self.id);
        }
    }

    /// Returns the answer that an earlier attempt has saved.
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

    /// Waits.
    ///
    /// # Errors
    ///
    /// [`Ended::Stopped`] when the service stops, [`Ended::Failed`] when the run's time is up.
    pub fn pause(&self, time: Duration) -> Result<(), Ended> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if self.stop.is_set_within(time.min(left)) {
            return Err(Ended::Stopped);
        }
        if time >= left {
            let message = out_of_time(self.time_limit, self.last_error);
            return Err(Ended::Failed(message));
        }
        Ok(())
    }

    /// Does what may block for long on a thread of its own, which is left to itself when the service
    /// stops or time is up.
    ///
    /// # Errors
    ///
    /// As for [`Self::pause`]; also [`Ended::Failed`] if the work panics.
    pub fn wait_for<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Ended> {
        let (done, waiting) = std::sync::mpsc::channel();
        std::thread::spawn(move || done.send(work()));
        loop {
            match waiting.recv_timeout(Duration::from_millis(100)) {
                Ok(result) => return Ok(result),
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => self.pause(Duration::ZERO)?,
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => {
                    return Err(Ended::Failed("The runner crashed on this input.".into()));
                }
            }
        }
    }

    /// Waits as long as a server asks before the next request (`Retry-After`), and returns why the task is
    /// deferred. A wait beyond the time limit is not begun: the task fails with `why`.
    pub fn deferred(&self, why: String, wait: Option<Duration>) -> Ended {
        let Some(wait) = wait else {
            return Ended::Hindered(why);
        };
        let (seconds, left) = (wait.as_secs(), self.time_left());
        if wait >= left {
            return Ended::Failed(format!(
                "{why} (the server takes the next request in {seconds} s; the task's time limit ends in {} s)",
                left.as_secs()
            ));
        }
        (self.say)(&format!("{why}; trying again in {seconds} s"));
        match self.pause(wait) {
            Ok(()) => Ended::Hindered(why),
            Err(ended) => ended,
        }
    }

    pub fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// The file of ours that a value is the path of.
    ///
    /// # Errors
    ///
    /// [`Ended::Blocked`] if the outputs' bucket does not answer.
    pub fn own_file(&self, value: &Value) -> Result<Option<PathBuf>, Ended> {
        match value.as_str() {
            Some(text) => self.outputs.own_file(text).map_err(blocked),
            None => Ok(None),
        }
    }

    /// What was given: without what was left out, and with files of this service's own as `file`
    /// writes them, in lists and objects, too.
    ///
    /// # Errors
    ///
    /// As for [`Self::own_file`], and as `file` fails.
    pub fn given(
        &self,
        file: impl Fn(&std::path::Path) -> Result<Value, Ended>,
    ) -> Result<Map<String, Value>, Ended> {
        let given = self.input.iter().filter(|(_, value)| !value.is_null());
        given
            .map(|(name, value)| Ok((name.clone(), self.with_files(value, &file)?)))
            .collect()
    }

    fn with_files(
        &self,
        value: &Value,
        file: &impl Fn(&std::path::Path) -> Result<Value, Ended>,
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
                Value::Object(fields.iter().map(field).collect::<Result<_, _>>()?)
            }
            other => other.clone(),
        })
    }
}

fn blocked(error: impl std::fmt::Display) -> Ended {
    Ended::Blocked(error.to_string())
}

/// Says that the time limit of a task has passed, and the last error of its attempts, if there was one.
pub fn out_of_time(limit: Duration, last_error: Option<&str>) -> String {
    let limit = limit.as_secs();
    let last = last_error.map(|error| format!(" The last error: {error}"));
    let last = last.unwrap_or_default();
    format!("The model did not finish within its time limit of {limit} s.{last}")
}

/// A model that runs elsewhere.
pub struct Remote {
    id: ModelId,
    words: Words,
    at_once: usize,
    time_limit: Duration,
    runner: Box<dyn Runner>,
    /// Why it is away, if it is.
    away: Mutex<Option<String>>,
}

/// What the file of models says of one for people.
#[derive(Debug, Clone, Default)]
pub struct Words {
    pub name: String,
    pub description: String,
    pub makes: Option<Media>,
    pub preview: Option<String>,
    /// Addresses of anywhere are passed on to where it runs.
    pub addresses: bool,
}

impl Remote {
    pub fn new(
        id: ModelId,
        words: Words,
        at_once: usize,
        time_limit: Duration,
        runner: Box<dyn Runner>,
    ) -> Self {
        Self {
            id,
            words,
            at_once,
            time_limit,
            runner,
            away: Mutex::new(None),
        }
    }

    pub fn id(&self) -> &ModelId {
        &self.id
    }

    /// How many tasks it is given at the same time.
    pub fn at_once(&self) -> usize {
        self.at_once
    }

    pub fn time_limit(&self) -> Duration {
        self.time_limit
    }

    /// The address of its preview, where one was named.
    pub fn preview(&self) -> Option<&str> {
        self.words.preview.as_deref()
    }

    /// Whether addresses of anywhere are passed on.
    pub fn takes_addresses(&self) -> bool {
        self.words.addresses
    }

    /// Why it is away, if it is.
    pub fn away(&self) -> Option<String> {
        self.lock().clone()
    }

    /// Asks whether it is there, and remembers the answer. Blocks.
    pub fn check(&self) {
        let found = self.runner.check().err();
        let mut away = self.lock();
        match (&*away, &found) {
            (None, Some(why)) => tracing::warn!("{} is away: {why}", self.id),
            (Some(_), None) => tracing::info!("{} is back", self.id),
            _ => {}
        }
        *away = found;
    }

    pub fn is_program(&self) -> bool {
        self.runner.is_program()
    }

    pub fn check_interval(&self) -> Duration {
        self.runner.check_interval()
    }

    /// Takes a task to its end.
    ///
    /// # Errors
    ///
    /// As for [`Runner::run`].
    pub fn run(&self, run: &Run<'_>) -> Result<Vec<Artifact>, Ended> {
        self.runner.run(run)
    }

    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        self.away.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Model for Remote {
    fn about(&self) -> About<'_> {
        About {
            name: &self.words.name,
            category: &self.id.category,
            subcategory: &self.id.subcategory,
            description: &self.words.description,
            details: &[],
        }
    }

    fn schema(&self) -> Schema {
        Schema {
            model: self.id.clone(),
            parameters: self.runner.parameters(),
        }
    }

    /// Something for each parameter that must be given, for examples.
    fn sample(&self) -> Value {
        let schema = self.schema();
        let sample = schema.parameters().filter(|(_, required)| *required);
        let value = |parameter: &atelier_contract::Parameter| {
            let allowed = parameter.allowed_values.as_deref().unwrap_or_default();
            let bound = parameter.minimum.clone().or(parameter.maximum.clone());
            match parameter.kind() {
                Kind::Enum => allowed.first().cloned().unwrap_or_default(),
                Kind::Integer | Kind::Number => bound.map_or(json!(1), Value::Number),
                Kind::Boolean => json!(false),
                Kind::Array => json!([]),
                Kind::Object => json!({}),
                Kind::Text | Kind::Unknown => json!("a lighthouse at dusk"),
            }
        };
        sample
            .map(|(parameter, _)| {
                let default = parameter.default.clone();
                (
                    parameter.name.clone(),
                    default.unwrap_or_else(|| value(parameter)),
                )
            })
            .collect::<Map<_, _>>()
            .into()
    }

    fn extension(&self) -> &'static str {
        match self.words.makes {
            Some(Media::Image) => "png",
            Some(Media::Video) => "webm",
            Some(Media::Audio) => "wav",
            None => "",
        }
    }

    fn seconds(&self, _input: &Map<String, Value>) -> f64 {
        0.0
    }

    fn hears(&self, _sense: &Sense) -> bool {
        false
    }

    fn poster(&self, _job: &Job<'_>) -> Result<Canvas, Ended> {
        Err(elsewhere())
    }

    fn run(&self, _job: &Job<'_>) -> Result<Vec<Artifact>, Ended> {
        Err(elsewhere())
    }
}

fn elsewhere() -> Ended {
    Ended::Failed("This model runs elsewhere.".into())
}
