//! Converts parameters to the inputs of ComfyUI nodes.

use atelier_contract::{DecimalText, Entry, Kind, Media, ModelId, Parameter, Schema};
use serde_json::{Map, Number, Value, json};

use super::media::{medium_of, medium_of_items};
use crate::model::Model;

/// The label of the choice that omits an optional parameter.
pub const LEFT_OUT: &str = "(leave out)";

/// The value of a seed's widget that omits the seed. It is necessary because ComfyUI's editor can't clear a number.
const NO_SEED: i64 = -1;

/// Returns ComfyUI's type for a medium.
pub fn type_of(media: Media) -> &'static str {
    match media {
        Media::Image => "IMAGE",
        Media::Video => "VIDEO",
        Media::Audio => "AUDIO",
    }
}

/// Returns the name and type of the node's output for the media themselves.
pub fn output(media: Media) -> (&'static str, &'static str) {
    let name = match media {
        Media::Image => "image",
        Media::Video => "video",
        Media::Audio => "audio",
    };
    (name, type_of(media))
}

pub fn type_of_results(model: &dyn Model) -> Option<&'static str> {
    model.makes().map(type_of)
}

/// Returns the id of the node in ComfyUI and its workflows.
pub fn key(model: &ModelId) -> String {
    format!("{}_{}", model.category, model.subcategory)
}

/// Returns the constants of the node file:
///
/// - `INPUTS`: the ComfyUI type and options of each parameter.
/// - `CHOICES`: the value of each label of a combo box.
/// - `BLANK`: the widget value that omits a parameter.
/// - `SEEDS`: the seeds among the parameters in `BLANK`.
/// - `MEDIA`: the ComfyUI type of the file, for parameters that accept a file or its address.
pub fn parts(schema: &Schema) -> Value {
    let mut parts = Parts::default();
    for (parameter, is_required) in schema.parameters() {
        // Secrets have no widget, because workflows store the values of widgets in clear text.
        if !parameter.is_secret() {
            parts.add(parameter, is_required);
        }
    }
    parts.into_value()
}

/// Builds the result of [`parts`].
#[derive(Default)]
struct Parts {
    required: Map<String, Value>,
    optional: Map<String, Value>,
    choices: Map<String, Value>,
    blank: Map<String, Value>,
    seeds: Vec<String>,
    media: Map<String, Value>,
}

impl Parts {
    fn add(&mut self, parameter: &Parameter, is_required: bool) {
        let (kind, mut options) = match parameter.kind() {
            Kind::Enum => self.combo(parameter, is_required),
            Kind::Integer => (json!("INT"), self.whole_number(parameter, is_required)),
            Kind::Number => (json!("FLOAT"), number(parameter)),
            Kind::Boolean => {
                let default = parameter.default.as_ref().and_then(Value::as_bool);
                (
                    json!("BOOLEAN"),
                    json!({"default": default.unwrap_or(false)}),
                )
            }
            Kind::Text => self.text(parameter),
            // ComfyUI has no widget for these: they are written as JSON.
            Kind::MultiChoice | Kind::Array | Kind::Object | Kind::Unknown => {
                let medium = medium_of_items(parameter);
                let default = parameter.default.as_ref().filter(|value| !value.is_null());
                let mut options = json!({
                    "default": default.map(ToString::to_string).unwrap_or_default(),
                    "multiline": true,
                });
                (self.socket(parameter, medium, &mut options), options)
            }
        };
        options["tooltip"] = self.tooltip(parameter).into();
        let group = if is_required {
            &mut self.required
        } else {
            &mut self.optional
        };
        group.insert(parameter.name.clone(), json!([kind, options]));
    }

    /// Adds the labels of an enumeration with their values.
    fn combo(&mut self, parameter: &Parameter, is_required: bool) -> (Value, Value) {
        let labels = labels(parameter, is_required);
        let default = default_label(parameter, &labels);
        let names: Vec<Value> = labels.iter().map(|(label, _)| json!(label)).collect();
        if let Some((label, None)) = labels.first() {
            self.blank.insert(parameter.name.clone(), json!(label));
        }
        let meanings: Map<String, Value> = labels
            .into_iter()
            .filter_map(|(label, value)| Some((label, value?)))
            .collect();
        self.choices
            .insert(parameter.name.clone(), Value::Object(meanings));
        (Value::Array(names), json!({ "default": default }))
    }

    /// Returns the options of an integer. If it is an optional seed, -1 omits it.
    fn whole_number(&mut self, parameter: &Parameter, is_required: bool) -> Value {
        let mut options = integer(parameter);
        if !is_required && can_be_blank(parameter) {
            self.blank.insert(parameter.name.clone(), NO_SEED.into());
            self.seeds.push(parameter.name.clone());
            options["default"] = NO_SEED.into();
            let minimum = options["min"].as_i64().unwrap_or(NO_SEED);
            options["min"] = minimum.min(NO_SEED).into();
        }
        options
    }

    /// Returns the type and options of a text, which may be the address of a file.
    fn text(&mut self, parameter: &Parameter) -> (Value, Value) {
        let default = parameter.default.as_ref().and_then(Value::as_str);
        let mut options = json!({
            "default": default.unwrap_or_default(),
            "multiline": parameter.is_long_text(),
        });
        (
            self.socket(parameter, medium_of(parameter), &mut options),
            options,
        )
    }

    /// Returns the type of a text that may be the address of a file with this medium, or several in a list.
    fn socket(
        &mut self,
        parameter: &Parameter,
        medium: Option<Media>,
        options: &mut Value,
    ) -> Value {
        let Some(medium) = medium.map(type_of) else {
            return json!("STRING");
        };
        self.media.insert(parameter.name.clone(), json!(medium));
        // A union of types has no widget by itself.
        options["widgetType"] = json!("STRING");
        let mask = if medium == "IMAGE" && parameter.is_mask() {
            ",MASK"
        } else {
            ""
        };
        json!(format!("STRING,{medium}{mask}"))
    }

    /// Returns the description, with a note on how to write the value.
    fn tooltip(&self, parameter: &Parameter) -> String {
        let as_json = matches!(parameter.kind(), Kind::Array | Kind::Object | Kind::Unknown);
        let note = match () {
            () if parameter.kind() == Kind::MultiChoice => {
                let choices = Value::from(parameter.choices());
                format!(" (Write it as a JSON list of any of {choices}.)")
            }
            () if as_json => " (Write it as JSON.)".to_owned(),
            () if self.seeds.last() == Some(&parameter.name) => " (-1 leaves it out.)".to_owned(),
            () => String::new(),
        };
        format!("{}{note}", parameter.description).trim().to_owned()
    }

    fn into_value(self) -> Value {
        json!({
            "INPUTS": {"required": self.required, "optional": self.optional},
            "CHOICES": self.choices,
            "BLANK": self.blank,
            "SEEDS": self.seeds,
            "MEDIA": self.media,
        })
    }
}

/// Returns whether -1 can mean an omitted seed: the seed has no default, and -1 is not a permitted seed.
fn can_be_blank(parameter: &Parameter) -> bool {
    let minimum = parameter.minimum.as_ref().and_then(Number::as_f64);
    parameter.is_seed()
        && parameter.default.is_none()
        && minimum.is_none_or(|minimum| minimum > NO_SEED as f64)
}

/// Returns a label for each value; the label that omits the parameter comes first, if possible.
fn labels(parameter: &Parameter, required: bool) -> Vec<(String, Option<Value>)> {
    let values = parameter.allowed_values.as_deref().unwrap_or_default();
    let mut labels: Vec<(String, Option<Value>)> = Vec::new();
    let default = parameter.default.as_ref();
    if !required && !default.is_some_and(|default| values.contains(default)) {
        labels.push((LEFT_OUT.to_owned(), None));
    }
    for value in values {
        if labels
            .iter()
            .any(|(_, known)| known.as_ref() == Some(value))
        {
            continue;
        }
        // `1` and `"1"` are the same as text, but differ as JSON.
        let plain = Entry::Value(value.clone()).to_text();
        let taken = |label: &str| labels.iter().any(|(known, _)| known == label);
        let label = [plain, value.to_string()]
            .into_iter()
            .find(|label| !taken(label));
        let label = label.unwrap_or_else(|| format!("{value} ({})", labels.len()));
        labels.push((label, Some(value.clone())));
    }
    labels
}

fn default_label(parameter: &Parameter, labels: &[(String, Option<Value>)]) -> String {
    let of_default = labels
        .iter()
        .find(|(_, value)| value.is_some() && value.as_ref() == parameter.default.as_ref());
    of_default
        .or(labels.first())
        .map(|(label, _)| label.clone())
        .unwrap_or_default()
}

/// Returns the options of an integer. Bounds are always set, by default those of 64 bits: without bounds, ComfyUI
/// permits only 0 to 2048.
fn integer(parameter: &Parameter) -> Value {
    let whole = |bound: &Option<Number>, otherwise: i128, up: bool| match bound {
        None => otherwise,
        Some(bound) => {
            let exact = bound
                .as_i64()
                .map(i128::from)
                .or(bound.as_u64().map(i128::from));
            let float = bound.as_f64().unwrap_or_default();
            exact.unwrap_or(if up { float.ceil() } else { float.floor() } as i128)
        }
    };
    let (lowest, highest) = (i128::from(i64::MIN), i128::from(u64::MAX));
    let minimum = whole(&parameter.minimum, lowest, true).clamp(lowest, highest);
    let maximum = whole(&parameter.maximum, highest, false).clamp(lowest, highest);
    let default = parameter
        .default
        .as_ref()
        .and_then(|value| {
            value
                .as_i64()
                .map(i128::from)
                .or(value.as_u64().map(i128::from))
        })
        .unwrap_or(0)
        .max(minimum)
        .min(maximum);
    let mut options = json!({
        "default": as_number(default),
        "min": as_number(minimum),
        "max": as_number(maximum),
    });
    if parameter.is_seed() {
        options["control_after_generate"] = true.into();
    }
    options
}

fn as_number(whole: i128) -> Value {
    match (u64::try_from(whole), i64::try_from(whole)) {
        (Ok(n), _) => n.into(),
        (_, Ok(n)) => n.into(),
        _ => 0.into(),
    }
}

fn number(parameter: &Parameter) -> Value {
    let bound = |bound: &Option<Number>, otherwise: f64| {
        bound
            .as_ref()
            .map_or_else(|| json!(otherwise), |bound| json!(bound))
    };
    let float = |value: &Value| value.as_f64().unwrap_or_default();
    let minimum = bound(&parameter.minimum, f64::MIN);
    let maximum = bound(&parameter.maximum, f64::MAX);
    let default = match &parameter.default {
        Some(default) if default.is_number() => default.clone(),
        _ if float(&minimum) > 0.0 => minimum.clone(),
        _ if float(&maximum) < 0.0 => maximum.clone(),
        _ => json!(0.0),
    };
    // The service accepts any number within the bounds, so values are not rounded to steps. The widget shows as many
    // decimals as the step has, and 0.00 for smaller numbers.
    let step = step_that_shows([Some(&default), parameter.minimum.as_ref().map(|_| &minimum)]);
    json!({"default": default, "min": minimum, "max": maximum, "step": step, "round": false})
}

/// Returns the step: 0.01, or a smaller power of ten if these numbers have more decimals.
fn step_that_shows<const N: usize>(numbers: [Option<&Value>; N]) -> f64 {
    const MOST: i32 = 12;
    let decimals = |number: &Value| {
        let text = number.to_string();
        let number = DecimalText::split(&text)?;
        let exponent: i32 = number.exponent.unwrap_or("0").parse().ok()?;
        let fraction = number.fraction.trim_end_matches('0').len();
        Some(i32::try_from(fraction).ok()? - exponent)
    };
    let most = numbers.into_iter().flatten().filter_map(decimals).max();
    10_f64.powi(-most.unwrap_or(2).clamp(2, MOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against a widget that shows 0.00 for a learning rate, and sends that.
    #[test]
    fn a_widget_shows_all_decimals_of_small_numbers() {
        let step = |default: f64, minimum: f64| {
            let parameter =
                json!({"name": "n", "type": "number", "default": default, "minimum": minimum});
            number(&serde_json::from_value(parameter).unwrap())["step"].clone()
        };
        assert_eq!(step(7.5, 0.0), json!(0.01));
        assert_eq!(step(0.9997, 0.9), json!(1e-4));
        assert_eq!(step(7.5e-5, 1e-7), json!(1e-7));
    }
}
