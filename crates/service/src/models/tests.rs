mod landscapes;
mod words;

use super::*;
use crate::outputs::Outputs;
use atelier_contract::python_file;
use serde_json::json;
use std::collections::HashSet;

fn make(models: &Models, model: &dyn Model, input: &Map<String, Value>) -> Vec<Artifact> {
    let dir = tempfile::tempdir().unwrap();
    let outputs = Outputs::open(dir.path().to_owned()).unwrap();
    let run = |model: &dyn Model, input: &Map<String, Value>| {
        let job = Job::new(input, Pace::new(0.0, &Stop::default()), &outputs);
        model.make(&job).unwrap()
    };
    if let Some(source) = model.sample_source().and_then(|id| models.find(&id)) {
        let made = run(source, &models.sample_input(source).unwrap());
        let name = super::sample_path::preview(source);
        let name = name.rsplit('/').next().unwrap();
        outputs
            .save_sample("previews", name, &made[0].bytes)
            .unwrap();
    }
    run(model, input)
}

/// The sample, as short as the model permits.
fn short_sample(models: &Models, model: &dyn Model) -> Map<String, Value> {
    let mut input = models.sample_input(model).unwrap();
    if let Some((duration, _)) = model.schema().parameter("duration") {
        input.insert("duration".into(), json!(duration.minimum));
    }
    input
}

#[test]
fn the_same_input_gives_the_same_bytes_and_another_seed_others() {
    let models = Models::built_in();
    for model in models.iter() {
        let mut input = short_sample(&models, model);
        let first = make(&models, model, &input);
        assert_eq!(first, make(&models, model, &input), "{}", model.id());
        assert!(first.iter().all(|file| file.extension == model.extension()));
        let seed = input["seed"].as_u64().unwrap();
        input.insert("seed".into(), json!(seed ^ (1 << 60)));
        assert_ne!(
            first,
            make(&models, model, &input),
            "{}: every bit of the seed counts",
            model.id()
        );
    }
}

#[test]
fn the_draw_scale_multiplies_the_sides_of_a_picture() {
    let models = Models::built_in();
    let model = models
        .iter()
        .find(|it| it.id().to_string() == "image/tessera");
    let model = model.expect("image/tessera");
    let input = models.sample_input(model).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let outputs = Outputs::open(dir.path().to_owned()).unwrap();
    let sides = |scale: f64| {
        let job = Job {
            scale,
            ..Job::new(&input, Pace::new(0.0, &Stop::default()), &outputs)
        };
        let file = model.make(&job).unwrap().remove(0).bytes;
        // Width and height of a PNG lie at a fixed place.
        [16, 20].map(|at| u32::from_be_bytes(file[at..at + 4].try_into().unwrap()))
    };
    let (whole, quarter) = (sides(1.0), sides(0.25));
    assert_eq!(whole.into_iter().max(), Some(1024));
    assert_eq!(quarter, whole.map(|side| side / 4));
}

#[test]
fn the_prompt_shapes_the_result() {
    let models = Models::built_in();
    for model in models.iter() {
        let mut input = short_sample(&models, model);
        let first = make(&models, model, &input);
        input.insert("prompt".into(), json!("an unheard-of prompt"));
        assert_ne!(first, make(&models, model, &input), "{}", model.id());
    }
}

#[test]
fn schemas_are_whole_and_use_every_type() {
    let mut types = HashSet::new();
    let mut ids = HashSet::new();
    let mut files = HashSet::new();
    for model in Models::built_in().iter() {
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
        complete(&schema, model.sample().as_object().unwrap())
            .map_err(|e| format!("{e:?}"))
            .map(|input| assert!(input.contains_key("seed")))
            .or_else(|e| {
                if model.sample_source().is_some() {
                    Ok(())
                } else {
                    Err(e)
                }
            })
            .unwrap();
    }
    for expected in [
        "string", "enum", "integer", "float", "boolean", "words", "numbers",
    ] {
        assert!(types.contains(expected), "{expected}");
    }
}

#[test]
fn a_seed_is_chosen_among_those_that_the_schema_permits() {
    let seed = |bounds: Value| {
        let mut parameter = json!({"name": "seed", "type": "integer"});
        parameter
            .as_object_mut()
            .unwrap()
            .extend(bounds.as_object().unwrap().clone());
        let schema: Schema = serde_json::from_value(json!({
            "category": "a", "subcategory": "b",
            "parameters": {"required": [], "optional": [parameter]}
        }))
        .unwrap();
        complete(&schema, &Map::new())
            .unwrap()
            .get("seed")
            .and_then(Value::as_u64)
    };
    for _ in 0..100 {
        let chosen = seed(json!({"minimum": 5, "maximum": 7})).unwrap();
        assert!((5..=7).contains(&chosen));
    }
    assert_eq!(seed(json!({"maximum": 0})), Some(0));
    assert!(seed(json!({"minimum": 0, "maximum": u64::MAX})).is_some());
    assert_eq!(
        seed(json!({"minimum": 0})),
        None,
        "it may be more than the model takes"
    );
}
