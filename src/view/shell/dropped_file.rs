//! Files that are dropped or pasted outside of the fields that accept files. They open the dialog `Open file`.

use std::cell::{Cell, RefCell};

use gloo_events::{EventListener, EventListenerOptions, EventListenerPhase};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{ClipboardEvent, DataTransfer, DragEvent, Element, Event};

use crate::browser::chosen::{self, ChosenFile};
use crate::state::navigation::Navigation;
use crate::view::parts::{dialog, focus};
use crate::view::shell::shortcuts;

/// The value of the query parameter that opens the dialog.
pub const OPEN_FILE: &str = "file";

thread_local! {
    /// The files of which the dialog shows one next.
    static WAITING: RefCell<Vec<ChosenFile>> = const { RefCell::new(Vec::new()) };
    /// Whether something of this page is being dragged, such as a picture. It is not a file of the user's.
    static IS_OWN_DRAG: Cell<bool> = const { Cell::new(false) };
}

/// Returns the files that were dropped or pasted last, once.
pub fn take() -> Vec<ChosenFile> {
    WAITING.take()
}

/// Whether something of this page is being dragged.
pub fn is_own_drag() -> bool {
    IS_OWN_DRAG.get()
}

/// Installs the event listeners, which are never removed. They are on the window, so that fields and pages handle the events
/// first.
pub fn listen(navigation: Navigation) {
    let passive = EventListenerOptions {
        phase: EventListenerPhase::Capture,
        passive: true,
    };
    EventListener::new_with_options(&document(), "dragstart", passive, |_| {
        IS_OWN_DRAG.set(true);
        // The mouse moves again after the drag. `dragend` is not sent if the dragged element was removed meanwhile.
        EventListener::once(&document(), "mousemove", |_| IS_OWN_DRAG.set(false)).forget();
    })
    .forget();
    EventListener::new_with_options(&document(), "dragend", passive, |_| IS_OWN_DRAG.set(false))
        .forget();
    let options = EventListenerOptions::enable_prevent_default();
    for name in ["dragover", "drop"] {
        EventListener::new_with_options(&window(), name, options, move |event| {
            let transfer = event.unchecked_ref::<DragEvent>().data_transfer();
            if event.default_prevented() || !has_files(transfer.as_ref()) || is_file_input(event) {
                return;
            }
            // Otherwise the browser would open the file, and leave the page.
            event.prevent_default();
            let is_accepted = !IS_OWN_DRAG.get() && !dialog::is_any_open();
            if let Some(transfer) = &transfer {
                transfer.set_drop_effect(if is_accepted { "copy" } else { "none" });
            }
            if is_accepted && event.type_() == "drop" {
                open(navigation, transfer);
            }
        })
        .forget();
    }
    EventListener::new_with_options(&window(), "paste", options, move |event| {
        let transfer = event.unchecked_ref::<ClipboardEvent>().clipboard_data();
        // Some programs add the name of a file as text, and a cell of a spreadsheet is both text and a picture.
        let is_text = chosen::has_type(transfer.as_ref(), "text/plain") && focus::is_writing();
        if event.default_prevented()
            || is_text
            || !has_files(transfer.as_ref())
            || dialog::is_any_open()
        {
            return;
        }
        event.prevent_default();
        open(navigation, transfer);
    })
    .forget();
}

fn open(navigation: Navigation, transfer: Option<DataTransfer>) {
    let files = chosen::of_transfer(transfer);
    if !files.is_empty() {
        WAITING.set(files);
        shortcuts::open(navigation, OPEN_FILE);
    }
}

fn has_files(transfer: Option<&DataTransfer>) -> bool {
    chosen::has_type(transfer, "Files")
}

/// Whether the browser itself puts the file into an input.
fn is_file_input(event: &Event) -> bool {
    let target = event.target().and_then(|it| it.dyn_into::<Element>().ok());
    target.is_some_and(|it| it.matches("input[type=file]") == Ok(true))
}
