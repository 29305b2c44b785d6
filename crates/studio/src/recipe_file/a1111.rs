//! The text of Stable Diffusion web UI (A1111): the prompt, the negative prompt, and a last line of settings such as
//! `Steps: 20, Sampler: Euler a, Seed: 1, Size: 512x768, Model: name`.

use atelier_contract::json;
use serde_json::Value;

use super::names::{
    ASPECT_RATIO, CFG_SCALE, CLIP_SKIP, DENOISING_STRENGTH, GUIDANCE, HEIGHT, NEGATIVE_PROMPT,
    PROMPT, SAMPLER, SCHEDULER, SEED, STEPS, WIDTH,
};
use super::{Entry, FoundRecipe, Program, number_or_text, size, strip_prefix_ignoring_case};

/// The names of PNG texts and other tags whose text is a recipe, even without settings.
const OWN_NAMES: [&str; 1] = ["parameters"];

const NEGATIVE: &str = "Negative prompt:";
const FIRST_SETTING: &str = "Steps:";

/// The maximum length of the name of a setting, in bytes.
const MAX_KEY: usize = 40;
/// The maximum length of the settings, in bytes.
const MAX_LINE: usize = 64 << 10;
/// The maximum number of settings.
const MAX_SETTINGS: usize = 200;
/// The minimum number of settings in a last line that does not begin with the steps.
const MIN_SETTINGS: usize = 3;

/// Settings that say nothing about the input.
const NOISE: [&str; 10] = [
    "version",
    "model hash",
    "hashes",
    "lora hashes",
    "ti hashes",
    "vae hash",
    "created date",
    "civitai metadata",
    "civitai resources",
    "user",
];

/// Reads the recipe of an entry.
pub fn read(entry: &Entry<'_>) -> Option<FoundRecipe> {
    if entry.object.is_some() || entry.text.is_empty() {
        return None;
    }
    let (prompt, negative, settings) = split(entry.text);
    let is_recipe = !settings.is_empty() || !negative.is_empty();
    if !is_recipe && !OWN_NAMES.contains(&entry.name.as_str()) {
        return None;
    }
    let mut recipe = FoundRecipe::new(Program::A1111);
    recipe.put(PROMPT, Value::String(prompt));
    recipe.put(NEGATIVE_PROMPT, Value::String(negative));
    for (key, value) in pairs(&settings) {
        put(&mut recipe, &key, value);
    }
    Some(recipe)
}

fn put(recipe: &mut FoundRecipe, key: &str, value: String) {
    let lower = key.to_lowercase();
    let name = match lower.as_str() {
        "steps" => STEPS,
        "sampler" => SAMPLER,
        "schedule type" | "scheduler" => SCHEDULER,
        "cfg scale" => CFG_SCALE,
        "distilled cfg scale" => GUIDANCE,
        "seed" => SEED,
        "denoising strength" => DENOISING_STRENGTH,
        "clip skip" => CLIP_SKIP,
        "aspect ratio" => ASPECT_RATIO,
        "width" => WIDTH,
        "height" => HEIGHT,
        "size" => {
            if let Some((width, height)) = size(&value) {
                recipe.put(WIDTH, Value::Number(width));
                recipe.put(HEIGHT, Value::Number(height));
            }
            return;
        }
        "model" => return recipe.name_model(Some(&value)),
        "civitai resources" => return recipe.name_model(checkpoint(&value).as_deref()),
        other => {
            if !NOISE.contains(&other) && recipe.others.len() < MAX_SETTINGS / 10 {
                recipe.others.push(key.to_owned());
            }
            return;
        }
    };
    recipe.put(name, number_or_text(&value));
}

/// Returns the name of the checkpoint in a list of Civitai's resources.
fn checkpoint(resources: &str) -> Option<String> {
    let Some(Value::Array(resources)) = json::read(resources) else {
        return None;
    };
    let is_checkpoint = |it: &&Value| it["type"].as_str() == Some("checkpoint");
    let found = resources.iter().find(is_checkpoint)?;
    found["modelName"].as_str().map(str::to_owned)
}

/// Splits the text into the prompt, the negative prompt and the settings.
fn split(text: &str) -> (String, String, String) {
    let lines: Vec<&str> = text.lines().collect();
    let begin = lines
        .iter()
        .rposition(|line| strip_prefix_ignoring_case(line.trim_start(), FIRST_SETTING).is_some());
    // Without steps, the last line counts if it has several settings.
    let begin = begin.or_else(|| {
        let last = lines.len().checked_sub(1)?;
        (pairs(bounded(lines[last])).len() >= MIN_SETTINGS).then_some(last)
    });
    let begin = begin.unwrap_or(lines.len());
    let (mut prompt, mut negative) = (Vec::new(), None::<Vec<&str>>);
    for line in &lines[..begin] {
        match (
            strip_prefix_ignoring_case(line.trim_start(), NEGATIVE),
            &mut negative,
        ) {
            (Some(rest), None) => negative = Some(vec![rest.trim_start()]),
            (_, Some(negative)) => negative.push(line),
            (None, None) => prompt.push(*line),
        }
    }
    let text = |lines: Vec<&str>| lines.join("\n").trim().to_owned();
    (
        text(prompt),
        text(negative.unwrap_or_default()),
        bounded(&lines[begin..].join(" ")).to_owned(),
    )
}

fn bounded(line: &str) -> &str {
    &line[..line.floor_char_boundary(MAX_LINE)]
}

/// Splits a line of settings into names and values. A value may be in quotes, or be JSON. Any other value ends at a comma that
/// is followed by a name.
fn pairs(line: &str) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut rest = line.trim_start();
    while let Some((key, after)) = key(rest).filter(|_| pairs.len() < MAX_SETTINGS) {
        let after = after.trim_start();
        let (value, next) = match after.chars().next() {
            Some('"' | '[' | '{') => structured(after).unwrap_or_else(|| plain(after)),
            _ => plain(after),
        };
        pairs.push((key.to_owned(), value));
        rest = next.trim_start_matches([',', ' ']);
    }
    pairs
}

/// Returns the name at the start of a text, and what follows its colon.
fn key(text: &str) -> Option<(&str, &str)> {
    let start = &text[..text.floor_char_boundary(MAX_KEY + 1)];
    let (key, _) = start.split_once(':')?;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '/' | '(' | ')');
    let after = &text[key.len() + 1..];
    let key = key.trim();
    (!key.is_empty() && key.chars().all(is_name)).then_some((key, after))
}

/// Returns the JSON value at the start of a text, and the rest; `None` if there is none that a comma or the end follows. A
/// string is returned without its quotes.
fn structured(text: &str) -> Option<(String, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    let rest = &text[values.byte_offset()..];
    let is_whole = rest.trim_start().is_empty() || rest.trim_start().starts_with(',');
    let value = match value {
        Value::String(text) => text,
        value => value.to_string(),
    };
    is_whole.then_some((value, rest))
}

/// Returns the text up to the next comma that is followed by a name, and the rest.
fn plain(text: &str) -> (String, &str) {
    let commas = text.match_indices(',').map(|(at, _)| at);
    let end = commas
        .filter(|at| key(text[at + 1..].trim_start()).is_some())
        .chain([text.len()])
        .next()
        .unwrap_or_default();
    (
        text[..end].trim().trim_end_matches(',').to_owned(),
        &text[end..],
    )
}
