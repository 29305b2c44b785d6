//! Models that run elsewhere: in a program of one's own, in a container, behind another service.
//! Each kind of place is one file here, a [`Runner`]; [`Remote`] makes a model of it.

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
pub mod guard;
pub mod http;
pub mod openai;
pub mod pictures;
pub mod run;
pub mod watch;

pub use run::{Run, out_of_time};

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

    /// Says what is to be known of its parameters, once it has been checked.
    fn note(&self) -> Option<String> {
        None
    }

    /// Whether it is a program on this machine, which does not come by itself if it is not there.
    fn is_program(&self) -> bool {
        false
    }

    /// Lists what looks like a mistake in its entry, each with what to do. The model runs all the same.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// How long to wait between two checks.
    fn check_interval(&self) -> Duration {
        Duration::from_secs(5)
    }

    /// Does the work, within the run's deadline.
    ///
    /// # Errors
    ///
    /// [`Ended::Hindered`] if the work was surely not done and may be later: the task is tried again after a
    /// pause, until its time limit passes. [`Ended::Failed`] if it failed or did not end in time,
    /// [`Ended::Unknown`] if it may have been done, and would be paid for once more, [`Ended::Stopped`] when
    /// the service stops.
    fn run(&self, run: &Run<'_>) -> Result<Vec<Artifact>, Ended>;
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

    /// What is to be known of its parameters, once it has been checked.
    pub fn note(&self) -> Option<String> {
        self.runner.note()
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

    /// Lists what looks like a mistake in its entry of the models file.
    pub fn warnings(&self) -> Vec<String> {
        self.runner.warnings()
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
            secrets: Default::default(),
        }
    }

    /// Something for each parameter that must be given, for examples.
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
        match self.words.makes {
            Some(Media::Image) => "png",
            Some(Media::Video) => "webm",
            Some(Media::Audio) => "wav",
            None => "",
        }
    }
}

/// What examples have in place of a secret.
fn secret_sample(name: &str) -> String {
    format!("YOUR_{}", name.to_uppercase())
}
