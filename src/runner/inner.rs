//! What the runner works with, which is there once it has begun. Until then, in the first view, not
//! even its type is known to what holds the runner, so that none of its code is needed there.

use leptos::prelude::*;

use super::Inner;

#[derive(Clone, Copy)]
pub(super) struct InnerHandle(StoredValue<Option<StoredValue<Inner, LocalStorage>>, LocalStorage>);

impl InnerHandle {
    pub fn new() -> Self {
        Self(StoredValue::new_local(None))
    }

    pub fn begin(&self, inner: Inner) {
        self.0.set_value(Some(StoredValue::new_local(inner)));
    }

    /// It has begun, and its owner is not gone.
    fn begun(&self) -> Option<StoredValue<Inner, LocalStorage>> {
        self.0.try_get_value().flatten()
    }

    fn value(&self) -> StoredValue<Inner, LocalStorage> {
        match self.0.get_value() {
            Some(inner) => inner,
            None => unreachable!("only deferred code calls the runner, which begins before it"),
        }
    }

    pub fn with_value<T>(&self, look: impl FnOnce(&Inner) -> T) -> T {
        self.value().with_value(look)
    }

    pub fn try_with_value<T>(&self, look: impl FnOnce(&Inner) -> T) -> Option<T> {
        self.begun()?.try_with_value(look)
    }

    pub fn update_value(&self, change: impl FnOnce(&mut Inner)) {
        self.value().update_value(change);
    }

    pub fn try_update_value<T>(&self, change: impl FnOnce(&mut Inner) -> T) -> Option<T> {
        self.begun()?.try_update_value(change)
    }
}
