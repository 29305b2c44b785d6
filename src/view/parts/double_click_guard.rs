use atelier_studio::form::double_click::{DEBOUNCE_MS, Presses};
use leptos::prelude::*;

use crate::browser::press;
use crate::reactive::boxed::after;

/// Buttons that stay where they are for as long as a double click may take, whatever its first half
/// has changed: the second half must meet neither the same button in earnest nor another one that
/// has taken its place.
#[derive(Clone, Copy)]
pub struct DoubleClickGuard {
    presses: StoredValue<Presses>,
    /// The name of what is pressed, until it may have another place.
    pressed: RwSignal<Option<&'static str>>,
}

impl Default for DoubleClickGuard {
    fn default() -> Self {
        Self {
            presses: StoredValue::new(Presses::default()),
            pressed: RwSignal::new(None),
        }
    }
}

impl DoubleClickGuard {
    /// Whether anything was pressed just now; tracked.
    pub fn is_pressed(self) -> bool {
        self.pressed.read().is_some()
    }

    /// The second half of a double click leads nowhere, where what was pressed has given its place to a link.
    pub fn keep_from_links(self, click: &web_sys::MouseEvent) {
        let target = event_target::<web_sys::Element>(click);
        let is_link = target.closest("a").is_ok_and(|link| link.is_some());
        if is_link && untrack(|| self.is_pressed()) {
            click.prevent_default();
        }
    }

    /// Whether a press counts.
    pub fn counts(self, name: &'static str) -> bool {
        let counts = self
            .presses
            .try_update_value(|presses| presses.counts(name, press::at()));
        if counts != Some(true) {
            return false;
        }
        self.pressed.set(Some(name));
        let release = after(DEBOUNCE_MS as u32, move || {
            if self.pressed.try_get_untracked() == Some(Some(name)) {
                self.pressed.set(None);
            }
        });
        release.forget();
        true
    }
}
