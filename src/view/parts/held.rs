use std::time::Duration;

use atelier_engine::press::{Presses, SAME_PRESS};
use leptos::prelude::*;

use crate::browser::clock;

/// Buttons that stay where they are for as long as a double click may take, whatever its first half
/// has changed: the second half must meet neither the same button in earnest nor another one that
/// has taken its place.
#[derive(Clone, Copy)]
pub struct Held<T: Clone + Send + Sync + 'static> {
    presses: StoredValue<Presses<T>>,
    /// What is pressed, until it may have another place.
    pressed: RwSignal<Option<T>>,
}

impl<T: Clone + PartialEq + Send + Sync + 'static> Default for Held<T> {
    fn default() -> Self {
        Self {
            presses: StoredValue::new(Presses::default()),
            pressed: RwSignal::new(None),
        }
    }
}

impl<T: Clone + PartialEq + Send + Sync + 'static> Held<T> {
    /// What was pressed just now; tracked.
    pub fn pressed(self) -> Option<T> {
        self.pressed.get()
    }

    /// Whether a press counts.
    pub fn counts(self, what: T) -> bool {
        let counts = self
            .presses
            .try_update_value(|presses| presses.counts(what.clone(), clock::now()));
        if counts != Some(true) {
            return false;
        }
        self.pressed.set(Some(what.clone()));
        let release = move || {
            let is_last = |pressed: &Option<T>| pressed.as_ref() == Some(&what);
            if self.pressed.try_with_untracked(is_last) == Some(true) {
                self.pressed.set(None);
            }
        };
        set_timeout(release, Duration::from_millis(SAME_PRESS));
        true
    }
}
