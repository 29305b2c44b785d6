//! Waits for a pause in typing, for work that is not urgent.

use std::cell::Cell;
use std::rc::Rc;

use gloo_events::EventListener;
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::document;

/// The time without a key press that counts as a pause, in milliseconds.
pub const PAUSE_MS: u32 = 2_000;

/// Waits until no key was pressed for [`PAUSE_MS`].
pub async fn pause() {
    let is_typing = Rc::new(Cell::new(true));
    let is_pressed = Rc::clone(&is_typing);
    let _listening = EventListener::new(&document(), "keydown", move |_| is_pressed.set(true));
    while is_typing.replace(false) {
        TimeoutFuture::new(PAUSE_MS).await;
    }
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::browser::clock;

    #[wasm_bindgen_test]
    async fn pause_ends_after_two_seconds_without_a_key() {
        let since = clock::now();
        let press = gloo_timers::callback::Timeout::new(PAUSE_MS / 2, || {
            let event = web_sys::Event::new("keydown").unwrap();
            document().dispatch_event(&event).unwrap();
        });
        pause().await;
        assert!(clock::now() - since >= u64::from(PAUSE_MS) * 2);
        drop(press);
    }
}
