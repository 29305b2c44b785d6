//! Small texts that survive a reload: `localStorage` for this browser, `sessionStorage` for this tab. The browser may refuse
//! both (private mode, blocked by policy); then nothing is stored.

use gloo_events::EventListener;
use leptos::prelude::window;
use web_sys::Storage;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalStore {
    /// Until the tab is closed.
    Tab,
    /// Until the user clears the site data.
    Browser,
}

impl LocalStore {
    fn storage(self) -> Option<Storage> {
        match self {
            LocalStore::Tab => window().session_storage(),
            LocalStore::Browser => window().local_storage(),
        }
        .ok()?
    }

    pub fn read(self, key: &str) -> Option<String> {
        self.try_read(key)?
    }

    /// Returns `None` if the browser refuses, and `Some(None)` if there is no value.
    pub fn try_read(self, key: &str) -> Option<Option<String>> {
        self.storage()?.get_item(key).ok()
    }

    /// Stores a text, and returns whether the browser did so.
    pub fn write(self, key: &str, text: &str) -> bool {
        self.storage()
            .is_some_and(|storage| storage.set_item(key, text).is_ok())
    }

    pub fn remove(self, key: &str) {
        if let Some(storage) = self.storage() {
            // A browser that refuses removal also refuses writing.
            let _ = storage.remove_item(key);
        }
    }
}

/// Calls back whenever another tab has changed this key of [`LocalStore::Browser`] or has cleared all keys. The listener is
/// never removed.
pub fn on_change(key: &'static str, callback: impl Fn() + 'static) {
    listen(key.to_owned(), callback).forget();
}

/// Like [`on_change`], but until the listener is dropped.
pub fn listen(key: String, callback: impl Fn() + 'static) -> EventListener {
    EventListener::new(&window(), "storage", move |event| {
        let changed = js_sys::Reflect::get(event, &"key".into()).ok();
        let changed = changed.and_then(|changed| changed.as_string());
        if changed.is_none_or(|changed| changed == key) {
            callback();
        }
    })
}

/// Calls back with each text that another tab stores in [`LocalStore::Browser`] under this key, until the listener is
/// dropped.
pub fn on_text(key: String, callback: impl Fn(String) + 'static) -> EventListener {
    EventListener::new(&window(), "storage", move |event| {
        let property = |name: &str| js_sys::Reflect::get(event, &name.into()).ok()?.as_string();
        if let (Some(changed), Some(text)) = (property("key"), property("newValue"))
            && changed == key
        {
            callback(text);
        }
    })
}
