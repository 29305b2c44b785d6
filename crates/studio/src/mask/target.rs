//! Finds mask parameters, and the picture that a mask belongs to.

use atelier_contract::{Draft, Media, Parameter, Schema};

/// Names of parameters that contain the picture to change, most specific first.
const SOURCES: [&str; 8] = [
    "image", "input", "init", "source", "base", "original", "picture", "photo",
];

/// Words in names of parameters that contain another picture, such as a style reference.
const OTHERS: [&str; 10] = [
    "style",
    "reference",
    "ref",
    "control",
    "face",
    "pose",
    "depth",
    "end",
    "last",
    "ip",
];

/// Whether the field of a parameter takes a mask.
pub fn is_mask(parameter: &Parameter) -> bool {
    parameter.media() == Some(Media::Image) && parameter.is_mask()
}

/// Splits a text into lower-case words; `maskImage` and `mask_image` are two.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for c in text.chars() {
        if !c.is_alphabetic() || (c.is_uppercase() && after_lower) {
            words.push(String::new());
        }
        if c.is_alphabetic()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        after_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// An image parameter of a form.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    pub parameter: &'a Parameter,
    pub is_filled: bool,
}

/// The picture of a mask, as the index of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Picture(usize),
    /// This parameter must be filled first.
    Empty(usize),
    /// The form has no other image parameter.
    None,
}

/// Returns the picture of a mask: the filled image parameter whose name fits best, or the first of several that fit
/// equally.
pub fn picture_of(candidates: &[Candidate<'_>]) -> Target {
    let pictures = candidates.iter().enumerate();
    let pictures = pictures.filter(|(_, candidate)| !is_mask(candidate.parameter));
    let best = pictures
        .min_by_key(|(at, candidate)| (!candidate.is_filled, rank(&candidate.parameter.name), *at));
    match best {
        Some((at, candidate)) if candidate.is_filled => Target::Picture(at),
        Some((at, _)) => Target::Empty(at),
        None => Target::None,
    }
}

/// A mask parameter of a model and the picture parameter that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaskPlace {
    pub picture: String,
    pub mask: String,
}

/// Returns the mask parameters of a model for which it also has a picture.
pub fn places(schema: &Schema) -> Vec<MaskPlace> {
    let images = schema.parameters().map(|(parameter, _)| parameter);
    let images: Vec<Candidate<'_>> = images
        .filter(|parameter| parameter.media() == Some(Media::Image))
        .map(|parameter| Candidate {
            parameter,
            is_filled: false,
        })
        .collect();
    let (Target::Empty(at) | Target::Picture(at)) = picture_of(&images) else {
        return Vec::new();
    };
    let masks = images.iter().filter(|image| is_mask(image.parameter));
    let place = |mask: &Candidate<'_>| MaskPlace {
        picture: images[at].parameter.name.clone(),
        mask: mask.parameter.name.clone(),
    };
    masks.map(place).collect()
}

/// Returns the mask parameters that belong to the picture, or the list of pictures, in `parameter` of a filled form.
pub fn masks_of(schema: &Schema, draft: &Draft, parameter: &str) -> Vec<String> {
    let images = schema.parameters().map(|(parameter, _)| parameter);
    let images = images.filter(|parameter| parameter.media() == Some(Media::Image));
    let is_filled = |name: &str| {
        let entry = draft.get(name);
        entry.is_some_and(|entry| !entry.to_text().trim().is_empty())
    };
    let images: Vec<Candidate<'_>> = images
        .map(|parameter| Candidate {
            parameter,
            is_filled: is_filled(&parameter.name),
        })
        .collect();
    let is_own = match (schema.parameter(parameter), picture_of(&images)) {
        (Some((of, _)), Target::Picture(at)) => images[at].parameter.name == of.name,
        (Some((of, _)), Target::Empty(_) | Target::None) => of.media_list() == Some(Media::Image),
        (None, _) => false,
    };
    let masks = images.iter().map(|image| image.parameter);
    let masks = masks.filter(|image| is_own && is_mask(image));
    masks.map(|mask| mask.name.clone()).collect()
}

/// Returns how well a name fits the picture to change; 0 is best.
fn rank(name: &str) -> usize {
    let words = words(name);
    let is_in = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    match (is_in(&OTHERS), is_in(&SOURCES)) {
        (true, _) => 2,
        (false, true) => 0,
        (false, false) => 1,
    }
}

/// Returns the name of a mask's file. `picture`: the name of the picture's file, if it is known; `url`: its address.
pub fn file_name(picture: Option<&str>, url: &str) -> String {
    let of_url = || {
        let path = &url[..url.find(['?', '#']).unwrap_or(url.len())];
        let is_data = url.starts_with("data:") || url.starts_with("blob:");
        let (_, name) = path.rsplit_once('/').filter(|_| !is_data)?;
        Some(name)
    };
    let name = picture.or_else(of_url).unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let is_plain = |c: &char| !c.is_control() && !matches!(c, '/' | '\\' | ':' | '"');
    let stem: String = stem.chars().filter(is_plain).take(80).collect();
    match stem.trim() {
        "" => "picture-mask.png".to_owned(),
        stem => format!("{stem}-mask.png"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parameter(name: &str, description: &str) -> Parameter {
        let value = json!({"name": name, "type": "string", "description": description});
        serde_json::from_value(value).unwrap()
    }

    fn find(fields: &[(&str, bool)]) -> Target {
        let parameters: Vec<Parameter> = (fields.iter())
            .map(|(name, _)| parameter(name, ""))
            .collect();
        let candidates: Vec<Candidate<'_>> = (parameters.iter().zip(fields))
            .map(|(parameter, (_, is_filled))| Candidate {
                parameter,
                is_filled: *is_filled,
            })
            .collect();
        picture_of(&candidates)
    }

    #[test]
    fn a_model_with_a_mask_and_a_picture_has_a_place_for_a_mask() {
        let of = |names: &[&str]| {
            let list = names
                .iter()
                .map(|name| json!({"name": name, "type": "string"}));
            let list: Vec<_> = list.collect();
            let schema = json!({"category": "image", "subcategory": "a", "parameters": {"required": [], "optional": list}});
            places(&serde_json::from_value(schema).unwrap())
        };
        let place = |picture: &str, mask: &str| MaskPlace {
            picture: picture.into(),
            mask: mask.into(),
        };
        let names = ["prompt", "style_image", "mask", "image", "mask_image"];
        assert_eq!(
            of(&names),
            [place("image", "mask"), place("image", "mask_image")]
        );
        assert_eq!(of(&["prompt", "mask"]), []);
        assert_eq!(of(&["prompt", "image"]), []);
        assert_eq!(of(&[]), []);
    }

    #[test]
    fn a_mask_belongs_to_the_filled_picture() {
        let schema: Schema = serde_json::from_value(json!({
            "category": "image", "subcategory": "a",
            "parameters": {"required": [], "optional": [
                {"name": "image", "type": "string"},
                {"name": "style_image", "type": "string"},
                {"name": "mask", "type": "string"},
                {"name": "image_urls", "type": "array", "items": {"type": "string"}},
            ]}
        }))
        .unwrap();
        let of = |filled: &[&str], parameter: &str| {
            let mut draft = Draft::default();
            for name in filled {
                draft.set(*name, atelier_contract::Entry::Text("https://a".into()));
            }
            masks_of(&schema, &draft, parameter)
        };
        assert_eq!(of(&["image", "style_image", "mask"], "image"), ["mask"]);
        assert_eq!(of(&["image", "style_image"], "style_image"), [""; 0]);
        assert_eq!(of(&["style_image"], "style_image"), ["mask"]);
        assert_eq!(of(&["image_urls", "mask"], "image_urls"), ["mask"]);
        assert_eq!(of(&["image", "image_urls"], "image_urls"), [""; 0]);
        assert_eq!(of(&["mask"], "mask"), [""; 0]);
    }

    #[test]
    fn masks_are_recognized_by_name_format_and_description() {
        for name in [
            "mask",
            "mask_image",
            "maskUrl",
            "inpaint_mask",
            "mask2_image",
        ] {
            assert!(is_mask(&parameter(name, "")), "{name}");
        }
        for description in [
            "Mask: white is what changes",
            "Black and white mask of the area",
            "Inpainting mask. White pixels are inpainted",
            "A mask",
        ] {
            assert!(
                is_mask(&parameter("second_image", description)),
                "{description}"
            );
        }
        let with_format = json!({"name": "area_image", "type": "string", "format": "mask"});
        assert!(is_mask(&serde_json::from_value(with_format).unwrap()));
    }

    #[test]
    fn pictures_and_texts_about_masks_are_not_masks() {
        for description in [
            "Image to mask",
            "The picture that the mask applies to",
            "Image used with a mask",
            "",
        ] {
            assert!(!is_mask(&parameter("image", description)), "{description}");
        }
        assert!(!is_mask(&parameter("mask_prompt", "")));
        let strength = json!({"name": "mask_blur", "type": "integer"});
        assert!(!is_mask(&serde_json::from_value(strength).unwrap()));
        assert!(!is_mask(&parameter("masked_image", "")));
    }

    #[test]
    fn the_filled_picture_with_the_fitting_name_is_chosen() {
        assert_eq!(
            find(&[("mask", false), ("image", true)]),
            Target::Picture(1)
        );
        assert_eq!(
            find(&[("style_image", true), ("init_image", true), ("mask", false)]),
            Target::Picture(1)
        );
        // The first filled one of several.
        assert_eq!(
            find(&[("input_image", false), ("image2", true), ("image3", true)]),
            Target::Picture(1)
        );
        // A reference is better than nothing.
        assert_eq!(
            find(&[("image", false), ("style_image", true)]),
            Target::Picture(1)
        );
    }

    #[test]
    fn an_empty_form_names_the_picture_that_is_needed() {
        assert_eq!(
            find(&[("control_image", false), ("image", false), ("mask", true)]),
            Target::Empty(1)
        );
        assert_eq!(
            find(&[("mask", true), ("mask_2_image", true)]),
            Target::None
        );
        assert_eq!(find(&[]), Target::None);
    }

    #[test]
    fn the_file_is_named_after_the_picture() {
        let url = "http://localhost/outputs/cat.webp?x=/y.png";
        assert_eq!(
            file_name(Some("my cat.final.jpg"), url),
            "my cat.final-mask.png"
        );
        assert_eq!(file_name(None, url), "cat-mask.png");
        assert_eq!(
            file_name(None, "data:image/png;base64,ab/cd.e"),
            "picture-mask.png"
        );
        assert_eq!(file_name(Some("../a:b.png"), ""), "..ab-mask.png");
        assert_eq!(
            file_name(None, "https://files.example/"),
            "picture-mask.png"
        );
    }
}
