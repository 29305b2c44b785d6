//! Predicts the aspect ratio of images whose inputs don't specify it, from earlier images of the model.

use std::collections::BTreeMap;

use atelier_contract::ModelId;
use serde::{Deserialize, Serialize};

/// The maximum number of models that are remembered.
const MAX_MODELS: usize = 1_000;

/// The relative tolerance within which ratios are equal.
const SAME: f64 = 0.01;

/// The aspect ratio of the last image of each model, if its inputs don't specify one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Shapes(BTreeMap<String, f64>);

impl Shapes {
    /// Reads the stored form; empty if it is invalid.
    pub fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// Returns the stored form.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the aspect ratio of a model's last image.
    pub fn of(&self, model: &ModelId) -> Option<f64> {
        self.0.get(&model.to_string()).copied()
    }

    /// Records the size of an image of the model in pixels. Returns whether its ratio is new.
    pub fn learn(&mut self, model: &ModelId, width: u32, height: u32) -> bool {
        if width == 0 || height == 0 {
            return false;
        }
        let shape = f64::from(width) / f64::from(height);
        let known = self.of(model);
        let is_same = known.is_some_and(|known| (known / shape - 1.0).abs() < SAME);
        if is_same || (known.is_none() && self.0.len() >= MAX_MODELS) {
            return false;
        }
        self.0.insert(model.to_string(), shape);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(name: &str) -> ModelId {
        ModelId {
            category: "image".into(),
            subcategory: name.into(),
        }
    }

    #[test]
    fn the_last_image_counts() {
        let mut shapes = Shapes::default();
        assert!(shapes.learn(&model("strata"), 1536, 1024));
        assert!(!shapes.learn(&model("strata"), 768, 512));
        assert_eq!(shapes.of(&model("strata")), Some(1.5));
        assert!(shapes.learn(&model("strata"), 512, 512));
        assert_eq!(shapes.of(&model("strata")), Some(1.0));
        assert_eq!(shapes.of(&model("tessera")), None);
        assert_eq!(Shapes::read(&shapes.to_text()), shapes);
    }

    /// Browsers contain stored shapes.
    #[test]
    fn the_stored_form_is_stable() {
        let text = r#"{"image/strata":1.5,"image/tessera":1.0}"#;
        let shapes = Shapes::read(text);
        assert_eq!(shapes.of(&model("strata")), Some(1.5));
        assert_eq!(shapes.of(&model("tessera")), Some(1.0));
        assert_eq!(shapes.to_text(), text);
    }

    #[test]
    fn invalid_sizes_are_ignored() {
        let mut shapes = Shapes::default();
        assert!(!shapes.learn(&model("strata"), 0, 512));
        assert!(!shapes.learn(&model("strata"), 512, 0));
        assert_eq!(Shapes::read("[1]"), Shapes::default());
    }

    #[test]
    fn the_number_of_models_is_limited() {
        let mut shapes = Shapes::default();
        for n in 0..=MAX_MODELS {
            shapes.learn(&model(&n.to_string()), 3, 2);
        }
        assert_eq!(shapes.0.len(), MAX_MODELS);
        assert!(shapes.learn(&model("7"), 2, 3), "a known model is updated");
    }
}
