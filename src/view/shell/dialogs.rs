//! What may lie over any page. Which dialog is open stands in the address.

use leptos::prelude::*;

use crate::view::lightbox::Lightbox;
use crate::view::lightbox::comparison::Comparison;
use crate::view::lightbox::sweep::Sweep;
use crate::view::shell::commands::Commands;
use crate::view::shell::copy_manually::CopyByHand;
use crate::view::shell::send_unstored::SendUnstored;
use crate::view::shell::shortcuts::Shortcuts;
use crate::view::shell::undo::{self, Undo};

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
