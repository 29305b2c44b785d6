//! Describes how a file was made, in the two forms that [`crate::write`] adds to it.

use std::fmt::Write as _;

use atelier_contract::is_secret_name;
use serde_json::{Map, Value, json};

use crate::{DigitalSourceType, Entries};

/// The version of the JSON form. It changes when programs that read it have to change.
pub const VERSION: u32 = 1;

/// A longer input is left out, measured in bytes of JSON.
pub const MAX_INPUT_BYTES: usize = 8 << 10;
/// Further inputs are left out once their JSON exceeds this size in bytes, so that a recipe usually fits into a JPEG.
pub const MAX_INPUTS_BYTES: usize = 16 << 10;

/// The number of characters of a task's id that a file carries, as in the log of the service.
const TASK_CHARACTERS: usize = 8;

/// What a file was made from.
#[derive(Debug, Clone, Copy)]
pub struct Recipe<'a> {
    pub model: &'a str,
    /// The inputs as they were sent, without the values of secret parameters.
    pub inputs: &'a Map<String, Value>,
    /// The name or the address of the service.
    pub service: &'a str,
    /// The time at which the task was created, as RFC 3339.
    pub created_at: Option<&'a str>,
    /// The id of the task. Only its first characters are written: the whole id is a part of the addresses of all outputs
    /// of the task, and anyone who knows an address can read the output.
    pub task: &'a str,
}

impl Recipe<'_> {
    /// Returns both forms.
    pub fn entries(&self, digital_source_type: Option<DigitalSourceType>) -> Entries {
        Entries {
            parameters: self.parameters(),
            atelier: self.json(),
            digital_source_type,
        }
    }

    /// Returns the JSON form. Some inputs are left out, and listed in `omitted`: very long ones, texts that have the
    /// name of a secret, files sent inside the request, and addresses that work like a key, because a file is passed on
    /// more freely than the files it was made from. Such addresses have a query, a password, or the path of an output or
    /// upload.
    pub fn json(&self) -> String {
        let (inputs, omitted) = self.short_inputs();
        let mut recipe = json!({ "version": VERSION, "model": self.model });
        if let Some(seed) = inputs.get("seed") {
            recipe["seed"] = seed.clone();
        }
        recipe["inputs"] = inputs.into();
        recipe["service"] = self.service.into();
        if let Some(created_at) = self.created_at {
            recipe["created_at"] = created_at.into();
        }
        recipe["task"] = self.short_task().into();
        if !omitted.is_empty() {
            recipe["omitted"] = omitted.into();
        }
        recipe.to_string()
    }

    /// Returns the line format of AUTOMATIC1111: the prompt, the negative prompt, and a line with all other inputs that
    /// are texts, numbers or switches.
    pub fn parameters(&self) -> String {
        let (mut inputs, _) = self.short_inputs();
        let mut take = |names: &[&str]| names.iter().find_map(|name| inputs.shift_remove(*name));
        let text = |value: Option<Value>| match value {
            Some(Value::String(text)) => text,
            _ => String::new(),
        };
        let prompt = text(take(&["prompt"]));
        let negative = text(take(&["negative_prompt"]));
        let mut pairs: Vec<(String, String)> = Vec::new();
        let mut push = |name: &str, value: Option<&Value>| {
            let value = match value {
                Some(Value::String(text)) => text.clone(),
                Some(value @ (Value::Number(_) | Value::Bool(_))) => value.to_string(),
                _ => return,
            };
            if !value.is_empty() {
                pairs.push((name.to_owned(), value));
            }
        };
        for (name, inputs) in KNOWN {
            push(name, take(inputs).as_ref());
        }
        if let (Some(width), Some(height)) = (inputs.get("width"), inputs.get("height")) {
            push("Size", Some(&format!("{width}x{height}").into()));
            inputs.shift_remove("width");
            inputs.shift_remove("height");
        }
        push("Model", Some(&self.model.into()));
        for (name, value) in &inputs {
            push(&label(name), Some(value));
        }
        // Programs recognize the line by its three or more pairs.
        push("Task", Some(&self.short_task().into()));
        push("Version", Some(&"Atelier".into()));

        let mut lines = prompt;
        if !negative.is_empty() {
            let separator = if lines.is_empty() { "" } else { "\n" };
            let _ = write!(lines, "{separator}Negative prompt: {negative}");
        }
        let pairs: Vec<String> = pairs
            .iter()
            .map(|(name, value)| format!("{name}: {}", quote(value)))
            .collect();
        let separator = if lines.is_empty() { "" } else { "\n" };
        lines + separator + &pairs.join(", ")
    }

    fn short_task(&self) -> String {
        self.task.chars().take(TASK_CHARACTERS).collect()
    }

    /// Returns the inputs that a file carries, and the names of the others.
    fn short_inputs(&self) -> (Map<String, Value>, Vec<String>) {
        let (mut short, mut omitted) = (Map::new(), Vec::new());
        let mut total = 0;
        for (name, value) in self.inputs {
            let size = name.len() + value.to_string().len();
            if is_secret(name, value)
                || is_private(value)
                || size > MAX_INPUT_BYTES
                || total + size > MAX_INPUTS_BYTES
            {
                omitted.push(name.clone());
            } else {
                total += size;
                short.insert(name.clone(), value.clone());
            }
        }
        (short, omitted)
    }
}

/// The names that programs know, and the inputs that services call so.
const KNOWN: [(&str, &[&str]); 4] = [
    ("Steps", &["steps", "num_inference_steps"]),
    ("Sampler", &["sampler", "sampler_name"]),
    ("CFG scale", &["cfg_scale", "guidance_scale", "guidance"]),
    ("Seed", &["seed"]),
];

/// Returns whether a text has the name of a secret, although its parameter is not marked as one.
fn is_secret(name: &str, value: &Value) -> bool {
    value.is_string() && is_secret_name(name)
}

/// Returns whether a value contains a secret, a file, or an address with which anyone can read one.
fn is_private(value: &Value) -> bool {
    match value {
        Value::String(text) => is_private_address(text.trim()),
        Value::Array(items) => items.iter().any(is_private),
        Value::Object(items) => items
            .iter()
            .any(|(name, value)| is_secret(name, value) || is_private(value)),
        _ => false,
    }
}

fn is_private_address(text: &str) -> bool {
    let has_scheme = |scheme: &str| {
        let start = text.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    // A path below `/outputs/` is an output or an upload of the service.
    has_scheme("data:")
        || has_scheme("blob:")
        || text.starts_with("/outputs/")
        || (has_scheme("http://") || has_scheme("https://"))
            && (text.contains(['?', '@']) || text.contains("/outputs/"))
}

/// Formats a time in milliseconds since 1970 as RFC 3339, in UTC: `2026-03-12T09:05:07Z`.
pub fn rfc3339(ms: u64) -> String {
    let seconds = ms / 1000;
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March, so that a leap day is the last of its year. 719 468 days precede 1970 since the year 0.
    let since = days + 719_468;
    let (era, day_of_era) = (since / 146_097, since % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second % 3600 / 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Returns the name of an input as other programs write it: `aspect_ratio` as `Aspect ratio`.
fn label(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() { c } else { ' ' };
    let mut characters = name.chars().map(plain);
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(characters).collect()
}

/// Quotes a value as other programs do if it could be taken for several.
fn quote(value: &str) -> String {
    if value.contains([',', ':', '\n', '"']) {
        Value::from(value).to_string()
    } else {
        value.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    fn recipe(inputs: &Map<String, Value>) -> Recipe<'_> {
        Recipe {
            model: "image/strata",
            inputs,
            service: "atelier-service",
            created_at: Some("2026-03-12T09:05:07Z"),
            task: "3f2c1a9b0123456789abcdef01234567",
        }
    }

    #[test]
    fn the_line_format_is_that_of_other_programs() {
        let inputs = inputs(json!({
            "prompt": "a fox, red\nat dawn", "negative_prompt": "blur", "seed": 7, "aspect_ratio": "16:9",
            "width": 512, "height": 768, "num_inference_steps": 20, "guidance_scale": 7.5, "tiled": true,
            "tags": ["a"], "empty": "", "note": null, "style": "ink, \"dry\"",
        }));
        assert_eq!(
            recipe(&inputs).parameters(),
            "a fox, red\nat dawn\nNegative prompt: blur\n\
             Steps: 20, CFG scale: 7.5, Seed: 7, Size: 512x768, Model: image/strata, \
             Aspect ratio: \"16:9\", Tiled: true, Style: \"ink, \\\"dry\\\"\", Task: 3f2c1a9b, Version: Atelier"
        );
        assert_eq!(
            recipe(&Map::new()).parameters(),
            "Model: image/strata, Task: 3f2c1a9b, Version: Atelier"
        );
    }

    #[test]
    fn the_json_form_is_versioned() {
        let inputs = inputs(json!({"prompt": "a", "seed": 7}));
        let made: Value = serde_json::from_str(&recipe(&inputs).json()).unwrap();
        assert_eq!(
            made,
            json!({
                "version": 1, "model": "image/strata", "inputs": {"prompt": "a", "seed": 7}, "seed": 7,
                "service": "atelier-service", "created_at": "2026-03-12T09:05:07Z", "task": "3f2c1a9b",
            })
        );
    }

    /// Guards against a file that reveals the files it was made from, or a signed address.
    #[test]
    fn files_private_addresses_and_long_inputs_are_left_out() {
        let inputs = inputs(json!({
            "prompt": "see https://a.example/?q=1 and data: too",
            "image": "DATA:image/png;base64,AAAA",
            "images": ["https://a.example/a.png", {"mask": "https://h/outputs/3f/0.png"}],
            "upload": "/outputs/3f/0.png",
            "signed": "https://a.example/a.png?X-Amz-Signature=1",
            "login": "https://user:password@a.example/a.png",
            "public": "https://a.example/a.png",
            "api_key": "sk-1",
            "headers": [{"token": "sk-2"}],
            "long": "x".repeat(MAX_INPUT_BYTES),
        }));
        let made: Value = serde_json::from_str(&recipe(&inputs).json()).unwrap();
        let kept: Vec<&String> = made["inputs"].as_object().unwrap().keys().collect();
        assert_eq!(kept, ["prompt", "public"]);
        let omitted = [
            "image", "images", "upload", "signed", "login", "api_key", "headers", "long",
        ];
        assert_eq!(made["omitted"], json!(omitted));
        let line = recipe(&inputs).parameters();
        assert!(!line.contains("outputs") && !line.contains("Signature") && line.len() < 300);
    }

    #[test]
    fn all_inputs_together_are_bounded() {
        let half = "x".repeat(MAX_INPUTS_BYTES / 2 - 20);
        let inputs = inputs(json!({"a": half, "b": half, "c": half, "d": 1}));
        let made: Value = serde_json::from_str(&recipe(&inputs).json()).unwrap();
        assert_eq!(made["omitted"], json!(["c"]));
    }

    #[test]
    fn formats_times() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399_999, "2000-02-28T23:59:59Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (1_773_275_407_250, "2026-03-12T00:30:07Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(ms), text);
        }
    }
}
