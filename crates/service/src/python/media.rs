//! Determines which parameters accept files, for the Python files.

use atelier_contract::{Kind, Media, Parameter};

use atelier_contract::function_schema::declared_items;

/// Words in a parameter's name that mean an archive, a table, or a property of a medium instead of a media file.
const NO_MEDIA: [&str; 18] = [
    "zip",
    "tar",
    "tgz",
    "json",
    "jsonl",
    "csv",
    "archive",
    "base64",
    "format",
    "size",
    "style",
    "type",
    "id",
    "name",
    "ratio",
    "resolution",
    "mode",
    "quality",
];

/// The number of words at the start of [`NO_MEDIA`] that are also searched in the description.
const ARCHIVES: usize = 6;

/// Returns the medium of the file whose address a text accepts. Returns `None` if name or description contain a word of
/// [`NO_MEDIA`].
pub fn medium_of(parameter: &Parameter) -> Option<Media> {
    let name = split_before_capitals(&parameter.name);
    let has = |text: &str, words: &[&str]| {
        let mut given = text.split(|c: char| !c.is_alphanumeric());
        given.any(|given| words.iter().any(|word| given.eq_ignore_ascii_case(word)))
    };
    let is_other = has(&name, &NO_MEDIA) || has(&parameter.description, &NO_MEDIA[..ARCHIVES]);
    parameter.media().filter(|_| !is_other)
}

/// Inserts spaces before capitals: `imagesZip` → `images Zip`.
fn split_before_capitals(name: &str) -> String {
    let mut split = String::new();
    for c in name.chars() {
        if c.is_uppercase() && split.ends_with(char::is_lowercase) {
            split.push(' ');
        }
        split.push(c);
    }
    split
}

/// Returns the medium of the files whose addresses a list accepts; of `images` as of `image`.
pub fn medium_of_items(parameter: &Parameter) -> Option<Media> {
    let is_text = declared_items(parameter).is_none_or(|items| items == "string");
    if parameter.kind() != Kind::Array || !is_text {
        return None;
    }
    let name = parameter.name.trim_end_matches(['s', 'S']).to_owned();
    medium_of(&Parameter {
        name,
        type_name: "string".into(),
        ..parameter.clone()
    })
}

/// Returns whether a parameter accepts files of the user's own, by their addresses.
pub fn takes_files(parameter: &Parameter) -> bool {
    let items = parameter.extra.get("items");
    let has_uris = items.is_some_and(|items| {
        parameter.kind() == Kind::Array && items.get("format").is_some_and(|format| format == "uri")
    });
    parameter.takes_file()
        || has_uris
        || medium_of(parameter).is_some()
        || medium_of_items(parameter).is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Guards against a ZIP or a JSON text that is offered as a picture because of its name.
    #[test]
    fn archives_and_properties_of_images_are_not_images() {
        let medium = |name: &str, description: &str| {
            let parameter = json!({"name": name, "type": "string", "description": description});
            medium_of(&serde_json::from_value(parameter).unwrap())
        };
        for name in [
            "image_zip",
            "imagesZip",
            "mask_json",
            "image_size",
            "voice_id",
        ] {
            assert_eq!(medium(name, ""), None, "{name}");
        }
        assert_eq!(
            medium("input_images", "A ZIP file of 10 to 20 pictures."),
            None
        );
        assert_eq!(medium("mask", "Regions, as JSON."), None);
        for name in ["image", "imageUrl", "start_image", "input_images", "mask"] {
            assert_eq!(
                medium(name, "The zipper to show."),
                Some(Media::Image),
                "{name}"
            );
        }
    }

    #[test]
    fn lists_of_addresses_accept_files() {
        let parameter = |value| serde_json::from_value::<Parameter>(value).unwrap();
        let list =
            |name: &str, items| parameter(json!({"name": name, "type": "array", "items": items}));
        let uri = json!({"type": "string", "format": "uri"});
        assert_eq!(
            medium_of_items(&list("image_input", uri.clone())),
            Some(Media::Image)
        );
        assert_eq!(
            medium_of_items(&list("referenceVideos", json!({}))),
            Some(Media::Video)
        );
        assert_eq!(
            medium_of_items(&list("images", json!({"type": "object"}))),
            None
        );
        assert!(takes_files(&list("references", uri)));
        assert!(!takes_files(&list("loras", json!({}))));
        let archive = parameter(json!({"name": "image_zip", "type": "string"}));
        assert!(!takes_files(&archive));
    }
}
