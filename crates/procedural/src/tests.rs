mod landscapes;
mod words;

use super::*;
use crate::draw::canvas::Canvas;
use atelier_contract::{ModelId, python_file};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

impl dyn Model + '_ {
    fn id(&self) -> ModelId {
        self.schema().model
    }
}

fn find(id: &ModelId) -> Box<dyn Model> {
    let found = models().into_iter().find(|model| model.id() == *id);
    found.unwrap_or_else(|| panic!("there is no {id}"))
}

fn complete(model: &dyn Model, values: &Value) -> Map<String, Value> {
    let values = values.as_object().unwrap();
    model.schema().complete(values, || 7).unwrap()
}

fn sample(model: &dyn Model) -> Map<String, Value> {
    let mut sample = model.sample();
    if let Some(source) = model.sample_source() {
        sample["image_url"] = source.to_string().into();
    }
    complete(model, &sample)
}

fn make(model: &dyn Model, input: &Map<String, Value>) -> Vec<File> {
    // The URL is the id of the model that made the file.
    let open = |address: &str| {
        let source = model.sample_source().filter(|id| id.to_string() == address);
        let source = find(&source.unwrap());
        let mut files = source.make(&Job::new(&sample(source.as_ref())))?;
        Ok(files.remove(0).bytes)
    };
    let job = Job {
        open: &open,
        ..Job::new(input)
    };
    model.make(&job).unwrap()
}

/// Returns the sample input with the shortest permitted duration.
fn short_sample(model: &dyn Model) -> Map<String, Value> {
    let mut input = sample(model);
    if let Some((duration, _)) = model.schema().parameter("duration") {
        input.insert("duration".into(), json!(duration.minimum));
    }
    input
}

#[test]
fn output_is_determined_by_input_and_seed() {
    for model in models() {
        let model = model.as_ref();
        let mut input = short_sample(model);
        let first = make(model, &input);
        assert_eq!(first, make(model, &input), "{}", model.id());
        assert!(first.iter().all(|file| file.extension == model.extension()));
        let seed = input["seed"].as_u64().unwrap();
        input.insert("seed".into(), json!(seed ^ (1 << 60)));
        assert_ne!(
            first,
            make(model, &input),
            "{}: every bit of the seed counts",
            model.id()
        );
    }
}

#[test]
fn scale_multiplies_the_image_size() {
    let model = find(&ModelId::new("image", "tessera"));
    let input = sample(model.as_ref());
    let sides = |scale: f64| {
        let job = Job {
            scale,
            ..Job::new(&input)
        };
        let file = model.make(&job).unwrap().remove(0).bytes;
        // The width and height of a PNG file are at fixed offsets.
        [16, 20].map(|at| u32::from_be_bytes(file[at..at + 4].try_into().unwrap()))
    };
    let (whole, quarter) = (sides(1.0), sides(0.25));
    assert_eq!(whole.into_iter().max(), Some(1024));
    assert_eq!(quarter, whole.map(|side| side / 4));
}

#[test]
fn the_prompt_changes_the_output() {
    for model in models() {
        let model = model.as_ref();
        let mut input = short_sample(model);
        let first = make(model, &input);
        input.insert("prompt".into(), json!("an unheard-of prompt"));
        assert_ne!(first, make(model, &input), "{}", model.id());
    }
}

#[test]
fn schemas_are_complete_and_use_every_type() {
    let mut types = HashSet::new();
    let mut ids = HashSet::new();
    let mut files = HashSet::new();
    for model in models() {
        let model = model.as_ref();
        let schema = model.schema();
        let about = model.about();
        assert!(ids.insert(model.id()));
        assert!(files.insert(python_file::module(&model.id())));
        let words = format!("{} {}", about.description, about.details.join(" ")).to_lowercase();
        assert!(
            words.contains("procedural") && words.contains("no ai"),
            "{}",
            about.name
        );
        for (parameter, required) in schema.parameters() {
            types.insert(parameter.type_name.clone());
            assert!(parameter.description.len() > 10, "{}", parameter.name);
            let seed = parameter.is_seed();
            assert_eq!(
                parameter.default.is_none(),
                required || seed,
                "{}",
                parameter.name
            );
            if seed {
                assert_eq!(parameter.maximum, Some(u64::MAX.into()));
            }
            if let Some(values) = &parameter.allowed_values {
                types.insert(
                    if values[0].is_string() {
                        "words"
                    } else {
                        "numbers"
                    }
                    .to_owned(),
                );
            }
        }
        assert!(sample(model).contains_key("seed"));
    }
    for expected in [
        "string", "enum", "integer", "float", "boolean", "words", "numbers",
    ] {
        assert!(types.contains(expected), "{expected}");
    }
}
