use std::cell::RefCell;

use crate::browser::local::LocalStore;

/// A table as text in `localStorage`, until the table is stored in the database. Other tabs may change it.
pub(super) struct LocalText {
    key: String,
    /// The text as this tab has written or taken it.
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

    /// Whether it is written. If the browser refuses, what was known stays as it was.
    pub(super) fn write(&self, text: String) -> bool {
        let is_written = LocalStore::Browser.write(&self.key, &text);
        if is_written {
            self.take(Some(text));
        }
        is_written
    }

    /// Notes the text that this tab makes its own: once that is stored, [`LocalText::forget`] removes it.
    pub(super) fn take(&self, text: Option<String>) {
        self.known.replace(text);
    }

    /// The text that this tab has made its own stays where it is.
    pub(super) fn let_go(&self) {
        self.known.take();
    }

    /// Removes the text that this tab has made its own, unless another tab has written another one since.
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
    fn only_what_this_tab_has_made_its_own_is_removed() {
        let text = LocalText::new("atelier.test.local-text".to_owned());
        text.write("mine".into());
        LocalStore::Browser.write(text.key(), "of another tab");
        text.forget();
        assert_eq!(text.read().as_deref(), Some("of another tab"));
        text.forget();
        assert!(text.read().is_some(), "it is not known to this tab");
        text.take(text.read());
        text.let_go();
        text.forget();
        assert!(text.read().is_some(), "it was let go");
        text.take(text.read());
        text.forget();
        assert_eq!(text.read(), None);
    }
}
