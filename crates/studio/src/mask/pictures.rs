//! The pictures over which masks were drawn, by the URLs of the masks. Browsers store them, so that a mask of another picture
//! is noticed after a reload.

use atelier_contract::json;
use serde::{Deserialize, Serialize};

use crate::form::upload::stored::FieldKey;

/// The maximum number of masks, and the maximum length of a URL.
const MAX_MASKS: usize = 50;
const MAX_URL: usize = 2_000;

/// A mask with its picture. Names and types must not change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct MaskPicture {
    field: FieldKey,
    mask: String,
    picture: String,
}

/// The masks, oldest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MaskPictures(Vec<MaskPicture>);

impl MaskPictures {
    /// Reads stored masks. Unreadable ones are left out.
    pub fn from_text(text: &str) -> Self {
        let masks: Option<Vec<serde_json::Value>> = json::read(text).and_then(json::decode);
        let masks = masks.unwrap_or_default();
        Self(masks.into_iter().filter_map(json::decode).collect())
    }

    pub fn to_text(&self) -> String {
        json::encode(&self.0).to_string()
    }

    /// Returns the URL of the picture of a mask.
    pub fn find(&self, field: &FieldKey, mask: &str) -> Option<&str> {
        let mut masks = self.0.iter();
        let found = masks.rfind(|it| it.mask == mask && it.field == *field);
        found.map(|it| it.picture.as_str())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets the masks for the forms of a service.
    pub fn forget(&mut self, address: &str) {
        self.0.retain(|it| it.field.address != address);
    }

    /// Adds a mask. The oldest ones beyond [`MAX_MASKS`] are forgotten.
    pub fn add(&mut self, field: &FieldKey, mask: &str, picture: &str) {
        if mask.len().max(picture.len()) > MAX_URL {
            return;
        }
        self.0.retain(|it| it.mask != mask || it.field != *field);
        self.0.push(MaskPicture {
            field: field.clone(),
            mask: mask.to_owned(),
            picture: picture.to_owned(),
        });
        let excess = self.0.len().saturating_sub(MAX_MASKS);
        self.0.drain(..excess);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = r#"[{"field":{"address":"https://a.example","model":{"category":"image","subcategory":"inpaint"},"parameter":"mask"},"mask":"https://a.example/outputs/2","picture":"https://a.example/outputs/1"}]"#;

    /// Browsers store the masks, so their format must stay the same.
    #[test]
    fn stored_samples_round_trip() {
        assert_eq!(MaskPictures::from_text(SAMPLE).to_text(), SAMPLE);
        assert_eq!(MaskPictures::from_text("1"), MaskPictures::default());
    }

    /// Guards against addresses of pictures that stay in the browser after the user has signed out.
    #[test]
    fn the_masks_of_a_service_are_forgotten() {
        let mut masks = MaskPictures::from_text(SAMPLE);
        masks.forget("https://b.example");
        assert!(!masks.is_empty());
        masks.forget("https://a.example");
        assert!(masks.is_empty());
    }

    #[test]
    fn a_mask_belongs_to_the_picture_it_was_drawn_over_last() {
        let mut masks = MaskPictures::from_text(SAMPLE);
        let field = masks.0[0].field.clone();
        let mask = masks.0[0].mask.clone();
        masks.add(&field, &mask, "other");
        assert_eq!(masks.find(&field, &mask), Some("other"));
        let other = FieldKey {
            parameter: "other".into(),
            ..field.clone()
        };
        assert_eq!(masks.find(&other, &mask), None);
        for number in 0..MAX_MASKS {
            masks.add(&field, &number.to_string(), "picture");
        }
        assert_eq!(masks.find(&field, &mask), None);
        assert_eq!(masks.find(&field, "0"), Some("picture"));
    }
}
