//! Chooses the control for a parameter.

use crate::output::expected_output;
use crate::text::plural::counted;
use atelier_contract::{Entry, Kind, Media, Parameter, check};
use serde_json::{Number, Value};

pub mod several;
mod steps;

pub use steps::{slider, slider_value, stepped};

/// The control for a parameter. Every parameter has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    LongText,
    Text,
    /// The address of an image, a video or a sound, with a preview.
    Media(Media),
    /// A list of such addresses.
    MediaList(Media),
    /// A few short choices, all visible.
    Segmented,
    Select,
    /// Any number of permitted values, all visible.
    Several,
    /// A number. `slider`: whether the range is small enough to select each value with a slider.
    Number {
        slider: bool,
    },
    Seed,
    Switch,
    /// Arrays, objects and unknown types.
    Json,
}

impl Control {
    /// Returns the control for a parameter.
    pub fn of(parameter: &Parameter) -> Self {
        match parameter.kind() {
            Kind::Text if parameter.is_long_text() => Self::LongText,
            Kind::Text => parameter.media().map_or(Self::Text, Self::Media),
            Kind::Enum if is_short(parameter.choices()) => Self::Segmented,
            Kind::Enum => Self::Select,
            Kind::MultiChoice => Self::Several,
            Kind::Integer if parameter.is_seed() => Self::Seed,
            Kind::Integer | Kind::Number => Self::Number {
                slider: slider(parameter).is_some(),
            },
            Kind::Boolean => Self::Switch,
            Kind::Array => parameter.media_list().map_or(Self::Json, Self::MediaList),
            Kind::Object | Kind::Unknown => Self::Json,
        }
    }
}

/// Whether the choices fit side by side. Aspect ratios are drawn as shapes, so more of them fit.
fn is_short(values: &[Value]) -> bool {
    const MAX: usize = 6;
    const MAX_CHARACTERS: usize = 30;
    const MAX_SHAPES: usize = 9;
    let is_shape = |value: &Value| value.as_str().and_then(expected_output::shape).is_some();
    if values.len() <= MAX_SHAPES && values.iter().all(is_shape) {
        return true;
    }
    let characters: usize = values.iter().map(|value| text(value).chars().count()).sum();
    values.len() <= MAX && characters <= MAX_CHARACTERS
}

/// Formats a value for the user: strings without quotes, everything else as JSON.
pub fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns the bounds as text, such as `1 to 50`; empty without bounds. The default is shown in the field.
pub fn bounds(parameter: &Parameter) -> String {
    match parameter.item_bounds() {
        (Some(min), Some(max)) => return format!("{min} to {max} items"),
        (Some(min), None) => return format!("at least {}", counted(min as usize, "item")),
        (None, Some(max)) => return format!("at most {}", counted(max as usize, "item")),
        (None, None) => {}
    }
    // Some services write `0.0` for 0.
    let plain = |number: &Number| {
        let text = number.to_string();
        text.strip_suffix(".0").unwrap_or(&text).to_owned()
    };
    match (&parameter.minimum, &parameter.maximum) {
        (Some(min), Some(max)) => format!("{} to {}", plain(min), plain(max)),
        (Some(min), None) => format!("at least {}", plain(min)),
        (None, Some(max)) => format!("at most {}", plain(max)),
        (None, None) => String::new(),
    }
}

/// Whether an entry equals the parameter's default. Such an entry is sent nevertheless, because a service may change
/// its defaults, and values that the user has set must not change.
pub fn is_default(parameter: &Parameter, entry: &Entry) -> bool {
    let Some(default) = parameter.default_entry() else {
        return false;
    };
    let value = |entry: &Entry| check(parameter, false, Some(entry)).ok().flatten();
    let default = value(&default);
    default.is_some() && value(entry) == default
}

/// Returns the initial number of lines of a long text field, which grows with its text: four for a required parameter
/// or the prompt, otherwise one.
pub fn text_lines(parameter: &Parameter, is_required: bool) -> usize {
    match is_required || parameter.name == "prompt" {
        true => 4,
        false => 1,
    }
}

/// Returns the name of the command key on a platform (`MacIntel`, `Linux x86_64`).
pub fn command_key(platform: &str) -> &'static str {
    let has_command = ["Mac", "iPhone", "iPad"]
        .iter()
        .any(|it| platform.starts_with(it));
    match has_command {
        true => "⌘",
        false => "Ctrl",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parameter(value: Value) -> Parameter {
        serde_json::from_value(value).unwrap()
    }

    /// A default that the user has typed must not count as changed.
    #[test]
    fn a_typed_default_is_the_default() {
        let layers = parameter(json!({
            "name": "layers", "type": "integer", "minimum": 2, "maximum": 12, "default": 6
        }));
        let typed = |text: &str| is_default(&layers, &Entry::Text(text.into()));
        assert!(typed("6") && typed(" 6 ") && is_default(&layers, &Entry::Value(json!(6))));
        assert!(!typed("7") && !typed("") && !typed("six") && !typed("99"));
        let free = parameter(json!({"name": "seed", "type": "integer"}));
        assert!(!is_default(&free, &Entry::Text(String::new())));
        let null = parameter(json!({"name": "seed", "type": "integer", "default": null}));
        assert!(!is_default(&null, &Entry::Text("3".into())));
    }

    #[test]
    fn optional_texts_start_with_one_line() {
        let lines = |name: &str, is_required| {
            text_lines(
                &parameter(json!({"name": name, "type": "string"})),
                is_required,
            )
        };
        assert_eq!(lines("lyrics", true), 4);
        assert_eq!(lines("prompt", false), 4);
        assert_eq!(lines("negative_prompt", false), 1);
    }

    #[test]
    fn controls_of_parameters() {
        for (value, control) in [
            (
                json!({"name": "prompt", "type": "string"}),
                Control::LongText,
            ),
            (json!({"name": "style", "type": "string"}), Control::Text),
            (
                json!({"name": "image_url", "type": "string"}),
                Control::Media(Media::Image),
            ),
            (
                json!({"name": "a", "type": "enum", "allowedValues": [1, 2]}),
                Control::Segmented,
            ),
            (
                json!({"name": "a", "type": "enum", "allowedValues":
                    ["1:1", "3:2", "2:3", "4:3", "3:4", "16:9", "9:16", "21:9", "9:21"]}),
                Control::Segmented,
            ),
            (
                json!({"name": "a", "type": "enum", "allowedValues": ["a long choice", "another long choice"]}),
                Control::Select,
            ),
            (json!({"name": "seed", "type": "integer"}), Control::Seed),
            (
                json!({"name": "n", "type": "integer", "minimum": 1, "maximum": 4}),
                Control::Number { slider: true },
            ),
            (
                json!({"name": "n", "type": "integer", "minimum": 0, "maximum": u64::MAX}),
                Control::Number { slider: false },
            ),
            (
                json!({"name": "n", "type": "float", "minimum": 0, "maximum": 1}),
                Control::Number { slider: true },
            ),
            (json!({"name": "b", "type": "boolean"}), Control::Switch),
            (json!({"name": "x", "type": "tensor"}), Control::Json),
        ] {
            assert_eq!(Control::of(&parameter(value.clone())), control, "{value}");
        }
    }

    #[test]
    fn bounds_in_words() {
        let steps = parameter(
            json!({"name": "n", "type": "integer", "minimum": 1, "maximum": 50, "default": 4}),
        );
        assert_eq!(bounds(&steps), "1 to 50");
        assert_eq!(
            bounds(&parameter(
                json!({"name": "n", "type": "string", "default": ""})
            )),
            ""
        );
    }
}
