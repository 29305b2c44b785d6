//! Typed access to the values of a complete input.

use serde_json::{Map, Value};

/// The values of a complete input, which contains every parameter of the schema. Unknown names read as zero or empty.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a>(pub &'a Map<String, Value>);

impl<'a> Input<'a> {
    pub fn text(self, name: &str) -> &'a str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    pub fn integer(self, name: &str) -> u64 {
        self.0.get(name).and_then(Value::as_u64).unwrap_or_default()
    }

    pub fn number(self, name: &str) -> f32 {
        self.0.get(name).and_then(Value::as_f64).unwrap_or_default() as f32
    }

    pub fn flag(self, name: &str) -> bool {
        self.0
            .get(name)
            .and_then(Value::as_bool)
            .unwrap_or_default()
    }

    /// Returns the size in pixels for `aspect_ratio`: about `long` on the longer side, both sides even.
    pub fn size(self, long: u32) -> (u32, u32) {
        let sides = self.text("aspect_ratio").split_once(':');
        let side = |text: &str| text.parse::<f32>().ok().filter(|side| *side > 0.0);
        let (w, h) = sides
            .and_then(|(w, h)| Some((side(w)?, side(h)?)))
            .unwrap_or((1.0, 1.0));
        let scale = long as f32 / w.max(h);
        let even = |side: f32| ((side * scale / 2.0).round() as u32).max(1) * 2;
        (even(w), even(h))
    }
}
