//! What may lie over any page. What is open stands in the address.

use leptos::html::Dialog;
use leptos::prelude::*;

use super::commands::Commands;
use super::lightbox::Lightbox;
use super::lightbox::comparison::Comparison;
use super::lightbox::sweep::Sweep;
use super::shortcuts::Shortcuts;
use crate::boxed::effect;

pub fn dialogs() -> AnyView {
    view! {
        <Lightbox />
        <Comparison />
        <Sweep />
        <Shortcuts />
        <Commands />
    }
    .into_any()
}

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
