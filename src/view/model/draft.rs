use std::cell::{Cell, RefCell};
use std::rc::Rc;

use atelier_contract::{Draft, Entry, ModelId, json};
use gloo_events::EventListener;
use leptos::prelude::*;

use crate::browser::local::LocalStore;
use crate::reactive::boxed::effect;
use crate::state::contexts::contexts;
use crate::state::secrets;

thread_local! {
    /// Drafts that could not be stored, by their storage keys. They last as long as the page.
    static UNSTORED: RefCell<Vec<(String, Draft)>> = const { RefCell::new(Vec::new()) };
    /// Whether the user was told that drafts can't be stored. The message is shown only once.
    static HAS_WARNED: Cell<bool> = const { Cell::new(false) };
}

/// Returns the draft of a model's form, and stores each change of it, so that it survives reloads and visits to other
/// pages. If several tabs change it, the last change is stored.
pub fn stored_draft(model: &ModelId) -> RwSignal<Draft> {
    let key = storage_key(model);
    let draft = RwSignal::new(read(&key));
    let notices = contexts().notices;
    let mut first = true;
    effect({
        let (key, model) = (key.clone(), model.clone());
        move || {
            // Secrets may still be in the draft: `move_secrets` removes them only after a change.
            let draft = secrets::without(&draft.read(), &model);
            // The first run only subscribes to changes.
            if !std::mem::take(&mut first) && !write(&key, &draft) && !HAS_WARNED.replace(true) {
                notices.problem(
                    "Your input is not being stored: this browser refuses to store it, or its storage is full. It stays until \
                     this tab is closed or reloaded.",
                );
            }
        }
    });
    // Retry a draft that could not be stored. A stored draft isn't written again: another tab may have changed it since.
    let leaving = EventListener::new(&window(), "pagehide", move |_| {
        let unstored = UNSTORED.with_borrow(|unstored| find(unstored, &key));
        if let Some(draft) = unstored {
            write(&key, &draft);
        }
    });
    let leaving = StoredValue::new_local(Some(Rc::new(leaving)));
    on_cleanup(move || drop(leaving.try_update_value(Option::take)));
    draft
}

/// Stores a prompt as the draft of a model before its page is opened, unless there is already a draft.
pub fn suggest(model: &ModelId, prompt: &str) {
    let key = storage_key(model);
    if read(&key).is_empty() {
        let mut draft = Draft::default();
        draft.set("prompt", Entry::Text(prompt.to_owned()));
        write(&key, &draft);
    }
}

/// Whether a reload would lose a draft.
pub fn is_any_unstored() -> bool {
    UNSTORED.with_borrow(|unstored| !unstored.is_empty())
}

/// Returns the storage key of a model's draft.
fn storage_key(model: &ModelId) -> String {
    format!("atelier.draft.{model}")
}

fn read(key: &str) -> Draft {
    let unstored = UNSTORED.with_borrow(|unstored| find(unstored, key));
    unstored
        .or_else(|| Draft::from_value(json::read(&LocalStore::Browser.read(key)?)?))
        .unwrap_or_default()
}

/// Stores a draft, or removes an empty one. Returns whether that worked.
fn write(key: &str, draft: &Draft) -> bool {
    let is_stored = if draft.is_empty() {
        LocalStore::Browser.remove(key);
        LocalStore::Browser.read(key).is_none()
    } else {
        LocalStore::Browser.write(key, &draft.to_value().to_string())
    };
    UNSTORED.with_borrow_mut(|unstored| {
        unstored.retain(|(other, _)| other != key);
        if !is_stored {
            unstored.push((key.to_owned(), draft.clone()));
        }
    });
    is_stored
}

fn find(unstored: &[(String, Draft)], key: &str) -> Option<Draft> {
    let found = unstored.iter().find(|(other, _)| other == key);
    found.map(|(_, draft)| draft.clone())
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    const KEY: &str = "atelier.draft.image/strata";

    fn model() -> ModelId {
        ModelId {
            category: "image".into(),
            subcategory: "strata".into(),
        }
    }

    #[wasm_bindgen_test]
    fn stored_draft_survives_a_round_trip() {
        assert_eq!(storage_key(&model()), KEY);
        let stored = r#"{"entries":{"prompt":{"text":"hills \"2\""},"seed":{"value":18446744073709551615}}}"#;
        LocalStore::Browser.write(KEY, stored);
        let draft = read(KEY);
        let prompt = Entry::Text(r#"hills "2""#.into());
        assert_eq!(draft.get("prompt"), Some(&prompt));
        assert_eq!(draft.get("seed"), Some(&Entry::Value(u64::MAX.into())));
        assert_eq!(draft.iter().count(), 2);
        LocalStore::Browser.remove(KEY);
        assert!(write(KEY, &draft));
        assert_eq!(LocalStore::Browser.read(KEY).as_deref(), Some(stored));
        // An existing draft is not overwritten.
        suggest(&model(), "other");
        assert_eq!(read(KEY), draft);
        assert!(write(KEY, &Draft::default()));
        assert_eq!(LocalStore::Browser.read(KEY), None);
        suggest(&model(), "hills");
        let suggested = r#"{"entries":{"prompt":{"text":"hills"}}}"#;
        assert_eq!(LocalStore::Browser.read(KEY).as_deref(), Some(suggested));
        LocalStore::Browser.remove(KEY);
    }

    #[wasm_bindgen_test]
    fn malformed_stored_drafts_are_read_as_empty() {
        for odd in [
            "",
            "{",
            "null",
            "[]",
            "{}",
            r#"{"entries":[]}"#,
            r#"{"entries":{"prompt":{"file":"x"}}}"#,
        ] {
            LocalStore::Browser.write(KEY, odd);
            assert!(read(KEY).is_empty(), "{odd}");
        }
        LocalStore::Browser.write(KEY, r#"{"later":1,"entries":{"a":{"text":""}}}"#);
        assert!(!read(KEY).is_empty());
        LocalStore::Browser.remove(KEY);
    }
}
