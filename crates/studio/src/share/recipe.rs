//! Writes and reads links with which a result can be generated again. A link contains the model and the inputs with the
//! seed, but never credentials. The inputs are in the fragment, which browsers don't send to servers.

use std::collections::BTreeSet;

use atelier_contract::{ModelId, is_secret_name, json, path};
use atelier_engine::Task;
use serde_json::{Map, Value};

use crate::navigation::route::Route;
use crate::text::plural::listed;

/// The maximum length of a link in bytes, because some programs truncate longer links.
pub const MAX: usize = 16_000;

const NAME: &str = "inputs=";

/// Returns the path and fragment of a link to a model's form with these values; `None` if it would be too long.
pub fn link(model: &ModelId, values: &Map<String, Value>) -> Option<String> {
    // Don't serialize texts that are too long.
    let texts = values.values().filter_map(Value::as_str);
    if texts.map(str::len).sum::<usize>() > MAX {
        return None;
    }
    let values = Value::Object(values.clone()).to_string();
    let path = Route::Model(model.clone()).path();
    let link = format!("{path}#{NAME}{}", path::segment(&values));
    (link.len() <= MAX).then_some(link)
}

/// Returns the parameters whose names look like those of secrets and whose values are texts.
pub fn suspects(values: &Map<String, Value>) -> Vec<String> {
    let is_suspect = |(name, value): &(&String, &Value)| {
        is_secret_name(name) && value.as_str().is_some_and(|text| !text.is_empty())
    };
    let suspects = values.iter().filter(is_suspect);
    suspects.map(|(name, _)| name.clone()).collect()
}

/// Like [`suspects`], for several tasks.
pub fn suspects_of<'a>(tasks: impl Iterator<Item = &'a Task>) -> Vec<String> {
    let names: BTreeSet<String> = tasks
        .flat_map(|task| suspects(task.input.values()))
        .collect();
    names.into_iter().collect()
}

/// Returns a message such as `api_key looks like a secret and is part of this link.`
pub fn suspects_message(names: &[String], what: &str) -> String {
    let (look, are) = match names.len() {
        1 => ("looks like a secret", "is"),
        _ => ("look like secrets", "are"),
    };
    format!("{} {look} and {are} part of this {what}.", listed(names))
}

/// The reason why a link can't be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// The link was truncated or modified.
    Damaged,
    /// The link is longer than [`MAX`].
    TooLong,
}

impl Unreadable {
    /// Returns the message for the user.
    pub fn user_message(self) -> &'static str {
        match self {
            Self::Damaged => {
                "This link is cut off or damaged: nothing was loaded from it. The form is unchanged."
            }
            Self::TooLong => {
                "This link is too long: nothing was loaded from it. The form is unchanged."
            }
        }
    }
}

/// Reads the values in a fragment, with or without its `#`; `None` if it contains none.
///
/// # Errors
///
/// The values are invalid, or longer than [`MAX`].
pub fn read(fragment: &str) -> Result<Option<Map<String, Value>>, Unreadable> {
    let fragment = fragment.strip_prefix('#').unwrap_or(fragment);
    let Some(values) = fragment.strip_prefix(NAME) else {
        return Ok(None);
    };
    if values.len() > MAX {
        return Err(Unreadable::TooLong);
    }
    match json::read(&path::decode(values)) {
        Some(Value::Object(values)) => Ok(Some(values)),
        _ => Err(Unreadable::Damaged),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn a_link_survives_a_round_trip() {
        let values = object(json!({"prompt": "räd & #1 ½", "seed": u64::MAX, "loop": true}));
        let link = link(&ModelId::new("image", "strata"), &values).unwrap();
        assert!(
            link.starts_with("/models/image/strata#inputs=%7B"),
            "{link}"
        );
        let (_, fragment) = link.split_once('#').unwrap();
        assert_eq!(read(fragment), Ok(Some(values.clone())));
        assert_eq!(read(&format!("#{fragment}")), Ok(Some(values)));
    }

    /// The user must be warned before sharing a token in a link.
    #[test]
    fn likely_secrets_are_pointed_out() {
        let values = json!({"prompt": "a token of love", "hf_token": "hf_1", "api_key": "", "max_tokens": "5"});
        let suspects = suspects(&object(values));
        assert_eq!(
            suspects_message(&suspects, "link"),
            "hf_token looks like a secret and is part of this link."
        );
    }

    #[test]
    fn other_fragments_and_damaged_ones_are_distinguished() {
        for fragment in ["", "#", "#main", "#other=%7B%7D"] {
            assert_eq!(read(fragment), Ok(None), "{fragment}");
        }
        for fragment in ["#inputs=", "#inputs=[1]", "#inputs=%7B", "#inputs=%7B%22a"] {
            assert_eq!(read(fragment), Err(Unreadable::Damaged), "{fragment}");
        }
        let long = object(json!({"prompt": "a".repeat(MAX)}));
        assert_eq!(link(&ModelId::new("image", "strata"), &long), None);
        let long = format!("inputs=%7B%22a%22:%22{}%22%7D", "a".repeat(MAX));
        // A link that is too long is not damaged.
        assert_eq!(read(&long), Err(Unreadable::TooLong));
    }

    proptest! {
        #[test]
        fn any_text_survives_a_link(name in ".{1,9}", text in ".*") {
            let values = object(json!({ name: text }));
            let link = link(&ModelId::new("image", "a"), &values).unwrap();
            prop_assert_eq!(read(link.split_once('#').unwrap().1), Ok(Some(values)));
        }
    }
}
