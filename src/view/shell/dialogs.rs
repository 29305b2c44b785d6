//! The dialogs that can open over any page.

use leptos::prelude::*;

use crate::reactive::boxed::{dynamic, effect, memo, when};
use crate::state::contexts::{contexts, more_pages};
use crate::state::{masks, picture_edits};
use crate::view::form::gallery_picker;
use crate::view::parts::focus_return;
use crate::view::shell::copy_manually::CopyManually;
use crate::view::shell::deferred_dialogs::{close_requested, is_requested, opening};
use crate::view::shell::send_unstored::SendUnstored;
use crate::view::shell::undo::{self, Undo};

pub fn dialogs() -> AnyView {
    undo::follow_key();
    view! {
        <SendUnstored />
        <Undo />
        {more()}
        <CopyManually />
    }
    .into_any()
}

/// Returns the dialogs of the last part of the program, once it is loaded. The address contains which of them is open, or a
/// field has opened one.
fn more() -> AnyView {
    let (navigation, more_pages) = (contexts().navigation, more_pages());
    let is_of_field =
        when(|| masks::is_open() || picture_edits::is_open() || gallery_picker::is_open());
    // When the dialogs are loaded, a placeholder has the focus.
    focus_return::follow(is_of_field);
    let route = memo(move || navigation.route());
    effect(move || {
        route.track();
        // The form of the field is gone.
        if untrack(gallery_picker::is_open) {
            gallery_picker::close();
        }
    });
    let is_requested = when(move || is_of_field.get() || is_requested(navigation));
    let close = move || {
        close_requested(navigation);
        masks::close();
        picture_edits::close();
        gallery_picker::close();
    };
    dynamic(move || match more_pages.functions() {
        Some(more) => (more.dialogs)(),
        None if is_requested.get() => opening(more_pages, close),
        None => ().into_any(),
    })
}
