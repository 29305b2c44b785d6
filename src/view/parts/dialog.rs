use leptos::html::Dialog;
use leptos::prelude::*;

use crate::boxed::effect;

/// Keeps a dialog as open as a signal says.
pub fn follow(dialog: NodeRef<Dialog>, is_open: Signal<bool>) {
    effect(move || {
        let Some(dialog) = dialog.get() else { return };
        match (is_open.get(), dialog.open()) {
            // It fails only while the dialog is open already.
            (true, false) => drop(dialog.show_modal()),
            (false, true) => dialog.close(),
            _ => {}
        }
    });
}
