//! The Download button.

use atelier_contract::output::SafeUrl;
use icondata_lu::LuDownload;
use leptos::prelude::*;

use super::output_recovery;
use super::shown_output::ShownOutput;
use crate::reactive::boxed::handler;
use crate::state::contexts::contexts;
use crate::view::parts::glyph::Glyph;

/// A button that saves an output as a file; `None` if its address must not be fetched.
pub fn save(shown: &ShownOutput) -> Option<AnyView> {
    let contexts = contexts();
    let address = contexts.session.settings_untracked().address;
    SafeUrl::file(&shown.url, address.as_str())?;
    let shown = shown.clone();
    let busy = RwSignal::new(false);
    let save = move |_| {
        busy.set(true);
        output_recovery::save(contexts, shown.clone(), busy);
    };
    Some(
        view! {
            <button
                class="button save"
                type="button"
                title="Download"
                prop:disabled=busy
                on:click=handler(save)
            >
                <Glyph icon=LuDownload />
                <span class="word">"Download"</span>
            </button>
        }
        .into_any(),
    )
}
