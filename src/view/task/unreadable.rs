//! A note on outputs whose host does not allow the page to read them (CORS): what can't be done with them, and what can.

use atelier_contract::output::SafeUrl;
use atelier_studio::output::output_access::UNREADABLE_NOTE;
use leptos::prelude::*;

use super::shown_output::ShownOutput;
use crate::reactive::boxed::dynamic;
use crate::state::contexts::contexts;
use crate::state::known_files;

/// The note; empty unless the output is known to be unreadable.
pub fn note(shown: &ShownOutput) -> AnyView {
    let address = contexts().session.settings_untracked().address;
    let Some(safe) = SafeUrl::link(&shown.url, address.as_str()) else {
        return ().into_any();
    };
    dynamic(move || match known_files::of(&safe).is_unreadable {
        true => view! {
            <p class="muted unreadable" role="note">
                <span>{UNREADABLE_NOTE}</span>
                " "
                <a href=safe.as_str().to_owned() target="_blank" rel="noopener noreferrer">
                    "Open in a new tab"
                </a>
            </p>
        }
        .into_any(),
        false => ().into_any(),
    })
}
