//! Counts the times at which what could not be loaded is worth another try, as [`Returns`] has them.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use atelier_studio::fault::retry::Returns;
use leptos::prelude::*;

use crate::browser::{clock, lifecycle};
use crate::reactive::until::until;

thread_local! {
    static TIMES: OnceCell<ArcRwSignal<u32>> = const { OnceCell::new() };
}

/// How often that was; tracked.
pub fn times() -> u32 {
    signal().get()
}

/// Waits until it was once more than so often.
pub async fn since(before: u32) {
    until(move || (times() != before).then_some(())).await
}

/// Followed from when it is first asked for.
fn signal() -> ArcRwSignal<u32> {
    let begin = || {
        let times = ArcRwSignal::new(0);
        let told = times.clone();
        let returns = Rc::new(Cell::new(Returns::new(clock::now())));
        lifecycle::on_change(move || {
            let is_here = lifecycle::is_visible() && lifecycle::is_online();
            let (next, is_return) = returns.get().on_change(is_here, clock::now());
            returns.set(next);
            if is_return {
                told.update(|times| *times += 1);
            }
        });
        times
    };
    TIMES.with(|times| times.get_or_init(begin).clone())
}
