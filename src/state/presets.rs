//! Inputs with a name, per model: kept in this browser, the same in all its tabs, taken elsewhere as a file.

use std::rc::Rc;

use atelier_contract::{Draft, ModelId, json};
use atelier_studio::form::preset::Presets;
use leptos::prelude::*;

use crate::browser::local::{self, LocalStore};

#[derive(Clone, Copy)]
pub struct KeptPresets {
    pub presets: RwSignal<Presets>,
    place: StoredValue<String>,
    /// Whether the browser has refused to keep the last change.
    is_refused: StoredValue<bool>,
    /// What went wrong, or what was done.
    pub said: RwSignal<String>,
    /// What was removed last, until something else is changed.
    pub removed: RwSignal<Option<(String, Draft)>>,
}

impl KeptPresets {
    /// Follows other tabs for as long as its owner lives.
    pub fn of(model: &ModelId) -> Self {
        let place = format!("atelier.presets.{model}");
        let presets = RwSignal::new(read(&place));
        let is_refused = StoredValue::new(false);
        let changed = local::listen(place.clone(), {
            let place = place.clone();
            // What this tab alone has would go.
            move || {
                if is_refused.try_get_value() == Some(false) {
                    presets.try_set(read(&place));
                }
            }
        });
        let changed = StoredValue::new_local(Some(Rc::new(changed)));
        on_cleanup(move || drop(changed.try_update_value(Option::take)));
        Self {
            presets,
            place: StoredValue::new(place),
            is_refused,
            said: RwSignal::new(String::new()),
            removed: RwSignal::new(None),
        }
    }

    /// Changes what is stored by now, which another tab may have changed.
    pub fn change<T>(&self, change: impl FnOnce(&mut Presets) -> T) -> T {
        let place = self.place.get_value();
        let mut presets = if self.is_refused.get_value() {
            self.presets.get_untracked()
        } else {
            read(&place)
        };
        let result = change(&mut presets);
        let is_kept = LocalStore::Browser.write(&place, &presets.to_value().to_string());
        self.is_refused.set_value(!is_kept);
        if is_kept {
            self.said.set(String::new());
        } else {
            self.said.set(
                "This browser refuses to keep presets: they last until this page is left. Export them."
                    .to_owned(),
            );
        }
        self.presets.set(presets);
        self.removed.set(None);
        result
    }

    /// [`Self::undo`] brings it back.
    pub fn remove(&self, name: &str) {
        let removed = self.presets.read_untracked().get(name).cloned();
        self.change(|presets| presets.remove(name));
        self.removed
            .set(removed.map(|draft| (name.to_owned(), draft)));
    }

    pub fn undo(&self) {
        if let Some((name, draft)) = self.removed.get_untracked() {
            self.change(|presets| presets.put(&name, draft));
        }
    }
}

fn read(place: &str) -> Presets {
    let stored = LocalStore::Browser.read(place);
    let stored = stored.and_then(|text| json::read(&text));
    stored.map_or_else(Presets::default, |stored| Presets::from_value(&stored))
}

#[cfg(test)]
mod tests {
    use atelier_contract::Entry;
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    const PLACE: &str = "atelier.presets.image/strata";
    const STORED: &str = r#"[{"name":"dawn","draft":{"entries":{"prompt":{"text":"a"},"steps":{"value":7}}}},{"name":"Night","draft":{"entries":{}}}]"#;

    /// In its own owner, as on a model's page.
    fn visited<T>(look: impl FnOnce(KeptPresets) -> T) -> T {
        let model = ModelId {
            category: "image".into(),
            subcategory: "strata".into(),
        };
        let owner = Owner::new();
        let found = owner.with(|| look(KeptPresets::of(&model)));
        owner.cleanup();
        found
    }

    fn names(presets: KeptPresets) -> Vec<String> {
        let presets = presets.presets.read_untracked();
        presets.iter().map(|preset| preset.name.clone()).collect()
    }

    #[wasm_bindgen_test]
    fn stored_presets_are_read_and_written_as_they_were() {
        LocalStore::Browser.write(PLACE, STORED);
        visited(|presets| {
            assert_eq!(names(presets), ["dawn", "Night"]);
            let all = presets.presets.read_untracked();
            let dawn = all.get("dawn").expect("a preset");
            assert_eq!(dawn.get("prompt"), Some(&Entry::Text("a".into())));
            assert_eq!(dawn.get("steps"), Some(&Entry::Value(7.into())));
            assert_eq!(dawn.iter().count(), 2);
            assert_eq!(all.get("Night"), Some(&Draft::default()));
        });
        visited(|presets| {
            presets.remove("dawn");
            let without = r#"[{"name":"Night","draft":{"entries":{}}}]"#;
            assert_eq!(LocalStore::Browser.read(PLACE).as_deref(), Some(without));
            presets.undo();
        });
        assert_eq!(LocalStore::Browser.read(PLACE).as_deref(), Some(STORED));
        LocalStore::Browser.remove(PLACE);
    }

    #[wasm_bindgen_test]
    fn what_a_newer_version_keeps_in_another_way_is_left_out() {
        for odd in ["", "{", "null", "{}", r#"{"later":[]}"#, r#"[[1]]"#] {
            LocalStore::Browser.write(PLACE, odd);
            assert!(visited(names).is_empty(), "{odd}");
        }
        let one = r#"[{"name":"later","draft":{"entries":{"a":{"file":1}}}},{"name":"b","colour":1,"draft":{"entries":{}}}]"#;
        LocalStore::Browser.write(PLACE, one);
        assert_eq!(visited(names), ["b"]);
        LocalStore::Browser.remove(PLACE);
    }
}
