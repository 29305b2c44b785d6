//! Presets: named inputs of a model, with which the user can fill the form again.

use atelier_contract::{Draft, ModelId, json};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The `format` of a file with presets.
const FORMAT: &str = "atelier-presets";

/// A preset. Browsers and files contain it, so names and types of its fields must not change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Preset {
    pub name: String,
    pub draft: Draft,
}

impl Preset {
    /// Summarizes the preset. Values with spaces are shown without their parameter's name.
    pub fn summary(&self) -> String {
        let entries = self.draft.iter().map(|(name, entry)| {
            let text = entry.to_text();
            match text.contains(char::is_whitespace) {
                true => text,
                false => format!("{name} {text}"),
            }
        });
        entries.collect::<Vec<_>>().join(" · ")
    }
}

/// The presets of one model, sorted by name; names are unique.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Presets(Vec<Preset>);

impl Presets {
    /// Reads the stored form. Invalid presets are skipped.
    pub fn from_value(value: &Value) -> Self {
        let mut presets = Self::default();
        let entries = value.as_array().into_iter().flatten();
        for Preset { name, draft } in entries.cloned().filter_map(json::decode) {
            presets.put(&name, draft);
        }
        presets
    }

    /// Returns the stored form.
    pub fn to_value(&self) -> Value {
        json::encode(self)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Preset> {
        self.0.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the draft with this name.
    pub fn get(&self, name: &str) -> Option<&Draft> {
        let preset = self.0.iter().find(|preset| preset.name == name)?;
        Some(&preset.draft)
    }

    /// Saves a draft under a name, replacing any preset with that name. Blank names are ignored.
    pub fn put(&mut self, name: &str, draft: Draft) {
        let name = name.trim();
        if name.is_empty() {
            return;
        }
        self.remove(name);
        let preset = Preset {
            name: name.to_owned(),
            draft,
        };
        let at = (self.0).partition_point(|known| {
            (known.name.to_lowercase(), known.name.as_str()) < (name.to_lowercase(), name)
        });
        self.0.insert(at, preset);
    }

    pub fn remove(&mut self, name: &str) {
        self.0.retain(|preset| preset.name != name);
    }

    /// Writes all presets as the text of a file, for [`Presets::import`] in another browser.
    pub fn export(&self, model: &ModelId) -> String {
        let file = json!({
            "format": FORMAT,
            "model": model.to_string(),
            "presets": self.to_value(),
        });
        format!("{file:#}\n")
    }

    /// Adds the presets of a file and returns their number. If another preset has the same name, the imported one is
    /// renamed.
    ///
    /// # Errors
    ///
    /// A message if the text is not a file of presets or has none.
    pub fn import(&mut self, text: &str) -> Result<usize, String> {
        let file = json::read(text).filter(|file| file["format"] == FORMAT);
        let file = file.ok_or("This is not a file of presets.")?;
        let found = Self::from_value(&file["presets"]);
        if found.is_empty() {
            return Err("There are no presets in this file.".to_owned());
        }
        let count = found.0.len();
        for Preset { name, draft } in found.0 {
            let mut free = name.clone();
            let mut number = 1;
            while self.get(&free).is_some_and(|known| *known != draft) {
                number += 1;
                free = format!("{name} ({number})");
            }
            self.put(&free, draft);
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use atelier_contract::Entry;

    /// Browsers contain presets of earlier versions.
    #[test]
    fn stored_samples_survive_a_round_trip() {
        for sample in include_str!("preset/samples.jsonl").lines() {
            let presets = json::read(sample).map(|value| Presets::from_value(&value));
            let written = presets.map(|presets| presets.to_value().to_string());
            assert_eq!(written.as_deref(), Some(sample));
        }
    }

    #[test]
    fn the_summary_shows_the_inputs() {
        let mut draft = draft("a gold spiral");
        draft.set("layers", Entry::Value(json!(6)));
        let preset = Preset {
            name: "gold".into(),
            draft,
        };
        let summary = preset.summary();
        assert!(summary.contains("a gold spiral") && summary.contains("layers 6"));
        assert!(!summary.contains("prompt"), "{summary}");
    }

    #[test]
    fn an_invalid_preset_does_not_affect_others() {
        let good = json!({"name": "a", "draft": {"entries": {}}});
        let stored = json!([1, {"name": 2, "draft": {"entries": {}}}, {"name": "b"}, good, {"name": "c", "draft": 0}]);
        assert_eq!(names(&Presets::from_value(&stored)), ["a"]);
        assert!(Presets::from_value(&json!("x")).is_empty());
    }

    fn draft(prompt: &str) -> Draft {
        let mut draft = Draft::default();
        draft.set("prompt", Entry::Text(prompt.into()));
        draft
    }

    fn names(presets: &Presets) -> Vec<&str> {
        presets.iter().map(|preset| preset.name.as_str()).collect()
    }

    #[test]
    fn names_are_unique_and_sorted() {
        let mut presets = Presets::default();
        presets.put(" Night ", draft("a"));
        presets.put("dawn", draft("b"));
        presets.put("Night", draft("c"));
        presets.put("  ", draft("d"));
        assert_eq!(names(&presets), ["dawn", "Night"]);
        assert_eq!(presets.get("Night"), Some(&draft("c")));
        assert_eq!(Presets::from_value(&presets.to_value()), presets);
        presets.remove("dawn");
        assert_eq!(names(&presets), ["Night"]);
    }

    #[test]
    fn importing_a_file_overwrites_nothing() {
        let model = ModelId {
            category: "image".into(),
            subcategory: "a".into(),
        };
        let mut here = Presets::default();
        here.put("night", draft("a"));
        here.put("dawn", draft("b"));
        let mut there = Presets::default();
        there.put("night", draft("mine"));
        there.put("dawn", draft("b"));
        assert_eq!(there.import(&here.export(&model)), Ok(2));
        assert_eq!(names(&there), ["dawn", "night", "night (2)"]);
        assert_eq!(there.get("night"), Some(&draft("mine")));
        // Importing it again changes nothing.
        let before = there.clone();
        assert_eq!(there.import(&here.export(&model)), Ok(2));
        assert_eq!(there, before);
        for text in [
            "",
            "[]",
            "{\"format\": 1}",
            "{\"format\": \"atelier-presets\"}",
        ] {
            assert!(there.import(text).is_err(), "{text}");
        }
    }
}
