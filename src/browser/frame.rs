//! Waits for the frames that the browser renders.

use std::time::Duration;

use leptos::prelude::{request_animation_frame, set_timeout};

/// Without a delay, the callback would run before others that wait for the end of the frame.
const DELAY: Duration = Duration::from_millis(1);

/// Runs a callback once the browser has rendered the current state of the page, which it does not while the page is hidden.
pub fn after_frame(act: impl FnOnce() + 'static) {
    request_animation_frame(move || set_timeout(act, DELAY));
}
