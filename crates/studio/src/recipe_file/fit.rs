//! Fits a recipe to the schema of a model: finds the parameters that its values mean, and lists what does not fit.

use atelier_contract::{Kind, Model, ModelId, Parameter, RESERVED_NAMES, Schema};
use serde_json::{Map, Value};

use super::FoundRecipe;
use super::names::{
    ASPECT_RATIO, CFG_SCALE, CLIP_SKIP, DENOISING_STRENGTH, GUIDANCE, HEIGHT, NEGATIVE_PROMPT,
    PROMPT, SAMPLER, SCHEDULER, SEED, STEPS, WIDTH,
};
use crate::form::parameter_name::spelling;
use crate::form::rerun::{Change, Rerun, rerun};

/// Names of parameters with the same meaning, as [`spelling`] writes them, the most specific first.
const SYNONYMS: [(&str, &[&str]); 13] = [
    (
        PROMPT,
        &[
            "prompt",
            "positiveprompt",
            "textprompt",
            "inputprompt",
            "text",
            "caption",
        ],
    ),
    (
        NEGATIVE_PROMPT,
        &["negativeprompt", "negative", "negprompt", "undesired"],
    ),
    (SEED, &["seed", "randomseed", "noiseseed", "rngseed"]),
    (
        STEPS,
        &[
            "steps",
            "numinferencesteps",
            "inferencesteps",
            "numsteps",
            "samplingsteps",
            "numberofsteps",
            "samplesteps",
        ],
    ),
    (
        CFG_SCALE,
        &[
            "cfgscale",
            "cfg",
            "guidancescale",
            "guidance",
            "classifierfreeguidancescale",
        ],
    ),
    (
        GUIDANCE,
        &[
            "guidance",
            "distilledcfgscale",
            "distilledguidance",
            "guidancescale",
        ],
    ),
    (
        SAMPLER,
        &[
            "sampler",
            "samplername",
            "samplingmethod",
            "samplermethod",
            "scheduler",
        ],
    ),
    (
        SCHEDULER,
        &["scheduler", "scheduletype", "schedule", "noiseschedule"],
    ),
    (WIDTH, &["width", "imagewidth", "outputwidth"]),
    (HEIGHT, &["height", "imageheight", "outputheight"]),
    (ASPECT_RATIO, &["aspectratio", "ratio"]),
    (
        DENOISING_STRENGTH,
        &[
            "denoisingstrength",
            "denoisestrength",
            "denoise",
            "strength",
            "promptstrength",
        ],
    ),
    (CLIP_SKIP, &["clipskip"]),
];

/// Names of parameters that take a size as one value.
const SIZES: [&str; 5] = [
    "size",
    "imagesize",
    "resolution",
    "outputsize",
    "dimensions",
];

/// The greatest difference of two ratios that are the same for the user.
const SAME_RATIO: f64 = 0.02;

/// A recipe that was fitted to a schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The form, and its differences from the recipe.
    pub rerun: Rerun,
    /// The number of values that fit.
    pub fitting: usize,
}

impl Fit {
    /// Returns what does not fit, as sentences.
    pub fn misfits(&self) -> Vec<String> {
        let differences = self.rerun.differences.iter();
        differences.map(|it| it.message.clone()).collect()
    }
}

/// Fits a recipe to a schema.
pub fn fit(recipe: &FoundRecipe, schema: &Schema) -> Fit {
    let mut rerun = rerun(&renamed(&recipe.values, schema), schema);
    for difference in &mut rerun.differences {
        if difference.change == Change::NewlyRequired
            && difference.value.is_none()
            && !schema.is_secret(&difference.parameter)
        {
            difference.message = format!(
                "{} is required, and the file does not contain it.",
                difference.parameter
            );
        }
    }
    let is_invalid = |name: &str| {
        let mut differences = rerun.differences.iter();
        differences.any(|it| it.parameter == name)
    };
    let fitting = rerun
        .draft
        .iter()
        .filter(|(name, _)| !is_invalid(name))
        .count();
    Fit { rerun, fitting }
}

/// Returns the values by the names of the schema's parameters. Values without a parameter keep their names.
fn renamed(values: &Map<String, Value>, schema: &Schema) -> Map<String, Value> {
    let mut renamed = Map::new();
    let mut rest = Vec::new();
    let values = &sampler_as_scheduler(values, schema).unwrap_or_else(|| values.clone());
    for (name, value) in values {
        match schema.parameter(name) {
            Some((parameter, _)) => drop(renamed.insert(name.clone(), adapted(parameter, value))),
            None => rest.push((name, value)),
        }
    }
    for (name, value) in rest {
        if schema.is_secret(name) || RESERVED_NAMES.contains(&name.as_str()) {
            continue;
        }
        match synonym(name, schema, &renamed) {
            Some(parameter) => renamed.insert(parameter.name.clone(), adapted(parameter, value)),
            None => renamed.insert(name.clone(), value.clone()),
        };
    }
    put_size(&mut renamed, schema);
    renamed
}

/// Renames the sampler to `scheduler` if that is what the model calls it; `None` otherwise. Diffusers calls samplers so.
fn sampler_as_scheduler(
    values: &Map<String, Value>,
    schema: &Schema,
) -> Option<Map<String, Value>> {
    let (sampler, scheduler) = (values.get(SAMPLER)?, values.get(SCHEDULER)?);
    let (parameter, _) = schema.parameter(SCHEDULER)?;
    let has = |value: &Value| parameter.choices().contains(&adapted(parameter, value));
    if schema.parameter(SAMPLER).is_some() || has(scheduler) || !has(sampler) {
        return None;
    }
    let mut renamed = values.clone();
    renamed.shift_remove(SAMPLER);
    renamed.insert("schedule_type".into(), scheduler.clone());
    renamed.insert(SCHEDULER.into(), sampler.clone());
    Some(renamed)
}

/// Returns the parameter that has the same meaning as a name and no value yet.
fn synonym<'a>(
    name: &str,
    schema: &'a Schema,
    taken: &Map<String, Value>,
) -> Option<&'a Parameter> {
    let written = spelling(name);
    let groups = SYNONYMS
        .iter()
        .filter(|(own, names)| *own == name || names.first() == Some(&written.as_str()));
    let other = SYNONYMS
        .iter()
        .filter(|(_, names)| names.contains(&written.as_str()));
    let all = groups
        .chain(other)
        .flat_map(|(_, names)| names.iter().copied());
    all.chain([written.as_str()]).find_map(|spelled| {
        let mut parameters = schema.parameters().map(|(parameter, _)| parameter);
        parameters.find(|it| spelling(&it.name) == spelled && !taken.contains_key(&it.name))
    })
}

/// Converts a value to the permitted one with the same meaning, such as `Euler a` to `euler_ancestral`.
fn adapted(parameter: &Parameter, value: &Value) -> Value {
    let choices = parameter.choices();
    if parameter.kind() != Kind::Enum || choices.contains(value) {
        return value.clone();
    }
    let wanted = canonical(value);
    let same = choices.iter().find(|choice| canonical(choice) == wanted);
    same.unwrap_or(value).clone()
}

/// Returns the name of a sampler or another choice in a form in which different spellings are equal.
fn canonical(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let text = spelling(&text.replace("++", "pp"));
    let text = text.strip_prefix("sample").unwrap_or(&text);
    // InvokeAI and Replicate prefix samplers of k-diffusion.
    let known = ["euler", "dpm", "lms", "heun"];
    let text = match text.strip_prefix('k') {
        Some(rest) if known.iter().any(|it| rest.starts_with(it)) => rest,
        _ => text,
    };
    match text.strip_suffix('a') {
        Some(rest) if rest == "euler" || rest == "dpm2" => format!("{rest}ancestral"),
        _ => text.to_owned(),
    }
}

/// Moves the width and the height into a parameter for the size or the ratio, if the model has no parameters for them.
fn put_size(values: &mut Map<String, Value>, schema: &Schema) {
    if schema.parameter(WIDTH).is_some() || schema.parameter(HEIGHT).is_some() {
        return;
    }
    let side = |name: &str| {
        values
            .get(name)
            .and_then(Value::as_u64)
            .filter(|side| *side > 0)
    };
    let (Some(width), Some(height)) = (side(WIDTH), side(HEIGHT)) else {
        return;
    };
    let taken = |parameter: &Parameter| values.contains_key(&parameter.name);
    let find = |names: &[&str]| {
        let mut parameters = schema.parameters().map(|(parameter, _)| parameter);
        parameters.find(|it| names.contains(&spelling(&it.name).as_str()) && !taken(it))
    };
    let of_size = find(&SIZES).and_then(|parameter| {
        let is_same = |choice: &&Value| {
            let text = choice.as_str().and_then(super::size);
            text.is_some_and(|(w, h)| w.as_u64() == Some(width) && h.as_u64() == Some(height))
        };
        let value = match (parameter.kind(), parameter.choices()) {
            (Kind::Enum, choices) => choices.iter().find(is_same)?.clone(),
            (Kind::Text, _) => Value::String(format!("{width}x{height}")),
            _ => return None,
        };
        Some((parameter.name.clone(), value))
    });
    let of_ratio = || {
        let parameter = find(&["aspectratio", "ratio"])?;
        let wanted = width as f64 / height as f64;
        let distance = |choice: &Value| {
            let (w, h) = choice.as_str()?.split_once(':')?;
            let ratio = w.trim().parse::<f64>().ok()? / h.trim().parse::<f64>().ok()?;
            Some((ratio / wanted - 1.0).abs()).filter(|it| *it < SAME_RATIO)
        };
        let choices = parameter.choices().iter();
        let near = choices.filter_map(|choice| Some((distance(choice)?, choice)));
        let (_, choice) = near.min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some((parameter.name.clone(), choice.clone()))
    };
    if let Some((name, value)) = of_size.or_else(of_ratio) {
        values.remove(WIDTH);
        values.remove(HEIGHT);
        values.insert(name, value);
    }
}

/// The maximum number of models in the choice. The schema of each of them is loaded.
const MAX_MODELS: usize = 12;

/// Returns the models that most likely fit, by their names and categories: `usual` lists models in the user's order. The
/// recipe's own model is first, if the service has it.
pub fn candidates(
    recipe: &FoundRecipe,
    models: &[Model],
    usual: &[usize],
    medium: &str,
) -> Vec<ModelId> {
    let wanted = recipe.model_name.as_deref().map(spelling);
    let resembles = |model: &Model| {
        let names = [spelling(&model.name), spelling(&model.id.subcategory)];
        wanted.as_ref().is_some_and(|wanted| {
            let mut names = names.iter().filter(|it| it.len() >= 4);
            names.any(|name| {
                wanted.contains(name.as_str()) || (wanted.len() >= 4 && name.contains(wanted))
            })
        })
    };
    let rank = |model: &Model| {
        let is_own = recipe.model.as_ref() == Some(&model.id);
        let category = model.id.category.to_lowercase();
        let makes = category.rsplit("-to-").next().unwrap_or_default();
        // A model that needs another picture fits less well.
        (
            !is_own,
            !resembles(model),
            !makes.starts_with(medium),
            category.contains("-to-") && !category.starts_with("text"),
        )
    };
    let mut order: Vec<&Model> = usual.iter().filter_map(|at| models.get(*at)).collect();
    order.sort_by_key(|model| rank(model));
    order.truncate(MAX_MODELS);
    order.into_iter().map(|model| model.id.clone()).collect()
}

/// Sorts models by how well the recipe fits, the best first. The recipe's own model is first in any case.
pub fn best_first(fits: &mut [(ModelId, Fit)], recipe: &FoundRecipe) {
    fits.sort_by_key(|(model, fit)| {
        let is_own = recipe.model.as_ref() == Some(model);
        let misfits = fit.rerun.differences.len() as i64;
        (!is_own, misfits - 2 * fit.fitting as i64)
    });
}
