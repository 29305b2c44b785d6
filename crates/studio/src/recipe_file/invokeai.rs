//! The metadata of InvokeAI: `invokeai_metadata`, and `sd-metadata` and `Dream` of its first versions.

use serde_json::{Map, Value};

use super::names::{
    CFG_SCALE, DENOISING_STRENGTH, HEIGHT, NEGATIVE_PROMPT, PROMPT, SAMPLER, SCHEDULER, SEED,
    STEPS, WIDTH,
};
use super::{Entry, FoundRecipe, Program, number_or_text};

const NAMES: [(&str, &str); 11] = [
    ("positive_prompt", PROMPT),
    ("prompt", PROMPT),
    ("negative_prompt", NEGATIVE_PROMPT),
    ("seed", SEED),
    ("steps", STEPS),
    ("cfg_scale", CFG_SCALE),
    ("scheduler", SCHEDULER),
    ("sampler", SAMPLER),
    ("width", WIDTH),
    ("height", HEIGHT),
    ("strength", DENOISING_STRENGTH),
];

/// The options of the commands in `Dream`.
const OPTIONS: [(&str, &str); 6] = [
    ("-s", STEPS),
    ("-S", SEED),
    ("-W", WIDTH),
    ("-H", HEIGHT),
    ("-C", CFG_SCALE),
    ("-A", SAMPLER),
];

/// Reads the recipe of an entry.
pub fn read(entry: &Entry<'_>) -> Option<FoundRecipe> {
    match entry.name.as_str() {
        "invokeai_metadata" => of_values(entry.object.as_ref()?),
        "sd-metadata" => {
            let object = entry.object.as_ref()?;
            let mut recipe = of_values(object.get("image")?.as_object()?)?;
            recipe.name_model(object.get("model_weights").and_then(Value::as_str));
            Some(recipe)
        }
        "dream" => dream(entry.text),
        _ => None,
    }
}

fn of_values(values: &Map<String, Value>) -> Option<FoundRecipe> {
    let mut recipe = FoundRecipe::new(Program::InvokeAi);
    for (own, name) in NAMES {
        match values.get(own) {
            // The first versions stored a list of weighted prompts.
            Some(Value::Array(parts)) if name == PROMPT => {
                let text = parts.first().and_then(|part| part["prompt"].as_str());
                put_prompt(&mut recipe, text.unwrap_or_default());
            }
            Some(Value::String(text)) if own == "prompt" => put_prompt(&mut recipe, text),
            value => recipe.put_plain(name, value),
        }
    }
    let model = values.get("model");
    let model_name = model.and_then(|model| {
        let names = ["model_name", "name"].map(|name| model.get(name).and_then(Value::as_str));
        names.into_iter().flatten().next().or(model.as_str())
    });
    recipe.name_model(model_name);
    Some(recipe)
}

/// Adds a prompt of the first versions, in which the negative prompt is in square brackets.
fn put_prompt(recipe: &mut FoundRecipe, text: &str) {
    let negative = text
        .split_once('[')
        .and_then(|(before, rest)| Some((before, rest.split_once(']')?)));
    match negative {
        Some((before, (negative, after))) => {
            let prompt = format!("{before}{after}");
            recipe.put(PROMPT, prompt.trim().into());
            recipe.put(NEGATIVE_PROMPT, negative.trim().into());
        }
        None => recipe.put(PROMPT, text.trim().into()),
    }
}

/// Reads a command such as `"a cat" -s 50 -S 1 -W 512 -H 512 -C 7.5 -A k_lms`.
fn dream(text: &str) -> Option<FoundRecipe> {
    let text = text.strip_prefix("dream>").unwrap_or(text).trim();
    let (prompt, options) = match text.strip_prefix('"') {
        Some(quoted) => quoted.rsplit_once('"')?,
        None => text.split_at(text.find(" -").unwrap_or(text.len())),
    };
    let mut recipe = FoundRecipe::new(Program::InvokeAi);
    put_prompt(&mut recipe, prompt);
    let mut words = options.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let option = OPTIONS.iter().find(|(option, _)| word.starts_with(option));
        let Some((option, name)) = option else {
            continue;
        };
        // Both `-s 50` and `-s50` are valid.
        let value = match &word[option.len()..] {
            "" => words.next_if(|it| !it.starts_with('-')),
            value => Some(value),
        };
        if let Some(value) = value {
            recipe.put(name, number_or_text(value));
        }
    }
    Some(recipe)
}
