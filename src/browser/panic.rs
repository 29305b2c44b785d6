//! Handles panics. A wasm program can't continue after a panic, so the script in `index.html`, which does not depend on it,
//! shows what happened.

use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicBool, Ordering};

use atelier_studio::fault::crash_report;
use leptos::prelude::window;
use web_sys::{CustomEvent, CustomEventInit};

static HAS_PANICKED: AtomicBool = AtomicBool::new(false);

/// Installs a hook that sends a report of a panic to the script in `index.html`.
pub fn set_hook() {
    std::panic::set_hook(Box::new(|info| {
        console_error_panic_hook::hook(info);
        // One panic causes others: only the first one shows what happened.
        if !HAS_PANICKED.swap(true, Ordering::Relaxed) {
            report(info);
        }
    }));
}

/// Returns whether the program has panicked. Its state is then unreliable, although timers still run.
pub fn has_panicked() -> bool {
    HAS_PANICKED.load(Ordering::Relaxed)
}

fn report(info: &PanicHookInfo<'_>) {
    let message = info.payload_as_str().unwrap_or_default();
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    let init = CustomEventInit::new();
    init.set_detail(&crash_report::text(message, &place).into());
    if let Ok(event) = CustomEvent::new_with_event_init_dict("atelier.stopped", &init) {
        // Fails only for an event that is already being dispatched.
        let _ = window().dispatch_event(&event);
    }
}
