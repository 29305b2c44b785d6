//! Writes and reads links with which a result can be generated again. A link contains the model and the inputs with the
//! seed, but never credentials or files of the user. The inputs are in the fragment, which browsers don't send to servers.

use std::collections::BTreeSet;

use atelier_contract::{Media, ModelId, Schema, is_secret_name, json, path};
use atelier_engine::Task;
use serde_json::{Map, Value};

use crate::navigation::route::Route;
use crate::text::plural::listed;

/// The maximum length of a link in bytes, because some programs truncate longer links.
pub const MAX: usize = 16_000;

const NAME: &str = "inputs=";

/// What precedes the names of the parameters whose files are missing. The inputs contain no unescaped `&`.
const FILES: &str = "&files=";

/// The inputs in a link.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SharedInputs {
    pub values: Map<String, Value>,
    /// The parameters whose files are not in the link, because only the author of the link has them.
    pub missing_files: Vec<String>,
}

impl SharedInputs {
    /// Returns the message for the author of the link; empty if no files are missing.
    pub fn left_out_message(&self) -> String {
        let names = &self.missing_files;
        let (files, them) = match names.len() {
            0 => return String::new(),
            1 => ("file", "it"),
            _ => ("files", "them"),
        };
        let names = listed(names);
        format!(
            "The link leaves out your {files} for {names}: it asks the recipient to choose {them}."
        )
    }

    /// Returns the message for the recipient of the link: `This link needs a picture for image.` Empty if it needs no files
    /// for parameters of this schema.
    pub fn needed_files_message(&self, schema: &Schema) -> String {
        let known = (self.missing_files.iter()).filter_map(|name| schema.parameter(name));
        let needed = known.map(|(parameter, _)| {
            let name = &parameter.name;
            let list = parameter.media_list();
            match (parameter.media().or(list), list.is_some()) {
                (Some(Media::Image), false) => format!("a picture for {name}"),
                (Some(Media::Image), true) => format!("pictures for {name}"),
                (Some(Media::Video), false) => format!("a video for {name}"),
                (Some(Media::Video), true) => format!("videos for {name}"),
                (Some(Media::Audio), false) => format!("a sound for {name}"),
                (Some(Media::Audio), true) => format!("sounds for {name}"),
                (None, _) => format!("a file for {name}"),
            }
        });
        let needed: Vec<String> = needed.collect();
        match needed.is_empty() {
            true => String::new(),
            false => format!("This link needs {}.", listed(&needed)),
        }
    }
}

/// Returns the path and fragment of a link to a model's form with these inputs; `None` if it would be too long.
pub fn link(model: &ModelId, inputs: &SharedInputs) -> Option<String> {
    let values = &inputs.values;
    // Don't serialize texts that are too long.
    let texts = values.values().filter_map(Value::as_str);
    if texts.map(str::len).sum::<usize>() > MAX {
        return None;
    }
    let values = Value::Object(values.clone()).to_string();
    let path = Route::Model(model.clone()).path();
    let mut link = format!("{path}#{NAME}{}", path::segment(&values));
    if !inputs.missing_files.is_empty() {
        let names = inputs.missing_files.iter().map(|name| path::segment(name));
        link.push_str(FILES);
        link.push_str(&names.collect::<Vec<_>>().join(","));
    }
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
pub fn read(fragment: &str) -> Result<Option<SharedInputs>, Unreadable> {
    let fragment = fragment.strip_prefix('#').unwrap_or(fragment);
    let Some(values) = fragment.strip_prefix(NAME) else {
        return Ok(None);
    };
    if values.len() > MAX {
        return Err(Unreadable::TooLong);
    }
    let (values, names) = values.rsplit_once(FILES).unwrap_or((values, ""));
    let names = names.split(',').filter(|name| !name.is_empty());
    let missing_files = names.map(path::decode).collect();
    match json::read(&path::decode(values)) {
        Some(Value::Object(values)) => Ok(Some(SharedInputs {
            values,
            missing_files,
        })),
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

    fn inputs(value: Value) -> SharedInputs {
        SharedInputs {
            values: object(value),
            missing_files: Vec::new(),
        }
    }

    #[test]
    fn a_link_survives_a_round_trip() {
        let values = inputs(json!({"prompt": "räd & #1 ½", "seed": u64::MAX, "loop": true}));
        let link = link(&ModelId::new("image", "strata"), &values).unwrap();
        assert!(
            link.starts_with("/models/image/strata#inputs=%7B"),
            "{link}"
        );
        let (_, fragment) = link.split_once('#').unwrap();
        assert_eq!(read(fragment), Ok(Some(values.clone())));
        assert_eq!(read(&format!("#{fragment}")), Ok(Some(values)));
    }

    #[test]
    fn a_link_names_the_files_that_are_missing() {
        let mut shared = inputs(json!({"prompt": "a & b&files=c"}));
        shared.missing_files = vec!["image".into(), "last, frame".into(), "video_urls".into()];
        let link = link(&ModelId::new("video", "a"), &shared).unwrap();
        assert!(
            link.ends_with("&files=image,last%2C%20frame,video_urls"),
            "{link}"
        );
        let (_, fragment) = link.split_once('#').unwrap();
        assert_eq!(read(fragment), Ok(Some(shared.clone())));
        let list = json!({"name": "video_urls", "type": "array", "items": {"type": "string"}});
        let schema = json!({"category": "video", "subcategory": "a", "parameters": {
            "required": [{"name": "image", "type": "string"}], "optional": [list, {"name": "prompt", "type": "string"}],
        }});
        let schema: Schema = serde_json::from_value(schema).unwrap();
        // The model has no `last, frame`.
        assert_eq!(
            shared.needed_files_message(&schema),
            "This link needs a picture for image and videos for video_urls."
        );
        assert_eq!(inputs(json!({})).needed_files_message(&schema), "");
        assert_eq!(
            shared.left_out_message(),
            "The link leaves out your files for image, last, frame and video_urls: it asks the recipient to choose them."
        );
        shared.missing_files.truncate(1);
        assert_eq!(
            shared.left_out_message(),
            "The link leaves out your file for image: it asks the recipient to choose it."
        );
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
        let long = inputs(json!({"prompt": "a".repeat(MAX)}));
        assert_eq!(link(&ModelId::new("image", "strata"), &long), None);
        let long = format!("inputs=%7B%22a%22:%22{}%22%7D", "a".repeat(MAX));
        // A link that is too long is not damaged.
        assert_eq!(read(&long), Err(Unreadable::TooLong));
    }

    proptest! {
        #[test]
        fn any_text_survives_a_link(name in ".{1,9}", text in ".*") {
            let values = inputs(json!({ name: text }));
            let link = link(&ModelId::new("image", "a"), &values).unwrap();
            prop_assert_eq!(read(link.split_once('#').unwrap().1), Ok(Some(values)));
        }
    }
}
