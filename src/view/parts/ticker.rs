use atelier_engine::Millis;
use gloo_timers::callback::Interval;
use leptos::prelude::*;

use crate::browser::clock;

/// Returns a signal with the current time, updated every `every_ms` milliseconds until the current owner is disposed.
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
