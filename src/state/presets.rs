//! Named inputs of a model. They are stored in this browser for all tabs, and can be exported to a file.

use std::rc::Rc;

use atelier_contract::{Draft, ModelId, json};
use atelier_studio::form::preset::Presets;
use leptos::prelude::*;

use crate::browser::local::{self, LocalStore};

#[derive(Clone, Copy)]
pub struct StoredPresets {
    pub presets: RwSignal<Presets>,
    key: StoredValue<String>,
    /// The browser has refused to store the last change.
    is_refused: StoredValue<bool>,
    /// A message about the last change: that it failed, or what was done.
    pub said: RwSignal<String>,
    /// The preset that was removed or replaced last, until the next change.
    pub previous: RwSignal<Option<PreviousPreset>>,
}

/// A preset before its removal or replacement.
#[derive(Debug, Clone, PartialEq)]
pub struct PreviousPreset {
    pub name: String,
    pub draft: Draft,
    pub is_replaced: bool,
}

impl StoredPresets {
    /// Reads the presets of a model, and follows other tabs as long as the current owner lives.
    pub fn of(model: &ModelId) -> Self {
        let key = format!("atelier.presets.{model}");
        let presets = RwSignal::new(read(&key));
        let is_refused = StoredValue::new(false);
        let changed = local::listen(key.clone(), {
            let key = key.clone();
            // A change that could not be stored must not be overwritten.
            move || {
                if is_refused.try_get_value() == Some(false) {
                    presets.try_set(read(&key));
                }
            }
        });
        let changed = StoredValue::new_local(Some(Rc::new(changed)));
        on_cleanup(move || drop(changed.try_update_value(Option::take)));
        Self {
            presets,
            key: StoredValue::new(key),
            is_refused,
            said: RwSignal::new(String::new()),
            previous: RwSignal::new(None),
        }
    }

    /// Changes the stored presets. Reads them again first, because another tab may have changed them.
    pub fn change<T>(&self, change: impl FnOnce(&mut Presets) -> T) -> T {
        let key = self.key.get_value();
        let mut presets = if self.is_refused.get_value() {
            self.presets.get_untracked()
        } else {
            read(&key)
        };
        let result = change(&mut presets);
        let is_stored = LocalStore::Browser.write(&key, &presets.to_value().to_string());
        self.is_refused.set_value(!is_stored);
        if is_stored {
            self.said.set(String::new());
        } else {
            self.said.set(
                "This browser refuses to store presets: they are lost when you leave this page. Export them."
                    .to_owned(),
            );
        }
        self.presets.set(presets);
        self.previous.set(None);
        result
    }

    /// Saves a draft under a name. [`Self::undo`] restores the preset that it replaces.
    pub fn save(&self, name: &str, draft: Draft) {
        let name = name.trim();
        let replaced = self.stored(name).filter(|replaced| *replaced != draft);
        self.change(|presets| presets.put(name, draft));
        self.set_previous(name, replaced, true);
    }

    /// Removes a preset. [`Self::undo`] restores it.
    pub fn remove(&self, name: &str) {
        let removed = self.stored(name);
        self.change(|presets| presets.remove(name));
        self.set_previous(name, removed, false);
    }

    /// Restores the preset that was removed or replaced last.
    pub fn undo(&self) {
        if let Some(PreviousPreset { name, draft, .. }) = self.previous.get_untracked() {
            self.change(|presets| presets.put(&name, draft));
        }
    }

    fn stored(&self, name: &str) -> Option<Draft> {
        self.presets.read_untracked().get(name).cloned()
    }

    fn set_previous(&self, name: &str, draft: Option<Draft>, is_replaced: bool) {
        self.previous.set(draft.map(|draft| PreviousPreset {
            name: name.to_owned(),
            draft,
            is_replaced,
        }));
    }
}

fn read(key: &str) -> Presets {
    let stored = LocalStore::Browser.read(key);
    let stored = stored.and_then(|text| json::read(&text));
    stored.map_or_else(Presets::default, |stored| Presets::from_value(&stored))
}

#[cfg(test)]
mod tests {
    use atelier_contract::Entry;
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    const KEY: &str = "atelier.presets.image/strata";
    const STORED: &str = r#"[{"name":"dawn","draft":{"entries":{"prompt":{"text":"a"},"steps":{"value":7}}}},{"name":"Night","draft":{"entries":{}}}]"#;

    /// Calls a function with the presets of a model, in an owner of their own, as on the model's page.
    fn with_presets<T>(look: impl FnOnce(StoredPresets) -> T) -> T {
        let model = ModelId {
            category: "image".into(),
            subcategory: "strata".into(),
        };
        let owner = Owner::new();
        let found = owner.with(|| look(StoredPresets::of(&model)));
        owner.cleanup();
        found
    }

    fn names(presets: StoredPresets) -> Vec<String> {
        let presets = presets.presets.read_untracked();
        presets.iter().map(|preset| preset.name.clone()).collect()
    }

    #[wasm_bindgen_test]
    fn stored_presets_are_read_and_written_in_the_same_format() {
        LocalStore::Browser.write(KEY, STORED);
        with_presets(|presets| {
            assert_eq!(names(presets), ["dawn", "Night"]);
            let all = presets.presets.read_untracked();
            let dawn = all.get("dawn").expect("a preset");
            assert_eq!(dawn.get("prompt"), Some(&Entry::Text("a".into())));
            assert_eq!(dawn.get("steps"), Some(&Entry::Value(7.into())));
            assert_eq!(dawn.iter().count(), 2);
            assert_eq!(all.get("Night"), Some(&Draft::default()));
        });
        with_presets(|presets| {
            let dawn = presets.stored("dawn");
            presets.save(" dawn ", Draft::default());
            assert_eq!(presets.stored("dawn"), Some(Draft::default()));
            presets.undo();
            assert_eq!(presets.stored("dawn"), dawn);
            presets.remove("dawn");
            let without = r#"[{"name":"Night","draft":{"entries":{}}}]"#;
            assert_eq!(LocalStore::Browser.read(KEY).as_deref(), Some(without));
            presets.undo();
        });
        assert_eq!(LocalStore::Browser.read(KEY).as_deref(), Some(STORED));
        LocalStore::Browser.remove(KEY);
    }

    #[wasm_bindgen_test]
    fn unreadable_presets_are_ignored() {
        for odd in ["", "{", "null", "{}", r#"{"later":[]}"#, r#"[[1]]"#] {
            LocalStore::Browser.write(KEY, odd);
            assert!(with_presets(names).is_empty(), "{odd}");
        }
        let one = r#"[{"name":"later","draft":{"entries":{"a":{"file":1}}}},{"name":"b","colour":1,"draft":{"entries":{}}}]"#;
        LocalStore::Browser.write(KEY, one);
        assert_eq!(with_presets(names), ["b"]);
        LocalStore::Browser.remove(KEY);
    }
}
