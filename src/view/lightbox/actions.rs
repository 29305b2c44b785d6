use atelier_contract::output::SafeUrl;
use leptos::prelude::*;
use web_sys::KeyboardEvent;

use crate::reactive::boxed::dynamic;
use crate::state::contexts::contexts;
use crate::view::lightbox::edit_with_mask;
use crate::view::parts::click::click;
use crate::view::task::again::Again;
use crate::view::task::shown_output::ShownOutput;
use crate::view::task::{favorite, save, use_in, vary};

/// Clicks the button of [`actions`] that belongs to the pressed key, in the dialog with this accessible name.
///
/// Returns whether the key has a button.
pub fn press_tool(event: &KeyboardEvent, dialog: &str) -> bool {
    let tool = match event.key().as_str() {
        "f" | "F" => "heart",
        "d" | "D" => "save",
        _ => return false,
    };
    // Ignore key repeat.
    if !event.repeat() {
        click(&format!(
            "dialog[aria-label={dialog}] .lightbox-actions .{tool}"
        ));
    }
    true
}

/// Returns the most frequent actions for a large output as buttons of equal weight. `more` is added at the end.
pub fn actions(shown: &ShownOutput, again: Again, more: AnyView) -> AnyView {
    let address = contexts().session.settings_untracked().address;
    let vary = dynamic(move || {
        if again.is_awaited() {
            // Most outputs can be varied: reserve the space so that a late button doesn't shift the layout.
            return view! { <div class="vary" aria-hidden="true"></div> }.into_any();
        }
        if !again.has_seed() {
            return ().into_any();
        }
        vary::vary(1, again.outputs_of_each(), move |count| {
            again.press("Vary", count)
        })
    });
    let use_in = SafeUrl::media(&shown.url, address.as_str())
        .is_some()
        .then(|| use_in::use_in(shown, "large", again.answer));
    let is_safe = use_in.is_some();
    let mask = is_safe.then(|| edit_with_mask::edit_with_mask(shown));
    view! {
        <div class="lightbox-actions">
            {favorite::output_heart(&shown.task.key, shown.position)} {vary} {use_in} {mask} {save::save(shown)} {more}
        </div>
    }
    .into_any()
}
