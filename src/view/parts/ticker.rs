use atelier_engine::Millis;
use gloo_timers::callback::Interval;
use leptos::prelude::*;

use crate::browser::clock;

/// The present time as a signal that moves on every `every_ms`, for as long as its owner lives.
pub fn ticker(every_ms: u32) -> RwSignal<Millis> {
    let now = RwSignal::new(clock::now());
    let interval = StoredValue::new_local(Some(Interval::new(every_ms, move || {
        now.try_set(clock::now());
    })));
    on_cleanup(move || {
        interval.try_update_value(Option::take);
    });
    now
}
