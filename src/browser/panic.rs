//! What happens when Atelier itself fails. A wasm that has panicked can't go on, so what a person
//! then sees is made by the script in index.html, which needs nothing of it.

use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicBool, Ordering};

use atelier_studio::fault::crash_report;
use leptos::prelude::window;
use web_sys::{CustomEvent, CustomEventInit};

static HAS_PANICKED: AtomicBool = AtomicBool::new(false);

/// Tells `index.html` of a panic, with a report that can be passed on.
pub fn set_hook() {
    std::panic::set_hook(Box::new(|info| {
        console_error_panic_hook::hook(info);
        // One panic leads to others: the first tells what happened.
        if !HAS_PANICKED.swap(true, Ordering::Relaxed) {
            tell(info);
        }
    }));
}

/// This page can't be relied upon any more, though its timers still run.
pub fn has_panicked() -> bool {
    HAS_PANICKED.load(Ordering::Relaxed)
}

fn tell(info: &PanicHookInfo<'_>) {
    let message = info.payload_as_str().unwrap_or_default();
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    let init = CustomEventInit::new();
    init.set_detail(&crash_report::text(message, &place).into());
    if let Ok(event) = CustomEvent::new_with_event_init_dict("atelier.stopped", &init) {
        // It fails only for events that are under way already.
        let _ = window().dispatch_event(&event);
    }
}
