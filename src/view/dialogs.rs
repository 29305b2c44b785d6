//! What may lie over any page. What is open stands in the address.

use leptos::prelude::*;

use super::commands::Commands;
use super::lightbox::Lightbox;
use super::lightbox::comparison::Comparison;
use super::lightbox::sweep::Sweep;
use super::shortcuts::Shortcuts;

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
