//! Waits that fit between the frames that the browser shows.

use std::time::Duration;

use leptos::prelude::{request_animation_frame, set_timeout};

/// A wait of no time at all would end first after the frame, before what waits for the frame's end.
const AFTER: Duration = Duration::from_millis(1);

/// Does something once the browser has shown what there is now. Not while the page is hidden.
pub fn after_frame(act: impl FnOnce() + 'static) {
    request_animation_frame(move || set_timeout(act, AFTER));
}
