//! The models: the procedural ones, one file each, all deterministic by their seed; and, in addition to
//! or instead of them, those that run elsewhere ([`crate::runner`]).

use std::sync::Arc;

use atelier_contract::{Draft, ModelId, Parameter, Problem, Schema};
use serde_json::{Map, Number, Value};

mod fluxfield;
mod input;
mod model;
mod pace;
mod repaint;
mod reverie;
pub mod sample_path;
pub mod schema;
mod silk;
mod strata;
mod tessera;

pub use input::Input;
pub use model::{About, FAIL_WORD, Frame, Job, Model};
pub use pace::{Ended, Pace, Stop};

use crate::art::canvas::Canvas;
use crate::art::grain::Grain;
use crate::art::rng::Rng;
use crate::outputs::Artifact;
use crate::runner::Remote;

/// Every model that this service offers.
pub struct Models {
    remotes: Vec<Arc<Remote>>,
    built_in: Vec<Box<dyn Model>>,
}

impl Models {
    /// The procedural ones.
    pub fn built_in() -> Self {
        Self {
            remotes: Vec::new(),
            built_in: vec![
                Box::new(strata::Strata),
                Box::new(fluxfield::Fluxfield),
                Box::new(tessera::Tessera),
                Box::new(repaint::Repaint),
                Box::new(silk::Silk),
                Box::new(reverie::Reverie),
            ],
        }
    }

    pub fn none() -> Self {
        Self {
            remotes: Vec::new(),
            built_in: Vec::new(),
        }
    }

    /// Adds models that run elsewhere.
    pub fn add(&mut self, remotes: &[Arc<Remote>]) {
        self.remotes.extend_from_slice(remotes);
    }

    /// Gives all models. Those that run elsewhere come first, because the operator has set them up.
    pub fn iter(&self) -> impl Iterator<Item = &dyn Model> {
        self.remotes().map(|remote| remote as _).chain(self.here())
    }

    /// Gives the models that are drawn by this service.
    pub fn here(&self) -> impl Iterator<Item = &dyn Model> {
        self.built_in.iter().map(Box::as_ref)
    }

    /// Gives the models that run elsewhere: nothing is made of them here, no sample either.
    pub fn remotes(&self) -> impl Iterator<Item = &Remote> {
        self.remotes.iter().map(Arc::as_ref)
    }

    pub fn find(&self, id: &ModelId) -> Option<&dyn Model> {
        self.iter().find(|model| model.id() == *id)
    }

    /// The model, if it runs elsewhere.
    pub fn remote(&self, id: &ModelId) -> Option<&Remote> {
        self.remotes().find(|remote| remote.id() == id)
    }

    /// The complete input of a model's sample.
    ///
    /// # Errors
    ///
    /// A sentence: the model's own sample does not fit its schema.
    pub fn sample_input(&self, model: &dyn Model) -> Result<Map<String, Value>, String> {
        let mut sample = model.sample();
        if let Some(source) = model.sample_source().and_then(|id| self.find(&id)) {
            sample["image_url"] = sample_path::preview(source).into();
        }
        let sample = sample.as_object().cloned().unwrap_or_default();
        complete(&model.schema(), &sample).map_err(|problems| {
            let messages: Vec<String> = problems.into_iter().map(|p| p.message).collect();
            messages.join("; ")
        })
    }
}

/// Checks the values given and adds what was left out: the defaults, and a seed if there is one
/// to choose. The result says all that decides the output.
///
/// # Errors
///
/// All that is wrong with the values, as [`Schema::validate`] finds it.
pub fn complete(
    schema: &Schema,
    values: &Map<String, Value>,
) -> Result<Map<String, Value>, Vec<Problem>> {
    let input = schema.validate(&Draft::from_values(values), true)?;
    let mut complete = input.values().clone();
    for (parameter, _) in schema.parameters() {
        if parameter.is_seed() && !complete.contains_key(&parameter.name) {
            let seed = random_within(parameter);
            complete.extend(seed.map(|seed| (parameter.name.clone(), seed.into())));
        }
    }
    Ok(complete)
}

/// A number that the schema permits; none where it does not say which are: a model that runs elsewhere
/// may take fewer than there are.
fn random_within(parameter: &Parameter) -> Option<u64> {
    let most = parameter.maximum.as_ref()?.as_u64()?;
    let least = parameter.minimum.as_ref().and_then(Number::as_u64);
    let (least, random) = (least.unwrap_or(0), getrandom::u64().unwrap_or(0));
    Some(match most.checked_sub(least)?.checked_add(1) {
        Some(count) => least + random % count,
        None => random,
    })
}

/// A picture before it becomes a file.
struct Picture {
    canvas: Canvas,
    /// Strength of the grain, in steps of a byte.
    grain: f32,
}

/// Makes `num_outputs` pictures, each from a stream of random numbers of its own.
fn variations(
    job: &Job<'_>,
    paint: impl Fn(&Job<'_>, &mut Rng) -> Picture,
) -> Result<Vec<Artifact>, Ended> {
    let count = job.input.integer("num_outputs").max(1);
    job.pace.reach(0.1)?;
    (0..count)
        .map(|n| {
            let mut rng = job.rng(n);
            let picture = paint(job, &mut rng);
            let artifact = picture.file(&mut rng)?;
            job.pace.reach(0.1 + 0.9 * (n + 1) as f64 / count as f64)?;
            Ok(artifact)
        })
        .collect()
}

impl Picture {
    fn file(&self, rng: &mut Rng) -> Result<Artifact, Ended> {
        let bytes = self
            .canvas
            .png(&Grain::new(rng, self.grain))
            .map_err(|error| Ended::Failed(format!("The image could not be encoded: {error}.")))?;
        Ok(Artifact {
            extension: "png",
            bytes,
        })
    }
}

#[cfg(test)]
mod tests;
