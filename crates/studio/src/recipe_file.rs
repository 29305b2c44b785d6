//! Recipes in files: finds how a file was generated in the metadata that Atelier and other programs write, and fits it to
//! the schema of a model.
//!
//! The metadata come from any file, so no text, number or link in them can be trusted.

mod a1111;
mod atelier;
mod comfyui;
pub mod fit;
mod invokeai;
mod swarmui;
pub mod written;

use atelier_contract::{ModelId, json};
use atelier_metadata::{Format, Metadata};
use serde_json::{Map, Number, Value};

use crate::text::plural::listed;

/// The maximum length of the text of an entry, in bytes. Longer ones are skipped.
const MAX_TEXT: usize = 8 << 20;
/// The maximum number of entries that are read.
const MAX_ENTRIES: usize = 64;
/// The maximum length of a value that is a text, in bytes. Longer ones are left out, because a form can't store them.
const MAX_VALUE: usize = 100_000;
/// The maximum number of values.
const MAX_VALUES: usize = 200;

/// Names of values that the programs share. Values of other programs get these names.
pub mod names {
    pub const PROMPT: &str = "prompt";
    pub const NEGATIVE_PROMPT: &str = "negative_prompt";
    pub const SEED: &str = "seed";
    pub const STEPS: &str = "steps";
    pub const CFG_SCALE: &str = "cfg_scale";
    /// The guidance of distilled models, which is another number than the CFG scale.
    pub const GUIDANCE: &str = "guidance";
    pub const SAMPLER: &str = "sampler";
    pub const SCHEDULER: &str = "scheduler";
    pub const WIDTH: &str = "width";
    pub const HEIGHT: &str = "height";
    pub const ASPECT_RATIO: &str = "aspect_ratio";
    pub const DENOISING_STRENGTH: &str = "denoising_strength";
    pub const CLIP_SKIP: &str = "clip_skip";
}

/// The program that has written a recipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    Atelier,
    /// Stable Diffusion web UI (A1111), and the programs that write its format: Forge, SD.Next, Civitai.
    A1111,
    ComfyUi,
    SwarmUi,
    InvokeAi,
}

impl Program {
    /// Returns the name for the user.
    pub fn name(self) -> &'static str {
        match self {
            Self::Atelier => "Atelier",
            Self::A1111 => "Stable Diffusion web UI",
            Self::ComfyUi => "ComfyUI",
            Self::SwarmUi => "SwarmUI",
            Self::InvokeAi => "InvokeAI",
        }
    }
}

/// Returns the message for several files of which one is opened; empty for one file.
pub fn several_message(opened: &str, count: usize) -> String {
    match count {
        0 | 1 => String::new(),
        _ => format!("Only one of {count} files is opened: {opened}."),
    }
}

/// A recipe that was found in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundRecipe {
    pub program: Program,
    /// The model, if the recipe is from Atelier.
    pub model: Option<ModelId>,
    /// The name of the model, such as that of its checkpoint.
    pub model_name: Option<String>,
    /// The values, by the names of the model's parameters or, if the recipe is from another program, by [`names`].
    pub values: Map<String, Value>,
    /// The names of settings that only the other program knows or, in Atelier's own recipes, of inputs that were left out of
    /// the file.
    pub others: Vec<String>,
}

impl FoundRecipe {
    fn new(program: Program) -> Self {
        Self {
            program,
            model: None,
            model_name: None,
            values: Map::new(),
            others: Vec::new(),
        }
    }

    /// Adds a value, unless it is empty, too long, or there is one of this name.
    fn put(&mut self, name: &str, value: Value) {
        let is_usable = match &value {
            Value::Null => false,
            Value::String(text) => !text.trim().is_empty() && text.len() <= MAX_VALUE,
            Value::Bool(_) | Value::Number(_) => true,
            list => list.to_string().len() <= MAX_VALUE,
        };
        if is_usable && self.values.len() < MAX_VALUES && !self.values.contains_key(name) {
            self.values.insert(name.to_owned(), value);
        }
    }

    /// Adds a text or a number. Values of other types are left out.
    fn put_plain(&mut self, name: &str, value: Option<&Value>) {
        if let Some(value @ (Value::String(_) | Value::Number(_))) = value {
            self.put(name, value.clone());
        }
    }

    /// Sets the name of the model from a file name or a path, unless it is known.
    fn name_model(&mut self, name: Option<&str>) {
        let name = name.map(str::trim).filter(|name| !name.is_empty());
        let Some(name) = name.filter(|_| self.model_name.is_none()) else {
            return;
        };
        let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let extensions = [".safetensors", ".ckpt", ".sft", ".gguf", ".pt", ".pth"];
        let stem = extensions.iter().find_map(|it| file.strip_suffix(it));
        let name: String = stem.unwrap_or(file).chars().take(120).collect();
        self.model_name = Some(name);
    }

    fn is_empty(&self) -> bool {
        self.values.is_empty() && self.model.is_none()
    }

    /// Returns a sentence such as `Generated with ComfyUI, with the model flux1-dev.`
    pub fn headline(&self) -> String {
        let program = self.program.name();
        let model = self.model.as_ref().map(ToString::to_string);
        match model.as_ref().or(self.model_name.as_ref()) {
            Some(model) => format!("Generated with {program}, with the model {model}."),
            None => format!("Generated with {program}."),
        }
    }

    /// Returns a sentence about settings that are not used; empty if there are none.
    pub fn others_message(&self) -> String {
        let names = listed(&self.others);
        match (self.others.is_empty(), self.program) {
            (true, _) => String::new(),
            (_, Program::Atelier) => format!("Left out of the file: {names}."),
            (_, program) => format!("Settings of {} that are not used: {names}.", program.name()),
        }
    }

    /// Returns what was found, as labels and shortened values.
    pub fn summary(&self) -> Vec<(String, String)> {
        const MAX: usize = 300;
        let line = |(name, value): (&String, &Value)| {
            let text = match value {
                Value::String(text) => text.clone(),
                value => value.to_string(),
            };
            let short = match text.char_indices().nth(MAX) {
                Some((end, _)) => format!("{}…", &text[..end]),
                None => text,
            };
            (label(name), short)
        };
        self.values.iter().map(line).collect()
    }
}

/// Returns the label of a value, such as `Negative prompt`.
fn label(name: &str) -> String {
    let words = name.replace('_', " ").replace("cfg", "CFG");
    let mut chars = words.chars();
    let first = chars.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(chars).collect()
}

/// Finds the recipe in the bytes of a file: in the metadata of a picture, video or sound, or in a text file such as a workflow.
///
/// # Errors
///
/// A message for the user: the file contains no recipe, or can't contain one.
pub fn find_in_file(bytes: &[u8], metadata: &Metadata) -> Result<FoundRecipe, &'static str> {
    if Format::of(bytes).is_some() {
        let entries = metadata.entries.iter();
        let found = find(entries.map(|entry| (entry.name.as_str(), entry.text.as_str())));
        return found.ok_or(NOTHING_FOUND);
    }
    let text = std::str::from_utf8(bytes)
        .ok()
        .filter(|text| !text.contains('\0'));
    let text = text.ok_or(UNKNOWN_TYPE)?;
    find([("", text.trim_start_matches('\u{feff}'))]).ok_or(NOTHING_FOUND)
}

const NOTHING_FOUND: &str = "Nothing was found: the file does not say how it was generated. Many programs and web pages remove \
                             this information.";
const UNKNOWN_TYPE: &str = "Nothing was found: files of this type can't be read. Open a PNG, JPEG, WebP, WAV, WebM or MP4 file, \
                            or a workflow as JSON.";

/// Finds the recipe in the metadata of a file: pairs of a name and a text. Atelier's own recipe is preferred, then those
/// that other programs have written as values, then those that must be found in a workflow.
pub fn find<'a>(entries: impl IntoIterator<Item = (&'a str, &'a str)>) -> Option<FoundRecipe> {
    let entries: Vec<Entry<'_>> = entries
        .into_iter()
        .take(MAX_ENTRIES)
        .filter(|(_, text)| text.len() <= MAX_TEXT)
        .map(|(name, text)| Entry::new(name, text))
        .collect();
    let readers: [fn(&Entry<'_>) -> Option<FoundRecipe>; 5] = [
        atelier::read,
        swarmui::read,
        invokeai::read,
        a1111::read,
        comfyui::read,
    ];
    readers.iter().find_map(|read| {
        let found = entries.iter().filter_map(read);
        // A file may contain a recipe several times, one of them truncated.
        let best = found.filter(|recipe| !recipe.is_empty());
        best.max_by_key(|recipe| recipe.values.len())
    })
}

/// An entry of a file's metadata.
struct Entry<'a> {
    name: String,
    text: &'a str,
    /// The text as a JSON object, if it is one.
    object: Option<Map<String, Value>>,
}

impl<'a> Entry<'a> {
    fn new(name: &str, text: &'a str) -> Self {
        let mut name = name.to_ascii_lowercase();
        let mut text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        // ComfyUI writes `workflow:{…}` into the Exif tags of WebP files.
        for prefix in ["prompt", "workflow"] {
            let rest = strip_prefix_ignoring_case(text, prefix);
            let rest = rest.and_then(|rest| rest.strip_prefix(':'));
            if let Some(rest) = rest.filter(|rest| rest.trim_start().starts_with('{')) {
                name = prefix.to_owned();
                text = rest;
            }
        }
        Self {
            name,
            text,
            object: object(text),
        }
    }
}

fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let start = text.get(..prefix.len())?;
    start
        .eq_ignore_ascii_case(prefix)
        .then(|| &text[prefix.len()..])
}

/// Parses a JSON object. Nesting is limited by the parser.
fn object(text: &str) -> Option<Map<String, Value>> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    // Python writes NaN, which is not JSON.
    let value = json::read(text).or_else(|| {
        let has_nan = text.contains("NaN");
        has_nan.then(|| json::read(&text.replace("NaN", "null")))?
    });
    match value {
        Some(Value::Object(object)) => Some(object),
        _ => None,
    }
}

/// Returns a number as such, and any other text as text.
fn number_or_text(text: &str) -> Value {
    match atelier_contract::parse_number(text) {
        Some(number) => Value::Number(number),
        None => Value::String(text.to_owned()),
    }
}

/// Returns the width and height of a text such as `512x768`.
fn size(text: &str) -> Option<(Number, Number)> {
    let (width, height) = text.split_once(['x', 'X', '×', '*'])?;
    let side = |text: &str| text.trim().parse::<u32>().ok().map(Number::from);
    Some((side(width)?, side(height)?))
}

#[cfg(test)]
mod tests;
