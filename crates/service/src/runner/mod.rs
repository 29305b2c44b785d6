//! Remote models: they run in a program, in a container, or on another server. Each kind is a [`Runner`] in its own
//! module; [`Remote`] is the model.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use atelier_contract::{Kind, Media, ModelId, Parameters, Schema};
use serde_json::{Map, Value, json};

use crate::model::{About, Ended, Model};
use crate::outputs::Artifact;

pub mod addresses;
pub mod cog;
pub mod collected;
pub mod comfyui;
pub mod command;
pub mod fetch;
pub mod file;
pub mod form;
pub mod guard;
pub mod http;
pub mod lines;
pub mod openai;
pub mod pictures;
pub mod run;
pub mod watch;

pub use run::{Run, time_limit_message};

/// Runs tasks of a remote model.
pub trait Runner: Send + Sync {
    /// Returns the parameters of the model, as far as they are known.
    fn parameters(&self) -> Parameters;

    /// Checks whether the model is available. Blocks.
    ///
    /// # Errors
    ///
    /// Returns a message that says why the model is unavailable.
    fn check(&self) -> Result<(), String>;

    /// Returns a note about the parameters, after the first successful check.
    fn note(&self) -> Option<String> {
        None
    }

    /// Returns whether the model is a program on this machine. If it is unavailable, the operator has to fix that.
    fn is_program(&self) -> bool {
        false
    }

    /// Returns warnings about the model's entry in the models file, each with what to do. The model runs anyway.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the interval between two checks.
    fn check_interval(&self) -> Duration {
        Duration::from_secs(5)
    }

    /// Runs a task, within the run's deadline.
    ///
    /// # Errors
    ///
    /// [`Ended::Retry`] if the work was certainly not done: the task is retried after a pause, until its time limit
    /// expires. [`Ended::Failed`] if it failed or did not end in time,
    /// [`Ended::Unknown`] if it may have been done and another run might cost money again, [`Ended::Stopped`] when
    /// the service stops or the task is canceled.
    fn run(&self, run: &Run<'_>) -> Result<Vec<Artifact>, Ended>;

    /// Stops a canceled task that an attempt, also one of an earlier process, may have left running. Blocks until the
    /// model has answered, or its calls have timed out.
    ///
    /// # Errors
    ///
    /// Returns why it may still be running. The call is repeated then, for a limited time.
    fn stop(&self, _id: &str) -> Result<Stopped, String> {
        Ok(Stopped::Yes)
    }
}

/// The state of a canceled task at its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    Yes,
    /// The model does not know the task: it has ended, or the request that starts it is still on its way.
    Unknown,
}

/// A remote model.
pub struct Remote {
    id: ModelId,
    info: ModelInfo,
    at_once: usize,
    time_limit: Duration,
    runner: Box<dyn Runner>,
    /// Why the model is unavailable, if it is.
    unavailable: Mutex<Option<String>>,
}

/// The information about a model in the models file that does not depend on its runner.
#[derive(Debug, Clone, Default)]
pub struct ModelInfo {
    pub name: String,
    pub description: String,
    pub makes: Option<Media>,
    pub preview: Option<String>,
    /// Whether all http(s) addresses are passed on to the model.
    pub addresses: bool,
    /// Another name of the model in OpenAI's API.
    pub alias: Option<String>,
}

impl Remote {
    pub fn new(
        id: ModelId,
        info: ModelInfo,
        at_once: usize,
        time_limit: Duration,
        runner: Box<dyn Runner>,
    ) -> Self {
        Self {
            id,
            info,
            at_once,
            time_limit,
            runner,
            unavailable: Mutex::new(None),
        }
    }

    pub fn id(&self) -> &ModelId {
        &self.id
    }

    /// Returns the number of tasks that may run concurrently.
    pub fn at_once(&self) -> usize {
        self.at_once
    }

    pub fn time_limit(&self) -> Duration {
        self.time_limit
    }

    /// Returns the address of the preview, if the models file has one.
    pub fn preview(&self) -> Option<&str> {
        self.info.preview.as_deref()
    }

    /// Returns another name of the model in OpenAI's API.
    pub fn alias(&self) -> Option<&str> {
        self.info.alias.as_deref()
    }

    /// Returns whether all http(s) addresses are passed on to the model.
    pub fn accepts_addresses(&self) -> bool {
        self.info.addresses
    }

    /// Returns why the model is unavailable; `None` if it is available.
    pub fn unavailable(&self) -> Option<String> {
        self.lock().clone()
    }

    /// Returns a note about the parameters, after the first successful check.
    pub fn note(&self) -> Option<String> {
        self.runner.note()
    }

    /// Checks whether the model is available, and stores the result. Blocks.
    pub fn check(&self) {
        let found = self.runner.check().err();
        let mut unavailable = self.lock();
        match (&*unavailable, &found) {
            (None, Some(why)) => tracing::warn!("{} is unavailable: {why}", self.id),
            (Some(_), None) => tracing::info!("{} is available again", self.id),
            _ => {}
        }
        *unavailable = found;
    }

    pub fn is_program(&self) -> bool {
        self.runner.is_program()
    }

    /// Returns warnings about the model's entry in the models file.
    pub fn warnings(&self) -> Vec<String> {
        self.runner.warnings()
    }

    pub fn check_interval(&self) -> Duration {
        self.runner.check_interval()
    }

    /// Runs a task.
    ///
    /// # Errors
    ///
    /// As for [`Runner::run`].
    pub fn run(&self, run: &Run<'_>) -> Result<Vec<Artifact>, Ended> {
        self.runner.run(run)
    }

    /// Stops a canceled task that may still be running.
    ///
    /// # Errors
    ///
    /// As for [`Runner::stop`].
    pub fn stop(&self, id: &str) -> Result<Stopped, String> {
        self.runner.stop(id)
    }

    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        self.unavailable
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Model for Remote {
    fn about(&self) -> About<'_> {
        About {
            name: &self.info.name,
            category: &self.id.category,
            subcategory: &self.id.subcategory,
            description: &self.info.description,
            details: &[],
        }
    }

    fn schema(&self) -> Schema {
        Schema {
            model: self.id.clone(),
            parameters: self.runner.parameters(),
            secrets: Default::default(),
        }
    }

    /// Returns a value for each required parameter.
    fn sample(&self) -> Value {
        let schema = self.schema();
        let sample = schema.parameters().filter(|(_, required)| *required);
        let value = |parameter: &atelier_contract::Parameter| {
            let allowed = parameter.choices();
            let bound = parameter.minimum.clone().or(parameter.maximum.clone());
            match parameter.kind() {
                Kind::Enum => allowed.first().cloned().unwrap_or_default(),
                Kind::Integer | Kind::Number => bound.map_or(json!(1), Value::Number),
                Kind::Boolean => json!(false),
                Kind::MultiChoice => json!(allowed.first().into_iter().collect::<Vec<_>>()),
                Kind::Array => json!([]),
                Kind::Object => json!({}),
                Kind::Text if parameter.is_secret() => json!(secret_sample(&parameter.name)),
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
        match self.info.makes {
            Some(Media::Image) => "png",
            Some(Media::Video) => "webm",
            Some(Media::Audio) => "wav",
            None => "",
        }
    }
}

/// Returns the placeholder of a secret in examples.
fn secret_sample(name: &str) -> String {
    format!("YOUR_{}", name.to_uppercase())
}
