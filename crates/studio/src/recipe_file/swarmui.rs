//! The JSON of SwarmUI: `sui_image_params` with the values by the ids of its parameters.

use serde_json::Value;

use super::names::{
    ASPECT_RATIO, CFG_SCALE, DENOISING_STRENGTH, GUIDANCE, HEIGHT, NEGATIVE_PROMPT, PROMPT,
    SAMPLER, SCHEDULER, SEED, STEPS, WIDTH,
};
use super::{Entry, FoundRecipe, Program};

const NAMES: [(&str, &str); 12] = [
    ("prompt", PROMPT),
    ("negativeprompt", NEGATIVE_PROMPT),
    ("seed", SEED),
    ("steps", STEPS),
    ("cfgscale", CFG_SCALE),
    ("fluxguidancescale", GUIDANCE),
    ("sampler", SAMPLER),
    ("scheduler", SCHEDULER),
    ("width", WIDTH),
    ("height", HEIGHT),
    ("aspectratio", ASPECT_RATIO),
    ("initimagecreativity", DENOISING_STRENGTH),
];

/// The maximum number of names of other settings.
const MAX_OTHERS: usize = 20;

/// Settings that say nothing about the input.
const NOISE: [&str; 6] = [
    "swarm_version",
    "date",
    "generation_time",
    "nopreviews",
    "imageformat",
    "original_prompt",
];

/// Reads the recipe of an entry.
pub fn read(entry: &Entry<'_>) -> Option<FoundRecipe> {
    let values = entry
        .object
        .as_ref()?
        .get("sui_image_params")?
        .as_object()?;
    let mut recipe = FoundRecipe::new(Program::SwarmUi);
    for (id, name) in NAMES {
        let value = values.get(id);
        // With a size of its own, this is no ratio.
        if value.and_then(Value::as_str) != Some("Custom") {
            recipe.put_plain(name, value);
        }
    }
    recipe.name_model(values.get("model").and_then(Value::as_str));
    let is_other = |id: &&String| {
        id.as_str() != "model"
            && !NOISE.contains(&id.as_str())
            && NAMES.iter().all(|(known, _)| known != id)
    };
    let others = values.keys().filter(is_other).take(MAX_OTHERS);
    recipe.others = others.map(|id| id.chars().take(40).collect()).collect();
    Some(recipe)
}
