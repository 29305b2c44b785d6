//! Small texts that outlive a reload: `localStorage` for this browser, `sessionStorage` for this
//! tab. Both may be refused (private mode, blocked by policy); then nothing is kept.

use gloo_events::EventListener;
use leptos::prelude::window;
use web_sys::Storage;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalStore {
    /// Until the tab is closed.
    Tab,
    /// Until a person clears it.
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

    /// `None` where the browser refuses, `Some(None)` where there is nothing.
    pub fn try_read(self, key: &str) -> Option<Option<String>> {
        self.storage()?.get_item(key).ok()
    }

    /// Whether it was kept.
    pub fn write(self, key: &str, text: &str) -> bool {
        self.storage()
            .is_some_and(|storage| storage.set_item(key, text).is_ok())
    }

    pub fn remove(self, key: &str) {
        if let Some(storage) = self.storage() {
            // A refused removal leaves what a refused write left: nothing to mend.
            let _ = storage.remove_item(key);
        }
    }
}

/// Calls back whenever another tab has changed what is kept in [`LocalStore::Browser`] under this key, or
/// has cleared everything. Lives as long as the page.
pub fn on_change(key: &'static str, callback: impl Fn() + 'static) {
    listen(key.to_owned(), callback).forget();
}

/// The same for as long as the listener lives.
pub fn listen(key: String, callback: impl Fn() + 'static) -> EventListener {
    EventListener::new(&window(), "storage", move |event| {
        let changed = js_sys::Reflect::get(event, &"key".into()).ok();
        let changed = changed.and_then(|changed| changed.as_string());
        if changed.is_none_or(|changed| changed == key) {
            callback();
        }
    })
}

/// Calls back with what another tab has put there under this key, for as long as the listener lives.
pub fn on_text(key: String, callback: impl Fn(String) + 'static) -> EventListener {
    EventListener::new(&window(), "storage", move |event| {
        let said = |name: &str| js_sys::Reflect::get(event, &name.into()).ok()?.as_string();
        if let (Some(changed), Some(text)) = (said("key"), said("newValue"))
            && changed == key
        {
            callback(text);
        }
    })
}
