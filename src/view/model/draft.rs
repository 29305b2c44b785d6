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
    /// What could not be stored, by its place: it lasts as long as the page.
    static UNSTORED: RefCell<Vec<(String, Draft)>> = const { RefCell::new(Vec::new()) };
    /// Whether that was said; once is enough.
    static WAS_SAID: Cell<bool> = const { Cell::new(false) };
}

/// What a person typed into a model's form, kept over reloads and visits to other pages: nothing
/// typed is lost. Of several tabs, what was typed last.
pub fn kept_draft(model: &ModelId) -> RwSignal<Draft> {
    let place = place(model);
    let draft = RwSignal::new(read(&place));
    let notices = contexts().notices;
    let mut first = true;
    effect({
        let (place, model) = (place.clone(), model.clone());
        move || {
            // Before they are taken out of the form.
            let draft = secrets::without(&draft.read(), &model);
            // The first run only begins to follow.
            if !std::mem::take(&mut first) && !write(&place, &draft) && !WAS_SAID.replace(true) {
                notices.problem(
                    "What you type is not being kept: this browser refuses to store it, or its storage \
                     is full. It stays until this tab is closed or loaded anew.",
                );
            }
        }
    });
    // There may be room by now. What is stored already is left alone: another tab may have typed
    // since.
    let leaving = EventListener::new(&window(), "pagehide", move |_| {
        let unstored = UNSTORED.with_borrow(|unstored| find(unstored, &place));
        if let Some(draft) = unstored {
            write(&place, &draft);
        }
    });
    let leaving = StoredValue::new_local(Some(Rc::new(leaving)));
    on_cleanup(move || drop(leaving.try_update_value(Option::take)));
    draft
}

/// Puts a prompt into the form of a model's page before that is opened, unless a person has begun to fill it in.
pub fn suggest(model: &ModelId, prompt: &str) {
    let place = place(model);
    if read(&place).is_empty() {
        let mut draft = Draft::default();
        draft.set("prompt", Entry::Text(prompt.to_owned()));
        write(&place, &draft);
    }
}

fn place(model: &ModelId) -> String {
    format!("atelier.draft.{model}")
}

fn read(place: &str) -> Draft {
    let unstored = UNSTORED.with_borrow(|unstored| find(unstored, place));
    unstored
        .or_else(|| Draft::from_value(json::read(&LocalStore::Browser.read(place)?)?))
        .unwrap_or_default()
}

/// Whether it is stored.
fn write(place: &str, draft: &Draft) -> bool {
    let is_stored = if draft.is_empty() {
        LocalStore::Browser.remove(place);
        LocalStore::Browser.read(place).is_none()
    } else {
        LocalStore::Browser.write(place, &draft.to_value().to_string())
    };
    UNSTORED.with_borrow_mut(|unstored| {
        unstored.retain(|(known, _)| known != place);
        if !is_stored {
            unstored.push((place.to_owned(), draft.clone()));
        }
    });
    is_stored
}

fn find(unstored: &[(String, Draft)], place: &str) -> Option<Draft> {
    let found = unstored.iter().find(|(known, _)| known == place);
    found.map(|(_, draft)| draft.clone())
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    const PLACE: &str = "atelier.draft.image/strata";

    fn model() -> ModelId {
        ModelId {
            category: "image".into(),
            subcategory: "strata".into(),
        }
    }

    #[wasm_bindgen_test]
    fn a_stored_draft_is_read_and_written_as_it_was() {
        assert_eq!(place(&model()), PLACE);
        let stored = r#"{"entries":{"prompt":{"text":"hills \"2\""},"seed":{"value":18446744073709551615}}}"#;
        LocalStore::Browser.write(PLACE, stored);
        let draft = read(PLACE);
        let prompt = Entry::Text(r#"hills "2""#.into());
        assert_eq!(draft.get("prompt"), Some(&prompt));
        assert_eq!(draft.get("seed"), Some(&Entry::Value(u64::MAX.into())));
        assert_eq!(draft.iter().count(), 2);
        LocalStore::Browser.remove(PLACE);
        assert!(write(PLACE, &draft));
        assert_eq!(LocalStore::Browser.read(PLACE).as_deref(), Some(stored));
        // What was begun is not written over.
        suggest(&model(), "other");
        assert_eq!(read(PLACE), draft);
        assert!(write(PLACE, &Draft::default()));
        assert_eq!(LocalStore::Browser.read(PLACE), None);
        suggest(&model(), "hills");
        let suggested = r#"{"entries":{"prompt":{"text":"hills"}}}"#;
        assert_eq!(LocalStore::Browser.read(PLACE).as_deref(), Some(suggested));
        LocalStore::Browser.remove(PLACE);
    }

    #[wasm_bindgen_test]
    fn what_a_newer_version_keeps_in_another_way_is_no_draft() {
        for odd in [
            "",
            "{",
            "null",
            "[]",
            "{}",
            r#"{"entries":[]}"#,
            r#"{"entries":{"prompt":{"file":"x"}}}"#,
        ] {
            LocalStore::Browser.write(PLACE, odd);
            assert!(read(PLACE).is_empty(), "{odd}");
        }
        LocalStore::Browser.write(PLACE, r#"{"later":1,"entries":{"a":{"text":""}}}"#);
        assert!(!read(PLACE).is_empty());
        LocalStore::Browser.remove(PLACE);
    }
}
