//! Writing down a model's parameters.

use atelier_contract::{ModelId, Parameter, Parameters, Schema};
use serde_json::{Map, Number, Value, json};

use super::{About, Model};
use crate::art::vocabulary;

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
    let mut prompt = text("prompt", LONGEST_PROMPT, description);
    let words: Vec<Value> = vocabulary::entries()
        .filter(|entry| entry.senses.iter().any(|sense| model.hears(sense)))
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
        ..parameter(
            "seed",
            "integer",
            "The same seed with the same input gives the same file, byte for byte. Leave it out for a random one.",
        )
    }
}

/// How many images to make, 1 to 4.
pub fn num_outputs() -> Parameter {
    integer("num_outputs", 1, 1, 4, "How many variations to make.")
}

/// The shape of the picture; 1024 pixels on its longer side.
pub fn aspect_ratio(default: &str) -> Parameter {
    let ratios = ["1:1", "3:2", "2:3", "4:3", "3:4", "16:9", "9:16"];
    choice(
        "aspect_ratio",
        &ratios,
        default,
        "Width to height. The longer side is 1024 pixels.",
    )
}

/// A text of at most so many characters.
pub fn text(name: &str, most: u64, description: &str) -> Parameter {
    let mut text = parameter(name, "string", description);
    text.extra.insert("maxLength".into(), most.into());
    text
}

pub fn choice(name: &str, values: &[&str], default: &str, description: &str) -> Parameter {
    Parameter {
        default: Some(default.into()),
        allowed_values: Some(values.iter().map(|value| json!(value)).collect()),
        ..parameter(name, "enum", description)
    }
}

/// A choice between whole numbers; they are numbers on the wire, not texts.
pub fn number_choice(name: &str, values: &[u64], default: u64, description: &str) -> Parameter {
    Parameter {
        default: Some(default.into()),
        allowed_values: Some(values.iter().map(|value| json!(value)).collect()),
        ..parameter(name, "enum", description)
    }
}

pub fn integer(name: &str, default: u64, min: u64, max: u64, description: &str) -> Parameter {
    Parameter {
        default: Some(default.into()),
        minimum: Some(min.into()),
        maximum: Some(max.into()),
        ..parameter(name, "integer", description)
    }
}

pub fn float(name: &str, default: f64, min: f64, max: f64, description: &str) -> Parameter {
    Parameter {
        default: Some(json!(default)),
        minimum: Number::from_f64(min),
        maximum: Number::from_f64(max),
        ..parameter(name, "float", description)
    }
}

pub fn boolean(name: &str, default: bool, description: &str) -> Parameter {
    Parameter {
        default: Some(default.into()),
        ..parameter(name, "boolean", description)
    }
}

fn parameter(name: &str, type_name: &str, description: &str) -> Parameter {
    Parameter {
        name: name.to_owned(),
        type_name: type_name.to_owned(),
        description: description.to_owned(),
        default: None,
        allowed_values: None,
        minimum: None,
        maximum: None,
        extra: Map::new(),
    }
}
