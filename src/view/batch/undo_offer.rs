//! The offer to undo a replacement of content that the user typed.

use atelier_engine::UNDO_MS;
use gloo_timers::callback::Timeout;
use leptos::prelude::*;

use crate::reactive::boxed::after;

/// The offer to undo the last replacement.
#[derive(Clone, Copy)]
pub struct UndoOffer {
    offered: RwSignal<Option<Offered>>,
    /// Whether the views have been updated after the replacement. All later changes come from the user.
    is_settled: StoredValue<bool>,
    end: StoredValue<Option<Timeout>, LocalStorage>,
}

#[derive(Clone)]
struct Offered {
    message: String,
    undo: Callback<()>,
}

impl Default for UndoOffer {
    fn default() -> Self {
        Self {
            offered: RwSignal::new(None),
            is_settled: StoredValue::new(false),
            end: StoredValue::new_local(None),
        }
    }
}

impl UndoOffer {
    /// Offers to undo, until something is sent or changed. `message`: describes the replacement. `undo`: undoes it.
    pub fn offer_until_change(self, message: &str, undo: Callback<()>) {
        self.end.set_value(None);
        self.is_settled.set_value(false);
        self.offered.set(Some(Offered {
            message: message.to_owned(),
            undo,
        }));
        // By then the views have been updated.
        let settled = after(0, move || {
            self.is_settled.try_set_value(true);
        });
        settled.forget();
    }

    /// Like [`Self::offer_until_change`], but only for [`UNDO_MS`].
    pub fn offer(self, message: &str, undo: Callback<()>) {
        self.offer_until_change(message, undo);
        let end = after(UNDO_MS as u32, move || self.end());
        self.end.set_value(Some(end));
    }

    /// Withdraws the offer after a change by the user, which undoing would lose.
    pub fn end_on_change(self) {
        if self.is_settled.get_value() {
            self.end();
        }
    }

    /// Withdraws the offer.
    pub fn end(self) {
        self.offered.try_set(None);
    }

    /// Returns the message; tracked.
    pub fn message(self) -> Option<String> {
        let offered = self.offered.read();
        offered.as_ref().map(|offered| offered.message.clone())
    }

    /// Undoes the replacement.
    pub fn undo(self) {
        if let Some(offered) = self.offered.try_update(Option::take).flatten() {
            offered.undo.run(());
        }
    }
}
