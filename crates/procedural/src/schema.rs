//! The parameters that several models share.

use atelier_contract::{ModelId, Parameter, Parameters, Schema};
use serde_json::{Value, json};

use crate::draw::vocabulary;
use crate::{About, Model};

/// The longest prompt, in characters; ten of them fit into the body of a batch.
const LONGEST_PROMPT: u64 = 10_000;

/// A model's schema.
pub fn schema(about: About<'_>, required: Vec<Parameter>, optional: Vec<Parameter>) -> Schema {
    Schema {
        model: ModelId::new(about.category, about.subcategory),
        parameters: Parameters { required, optional },
        secrets: Parameters::default(),
    }
}

/// The prompt that every model has, with the words that this one understands. No part of INTERFACE.
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

/// The seed that every model has. Without one, a random one is chosen.
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

/// How many images to make, 1 to 4.
pub fn num_outputs() -> Parameter {
    Parameter::integer("num_outputs", 1, 1, 4, "How many variations to make.")
}

/// The shape of the picture; 1024 pixels on its longer side.
pub fn aspect_ratio(default: &str) -> Parameter {
    let ratios = ["1:1", "3:2", "2:3", "4:3", "3:4", "16:9", "9:16"];
    Parameter::choice(
        "aspect_ratio",
        &ratios,
        default,
        "Width to height. The longer side is 1024 pixels.",
    )
}
