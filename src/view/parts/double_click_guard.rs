use atelier_studio::form::double_click::{DEBOUNCE_MS, Presses};
use leptos::prelude::*;

use crate::browser::press;
use crate::reactive::boxed::after;

/// Ignores the second half of a double click on a group of buttons.
///
/// The first click may change the layout. The second click must neither repeat the action nor press another button that has
/// moved under the pointer.
#[derive(Clone, Copy)]
pub struct DoubleClickGuard {
    presses: StoredValue<Presses>,
    /// The name of the pressed button until the time for a double click has passed.
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
    /// Returns whether a button was pressed within the time for a double click; tracked.
    pub fn is_pressed(self) -> bool {
        self.pressed.read().is_some()
    }

    /// Prevents navigation if the second half of a double click hits a link that has moved under the pointer.
    pub fn prevent_link_click(self, click: &web_sys::MouseEvent) {
        let target = event_target::<web_sys::Element>(click);
        let is_link = target.closest("a").is_ok_and(|link| link.is_some());
        if is_link && untrack(|| self.is_pressed()) {
            click.prevent_default();
        }
    }

    /// Returns whether a press counts. A repeated press within the time for a double click doesn't.
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
