//! The way back from what has taken the place of something that a person wrote.

use atelier_engine::UNDO_MS;
use gloo_timers::callback::Timeout;
use leptos::prelude::*;

use crate::reactive::boxed::after;

#[derive(Clone, Copy)]
pub struct WayBack {
    offered: RwSignal<Option<Offered>>,
    /// All that the press changes by itself has changed: what changes now, a person has changed.
    is_settled: StoredValue<bool>,
    end: StoredValue<Option<Timeout>, LocalStorage>,
}

#[derive(Clone)]
struct Offered {
    said: String,
    back: Callback<()>,
}

impl Default for WayBack {
    fn default() -> Self {
        Self {
            offered: RwSignal::new(None),
            is_settled: StoredValue::new(false),
            end: StoredValue::new_local(None),
        }
    }
}

impl WayBack {
    /// Says what was done, and takes the way back once a person wants that: until something is sent or written.
    pub fn keep_on_offering(self, said: &str, back: Callback<()>) {
        self.end.set_value(None);
        self.is_settled.set_value(false);
        self.offered.set(Some(Offered {
            said: said.to_owned(),
            back,
        }));
        // The views have followed by then.
        let settled = after(0, move || {
            self.is_settled.try_set_value(true);
        });
        settled.forget();
    }

    /// The same for a while.
    pub fn offer(self, said: &str, back: Callback<()>) {
        self.keep_on_offering(said, back);
        let end = after(UNDO_MS as u32, move || self.end());
        self.end.set_value(Some(end));
    }

    /// Something was written since: the way back would lose that.
    pub fn end_by_change(self) {
        if self.is_settled.get_value() {
            self.end();
        }
    }

    /// It leads nowhere any more.
    pub fn end(self) {
        self.offered.try_set(None);
    }

    /// Tracked.
    pub fn said(self) -> Option<String> {
        let offered = self.offered.read();
        offered.as_ref().map(|offered| offered.said.clone())
    }

    pub fn take(self) {
        if let Some(offered) = self.offered.try_update(Option::take).flatten() {
            offered.back.run(());
        }
    }
}
