//! What may lie over any page. Which dialog is open stands in the address.

use leptos::prelude::*;

use super::commands::Commands;
use super::copy_by_hand::CopyByHand;
use super::lightbox::Lightbox;
use super::lightbox::comparison::Comparison;
use super::lightbox::sweep::Sweep;
use super::send_unstored::SendUnstored;
use super::shortcuts::Shortcuts;
use super::undo::{self, Undo};

pub fn dialogs() -> AnyView {
    undo::follow_key();
    view! {
        <SendUnstored />
        <Undo />
        <Lightbox />
        <Comparison />
        <Sweep />
        <Shortcuts />
        <Commands />
        <CopyByHand />
    }
    .into_any()
}
