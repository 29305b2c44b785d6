//! The models that the service offers: procedural ones ([`atelier_procedural`]) and, in addition or instead, remote
//! ones ([`crate::runner`]).

use std::fs;
use std::io::ErrorKind;
use std::sync::Arc;

use atelier_contract::{ModelId, Problem, Schema};
use atelier_procedural::Error;
use serde_json::{Map, Value};

use crate::model::{BuiltIn, Model};
use crate::outputs::Outputs;
use crate::picture::to_plain_png;
use crate::runner::Remote;

pub mod sample_path;

/// Every model that this service offers.
pub struct Models {
    remotes: Vec<Arc<Remote>>,
    built_in: Vec<BuiltIn>,
}

impl Models {
    /// Returns the procedural models.
    pub fn built_in() -> Self {
        Self {
            remotes: Vec::new(),
            built_in: BuiltIn::all(),
        }
    }

    pub fn empty() -> Self {
        Self {
            remotes: Vec::new(),
            built_in: Vec::new(),
        }
    }

    /// Adds remote models.
    pub fn add(&mut self, remotes: &[Arc<Remote>]) {
        self.remotes.extend_from_slice(remotes);
    }

    /// Returns all models. Remote models come first, because the operator has configured them.
    pub fn iter(&self) -> impl Iterator<Item = &dyn Model> {
        let built_in = self.built_in.iter().map(|model| model as _);
        self.remotes().map(|remote| remote as _).chain(built_in)
    }

    /// Returns the models that this service runs itself.
    pub fn built_in_models(&self) -> &[BuiltIn] {
        &self.built_in
    }

    /// Returns the remote models. They have no samples.
    pub fn remotes(&self) -> impl Iterator<Item = &Remote> {
        self.remotes.iter().map(Arc::as_ref)
    }

    pub fn find(&self, id: &ModelId) -> Option<&dyn Model> {
        self.iter().find(|model| model.id() == *id)
    }

    /// Returns the remote model of that name.
    pub fn remote(&self, id: &ModelId) -> Option<&Remote> {
        self.remotes().find(|remote| remote.id() == id)
    }

    /// Returns the built-in model of that name.
    pub fn find_built_in(&self, id: &ModelId) -> Option<&BuiltIn> {
        let has_id = |model: &&BuiltIn| (*model as &dyn Model).id() == *id;
        self.built_in.iter().find(has_id)
    }

    /// Returns the complete sample input of a built-in model.
    ///
    /// # Errors
    ///
    /// A message if the model's sample does not match its schema.
    pub fn sample_input(&self, model: &BuiltIn) -> Result<Map<String, Value>, String> {
        let mut sample = model.sample();
        if let Some(source) = model.sample_source().and_then(|id| self.find_built_in(&id)) {
            sample["image_url"] = sample_path::preview(source).into();
        }
        let sample = sample.as_object().cloned().unwrap_or_default();
        complete(&model.schema(), &sample).map_err(|problems| {
            let messages: Vec<String> = problems.into_iter().map(|p| p.message).collect();
            messages.join("; ")
        })
    }
}

/// Validates the values and adds defaults; see [`Schema::complete`].
///
/// # Errors
///
/// All problems, as [`Schema::validate`] finds them.
pub fn complete(
    schema: &Schema,
    values: &Map<String, Value>,
) -> Result<Map<String, Value>, Vec<Problem>> {
    schema.complete(values, || getrandom::u64().unwrap_or(0))
}

/// Reads an earlier output or an upload by its address, as PNG for a procedural model.
pub fn open_output(outputs: &Outputs) -> impl Fn(&str) -> Result<Vec<u8>, Error> {
    let missing = || Error::Failed("The input image is no longer there.".to_owned());
    move |address| {
        let file = outputs
            .own_file(address)
            .map_err(|error| Error::Unavailable(error.to_string()))?
            .ok_or_else(missing)?;
        let bytes = fs::read(&file).map_err(|error| match error.kind() {
            ErrorKind::NotFound => missing(),
            _ => Error::Unavailable(format!("{}: {error}", file.display())),
        })?;
        to_plain_png(bytes)
            .map_err(|error| Error::Failed(format!("The input image can't be read: {error}.")))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use image::{DynamicImage, ImageFormat};

    use super::*;
    use crate::outputs::Artifact;

    #[test]
    fn opens_existing_outputs_and_fails_for_others() {
        let dir = tempfile::tempdir().unwrap();
        let outputs = Outputs::open(dir.path().to_owned()).unwrap();
        let mut png = Cursor::new(Vec::new());
        let image = DynamicImage::new_rgb8(2, 2);
        image.write_to(&mut png, ImageFormat::Png).unwrap();
        let png = png.into_inner();
        let artifact = |bytes| Artifact {
            extension: "png",
            bytes,
        };
        let artifacts = [artifact(png.clone()), artifact(vec![1, 2, 3])];
        outputs.save("ab12", &artifacts).unwrap();
        let open = open_output(&outputs);
        assert_eq!(open("/outputs/ab12/0.png"), Ok(png));
        assert!(matches!(open("/outputs/ab12/1.png"), Err(Error::Failed(_))));
        for gone in ["/outputs/ab13/0.png", "https://elsewhere.example/0.png", ""] {
            assert!(matches!(open(gone), Err(Error::Failed(_))), "{gone}");
        }
    }
}
