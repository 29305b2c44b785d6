//! Counts the events after which failed loads should be retried: the user's returns to the page, see [`Returns`].

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use atelier_studio::fault::retry::Returns;
use leptos::prelude::*;

use crate::browser::{clock, lifecycle};
use crate::reactive::until::until;

thread_local! {
    static TIMES: OnceCell<ArcRwSignal<u32>> = const { OnceCell::new() };
}

/// Returns the number of these events; tracked.
pub fn times() -> u32 {
    signal().get()
}

/// Waits until the number of events differs from `before`.
pub async fn since(before: u32) {
    until(move || (times() != before).then_some(())).await
}

/// Returns the signal with the number of events. Events are counted from the first call.
fn signal() -> ArcRwSignal<u32> {
    let begin = || {
        let times = ArcRwSignal::new(0);
        let count = times.clone();
        let returns = Rc::new(Cell::new(Returns::new(clock::now())));
        lifecycle::on_change(move || {
            let is_here = lifecycle::is_visible() && lifecycle::is_online();
            let (next, is_return) = returns.get().on_change(is_here, clock::now());
            returns.set(next);
            if is_return {
                count.update(|times| *times += 1);
            }
        });
        times
    };
    TIMES.with(|times| times.get_or_init(begin).clone())
}
