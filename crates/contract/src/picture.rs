//! Determines which parameters contain pictures, and which of these are masks.

use serde_json::Value;

use crate::function_schema::declared_items;
use crate::parameter::words;
use crate::{Kind, Media, Parameter};

/// Words that make a description speak of the use of a mask, as in `Image to mask`.
const USES: [&str; 12] = [
    "with", "without", "for", "to", "of", "that", "which", "where", "the", "using", "from", "or",
];

/// The number of words of a description that may say that the parameter is a mask.
const FIRST_WORDS: usize = 5;

/// The role of a picture in an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureRole {
    Image,
    /// Marks areas of another picture.
    Mask,
}

impl Parameter {
    /// Returns the role of a parameter whose value is the address of a picture, or a list of such addresses. INTERFACE
    /// defines no marker.
    pub fn picture_role(&self) -> Option<PictureRole> {
        let is_picture = match self.kind() {
            Kind::Text => is_picture(self),
            Kind::Array => is_list_of_pictures(self),
            _ => false,
        };
        is_picture.then(|| match has_mask_mark(self) {
            true => PictureRole::Mask,
            false => PictureRole::Image,
        })
    }

    /// Whether a parameter takes a mask: its format is `mask`, its name contains the word, or its description begins with it
    /// (`Black and white mask of …`).
    pub fn is_mask(&self) -> bool {
        self.picture_role() == Some(PictureRole::Mask)
    }
}

fn is_picture(parameter: &Parameter) -> bool {
    match parameter.media() {
        Some(media) => media == Media::Image,
        None => parameter.takes_file(),
    }
}

fn is_list_of_pictures(list: &Parameter) -> bool {
    if let Some(media) = list.media_list() {
        return media == Media::Image;
    }
    let items = list.extra.get("items");
    let is_uri = items.and_then(|items| items.get("format")?.as_str()) == Some("uri");
    let is_named = list.named_files() == Some(Media::Image) || has_mask_format(list);
    is_uri || declared_items(list).is_none() && is_named
}

fn has_mask_mark(parameter: &Parameter) -> bool {
    has_mask_format(parameter)
        || words(&parameter.name).iter().any(|word| is_mask_word(word))
        || is_described_as_mask(&parameter.description)
}

fn has_mask_format(parameter: &Parameter) -> bool {
    parameter.extra.get("format").and_then(Value::as_str) == Some("mask")
}

fn is_mask_word(word: &str) -> bool {
    matches!(
        word.trim_end_matches(|c: char| c.is_ascii_digit()),
        "mask" | "masks" | "maskimage" | "maskurl" | "inpaintmask"
    )
}

fn is_described_as_mask(description: &str) -> bool {
    // `Input image. Mask areas are changed` describes the image.
    let is_about = |clause: &&str| {
        let mut words = words(clause).into_iter();
        words.any(|word| !matches!(word.as_str(), "optional" | "required"))
    };
    let mut clauses = description.split(['.', ',', ';', ':', '(', ')', '\n']);
    let clause = clauses.find(is_about);
    let mut previous = String::new();
    for word in words(clause.unwrap_or_default())
        .into_iter()
        .take(FIRST_WORDS)
    {
        if is_mask_word(&word) {
            // `Image and mask must have the same size` describes the image.
            return previous != "and";
        }
        if USES.contains(&word.as_str()) {
            return false;
        }
        previous = word;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn role(parameter: Value) -> Option<PictureRole> {
        let parameter: Parameter = serde_json::from_value(parameter).unwrap();
        parameter.picture_role()
    }

    fn text(name: &str, description: &str) -> Option<PictureRole> {
        role(json!({"name": name, "type": "string", "description": description}))
    }

    const IMAGE: Option<PictureRole> = Some(PictureRole::Image);
    const MASK: Option<PictureRole> = Some(PictureRole::Mask);

    #[test]
    fn pictures_are_recognized_by_name_and_format() {
        assert_eq!(text("image", ""), IMAGE);
        for name in ["prompt", "size", "video", "image_prompt"] {
            assert_eq!(text(name, ""), None, "{name}");
        }
        let uri = json!({"name": "source", "type": "string", "format": "uri"});
        assert_eq!(role(uri), IMAGE);
        let count = json!({"name": "images", "type": "integer"});
        assert_eq!(role(count), None);
    }

    /// Guards against a picture that is sent as a mask because its description mentions one.
    #[test]
    fn pictures_whose_description_mentions_a_mask_are_no_masks() {
        for description in [
            "Input image. Mask areas are changed",
            "Image and mask must have the same size",
            "Photo (mask optional)",
        ] {
            assert_eq!(text("image", description), IMAGE, "{description}");
        }
    }

    #[test]
    fn lists_of_addresses_are_pictures() {
        let list =
            |name: &str, items: Value| role(json!({"name": name, "type": "array", "items": items}));
        let uri = json!({"type": "string", "format": "uri"});
        assert_eq!(list("references", uri.clone()), IMAGE);
        assert_eq!(list("videos", uri.clone()), None);
        assert_eq!(list("masks", uri), MASK);
        assert_eq!(role(json!({"name": "images", "type": "array"})), IMAGE);
        assert_eq!(list("inpaintMask", json!({})), MASK);
        assert_eq!(list("loras", json!({"type": "object"})), None);
        assert_eq!(list("images", json!({"type": "object"})), None);
        assert_eq!(list("image_tags", json!({"type": "string"})), None);
        assert_eq!(list("image_urls", json!({"type": "string"})), IMAGE);
    }

    /// Guards against pictures that are not sent as such because only the name of their list says so, and against texts about
    /// pictures that are sent as pictures.
    #[test]
    fn lists_are_recognized_by_name() {
        for items in [json!({"type": "string"}), json!({}), Value::Null] {
            let list = |name: &str| role(json!({"name": name, "type": "array", "items": items}));
            for name in ["photos", "image_list", "reference_images", "frames"] {
                assert_eq!(list(name), IMAGE, "{name} of {items}");
            }
            for name in [
                "image_prompts",
                "photo_style",
                "mask_prompts",
                "frame_rates",
                "videos",
            ] {
                assert_eq!(list(name), None, "{name} of {items}");
            }
        }
    }

    #[test]
    fn masks_are_recognized_by_name_format_and_description() {
        for name in [
            "mask",
            "mask_image",
            "maskImage",
            "edit_mask",
            "mask_2",
            "mask2_image",
        ] {
            assert_eq!(text(name, ""), MASK, "{name}");
        }
        for description in [
            "Mask of the areas",
            "Black and white mask of the areas to change",
            "(Optional) mask of the area",
            "Optional: mask of the area",
        ] {
            assert_eq!(text("second_image", description), MASK, "{description}");
        }
        let with_format = json!({"name": "area", "type": "string", "format": "mask"});
        assert_eq!(role(with_format), MASK);
    }

    #[test]
    fn pictures_about_masks_are_not_masks() {
        for description in ["Image to mask", "The picture that the mask belongs to"] {
            assert_eq!(text("image", description), IMAGE, "{description}");
        }
        assert_eq!(text("mask_prompt", ""), None);
        assert_eq!(text("masked_image", ""), IMAGE);
    }
}
