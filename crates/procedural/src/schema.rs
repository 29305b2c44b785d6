//! The parameters that several models share.

use atelier_contract::{ModelId, Parameter, Parameters, Schema};
use serde_json::{Value, json};

use crate::draw::vocabulary;
use crate::{About, Model};

/// The maximum length of a prompt, in characters; ten of them fit into the body of a batch.
const LONGEST_PROMPT: u64 = 10_000;

/// Creates a model's schema.
pub fn schema(about: About<'_>, required: Vec<Parameter>, optional: Vec<Parameter>) -> Schema {
    Schema {
        model: ModelId::new(about.category, about.subcategory),
        parameters: Parameters { required, optional },
        secrets: Parameters::default(),
    }
}

/// Creates the prompt parameter, with the words that the model understands as an extension of INTERFACE.
pub fn prompt(model: &dyn Model, description: &str) -> Parameter {
    let mut prompt = Parameter::text("prompt", LONGEST_PROMPT, description);
    let words: Vec<Value> = vocabulary::entries()
        .filter(|entry| entry.senses.iter().any(|sense| model.understands(sense)))
        .flat_map(|entry| {
            entry
                .words
                .iter()
                .map(|word| json!({"word": word, "kind": entry.kind}))
        })
        .collect();
    prompt.extra.insert("vocabulary".into(), words.into());
    prompt
}

/// Creates the seed parameter. Without a value, a random seed is chosen.
pub fn seed() -> Parameter {
    Parameter {
        minimum: Some(0.into()),
        maximum: Some(u64::MAX.into()),
        ..Parameter::of_type(
            "integer",
            "seed",
            "The same seed with the same input gives the same file, byte for byte. Leave it out for a random one.",
        )
    }
}

/// Creates the parameter for the number of images, 1 to 4.
pub fn num_outputs() -> Parameter {
    Parameter::integer("num_outputs", 1, 1, 4, "How many variations to make.")
}

/// Creates the aspect ratio parameter; the longer side has 1024 pixels.
pub fn aspect_ratio(default: &str) -> Parameter {
    let ratios = ["1:1", "3:2", "2:3", "4:3", "3:4", "16:9", "9:16"];
    Parameter::choice(
        "aspect_ratio",
        &ratios,
        default,
        "Width to height. The longer side is 1024 pixels.",
    )
}
