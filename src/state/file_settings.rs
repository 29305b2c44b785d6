//! The settings for downloaded files. They are read when a file is saved, so that they apply to all tabs at once.

use atelier_contract::json::{self, Record};
use atelier_studio::output::name_pattern::NamePattern;

use crate::browser::local::LocalStore;

/// The storage key of the settings, as JSON.
const KEY: &str = "atelier.files";

/// The settings for downloaded files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSettings {
    /// The pattern of file names; empty for the names that Atelier chooses.
    pub name_pattern: String,
    /// Write the inputs into files.
    pub writes_inputs: bool,
}

impl FileSettings {
    /// Reads the stored settings. Values that are missing or unreadable get their defaults.
    pub fn read() -> Self {
        let stored = LocalStore::Browser.read(KEY);
        let mut record = stored
            .and_then(|text| Record::read(json::read(&text)?))
            .unwrap_or_default();
        Self {
            name_pattern: record.text("name_pattern").unwrap_or_default(),
            writes_inputs: record.switch("writes_inputs", true).unwrap_or(true),
        }
    }

    /// Returns the pattern of file names; `None` for the names that Atelier chooses.
    pub fn pattern(&self) -> Option<NamePattern> {
        NamePattern::parse(&self.name_pattern).ok()
    }

    /// Stores the settings. Returns whether the browser has stored them.
    pub fn write(&self) -> bool {
        let mut record = Record::new();
        record.put("name_pattern", self.name_pattern.as_str().into());
        record.put("writes_inputs", self.writes_inputs.into());
        LocalStore::Browser.write(KEY, &record.into_value().to_string())
    }
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    /// Browsers contain settings in this format.
    #[wasm_bindgen_test]
    fn stored_settings_are_read_and_written_in_the_same_format() {
        let settings = FileSettings {
            name_pattern: "{model}".into(),
            writes_inputs: false,
        };
        assert!(settings.write());
        let stored = LocalStore::Browser.read(KEY);
        let expected = r#"{"name_pattern":"{model}","writes_inputs":false}"#;
        assert_eq!(stored.as_deref(), Some(expected));
        assert_eq!(FileSettings::read(), settings);
        let default = FileSettings {
            name_pattern: String::new(),
            writes_inputs: true,
        };
        for odd in ["", "[]", "{}", r#"{"name_pattern":1,"writes_inputs":"no"}"#] {
            LocalStore::Browser.write(KEY, odd);
            assert_eq!(FileSettings::read(), default, "{odd}");
        }
        LocalStore::Browser.remove(KEY);
        assert_eq!(FileSettings::read(), default);
    }
}
