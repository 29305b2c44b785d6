use std::cell::RefCell;

use crate::browser::local::LocalStore;

/// A table as text in `localStorage`, until it is stored in the database. Other tabs may change the text, too.
pub(super) struct LocalText {
    key: String,
    /// The text that this tab has written or adopted.
    known: RefCell<Option<String>>,
}

impl LocalText {
    pub(super) fn new(key: String) -> Self {
        Self {
            key,
            known: RefCell::default(),
        }
    }

    pub(super) fn key(&self) -> &str {
        &self.key
    }

    pub(super) fn read(&self) -> Option<String> {
        LocalStore::Browser.read(&self.key)
    }

    /// Writes the text. Returns whether the browser allows that; nothing changes if it does not.
    pub(super) fn write(&self, text: String) -> bool {
        let is_written = LocalStore::Browser.write(&self.key, &text);
        if is_written {
            self.adopt(Some(text));
        }
        is_written
    }

    /// Adopts this text: once the table is stored, [`LocalText::forget`] removes it.
    pub(super) fn adopt(&self, text: Option<String>) {
        self.known.replace(text);
    }

    /// Leaves the adopted text in place.
    pub(super) fn release(&self) {
        self.known.take();
    }

    /// Removes the adopted text, unless another tab has replaced it.
    pub(super) fn forget(&self) {
        let known = self.known.take();
        if known.is_some() && self.read() == known {
            LocalStore::Browser.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    #[wasm_bindgen_test]
    fn only_text_that_this_tab_has_adopted_is_removed() {
        let text = LocalText::new("atelier.test.local-text".to_owned());
        text.write("mine".into());
        LocalStore::Browser.write(text.key(), "of another tab");
        text.forget();
        assert_eq!(text.read().as_deref(), Some("of another tab"));
        text.forget();
        assert!(text.read().is_some(), "this tab has not adopted it");
        text.adopt(text.read());
        text.release();
        text.forget();
        assert!(text.read().is_some(), "it was released");
        text.adopt(text.read());
        text.forget();
        assert_eq!(text.read(), None);
    }
}
