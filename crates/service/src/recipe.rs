//! Writes recipes into output files: the model, the inputs without secrets, and the time of the task.

use std::panic::{AssertUnwindSafe, catch_unwind};

use atelier_contract::ModelId;
use atelier_metadata::recipe::{Recipe, rfc3339};
use atelier_metadata::{DigitalSourceType, Entries, Format, read, write};
use serde_json::{Map, Value};

use crate::config::{Config, Switch};
use crate::outputs::Artifact;

/// The name of the service in recipes, unless `--public-url` is given.
const NAME: &str = "atelier-service";

/// Larger files stay as they are: a changed copy takes as much memory again.
const MAX_BYTES: usize = 64 << 20;

/// Metadata that encoders write into every file, and which says nothing about how its contents were made.
const OF_ENCODERS: [&str; 4] = ["ENCODER", "DURATION", "ISFT", "Software"];

/// Writes the recipes of one service.
#[derive(Debug, Clone)]
pub struct Recipes {
    service: String,
}

/// The task that made some files.
pub struct Made<'a> {
    pub task: &'a str,
    pub model: &'a ModelId,
    /// Without secrets.
    pub input: &'a Map<String, Value>,
    /// The time of creation, in milliseconds since 1970, as stored: a repeated attempt makes the same bytes.
    pub created: i64,
    /// Whether the model is a remote one, whose files may have metadata of their own.
    pub is_remote: bool,
    /// `None` if it is unknown: a program may do anything.
    pub source: Option<DigitalSourceType>,
}

impl Recipes {
    /// Returns `None` if `--embed-recipe` is off.
    pub fn new(config: &Config) -> Option<Self> {
        let service = config.public_url.clone();
        (config.embed_recipe == Switch::On).then(|| Self {
            service: service.unwrap_or_else(|| NAME.to_owned()),
        })
    }

    /// Writes the recipe into each file that can carry one. Files of remote models that have metadata already stay as they
    /// are, and so does any file that can't be changed: an output is never lost because of its recipe.
    pub fn write_into(&self, artifacts: &mut [Artifact], made: &Made<'_>) {
        let created_at = u64::try_from(made.created).ok().map(rfc3339);
        let recipe = Recipe {
            model: &made.model.to_string(),
            inputs: made.input,
            service: &self.service,
            created_at: created_at.as_deref(),
            task: made.task,
        };
        let entries = recipe.entries(made.source);
        for artifact in artifacts {
            if let Some(bytes) = changed(&artifact.bytes, &entries, made.is_remote) {
                artifact.bytes = bytes;
            }
        }
    }
}

/// Returns the file with the entries, or `None` if it stays as it is.
fn changed(bytes: &[u8], entries: &Entries, is_remote: bool) -> Option<Vec<u8>> {
    // Texts and files of other types are not searched.
    let is_writable =
        bytes.len() <= MAX_BYTES && Format::of(bytes).is_some_and(|format| format != Format::Mp4);
    let change = || match is_writable && !(is_remote && has_own_metadata(bytes)) {
        true => write(bytes, entries).ok(),
        false => None,
    };
    catch_unwind(AssertUnwindSafe(change)).unwrap_or_default()
}

/// Returns whether a file says how it was made, such as the workflow in an image of ComfyUI.
fn has_own_metadata(bytes: &[u8]) -> bool {
    let metadata = read(bytes);
    let is_own = |name: &str| !OF_ENCODERS.contains(&name);
    metadata.is_incomplete
        || metadata.has_content_credentials
        || metadata.digital_source_type.is_some()
        || metadata.entries.iter().any(|entry| is_own(&entry.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_of_a_trained_model_is_marked_and_a_large_file_stays_as_it_is() {
        let mut png = std::io::Cursor::new(Vec::new());
        let image = image::DynamicImage::new_rgb8(2, 2);
        image.write_to(&mut png, image::ImageFormat::Png).unwrap();
        let small = png.into_inner();
        let mut large = small.clone();
        large.resize(MAX_BYTES + 1, 0);
        let artifact = |bytes: &[u8]| Artifact {
            extension: "png",
            bytes: bytes.to_vec(),
        };
        let mut artifacts = [artifact(&small), artifact(&large)];
        let recipes = Recipes {
            service: NAME.to_owned(),
        };
        let made = Made {
            task: "3f2c1a9b0123",
            model: &ModelId::new("image", "own"),
            input: &Map::new(),
            created: 0,
            is_remote: true,
            source: Some(DigitalSourceType::TrainedAlgorithmicMedia),
        };
        recipes.write_into(&mut artifacts, &made);
        let source = DigitalSourceType::TrainedAlgorithmicMedia.uri();
        let metadata = read(&artifacts[0].bytes);
        assert_eq!(metadata.digital_source_type.as_deref(), Some(source));
        assert!(artifacts[1].bytes == large);
    }
}
