//! The setting for pictures of the user's own.

use leptos::prelude::*;

use super::tick::Tick;
use crate::reactive::boxed::when;
use crate::state::photo_privacy;

pub fn own_pictures() -> AnyView {
    let removes = RwSignal::new(!photo_privacy::keeps_metadata());
    let is_stored = RwSignal::new(true);
    view! {
        <section class="panel form" aria-labelledby="pictures-heading">
            <h2 id="pictures-heading">"Your pictures"</h2>
            <div class="field">
                <Tick
                    id="remove-metadata"
                    label="Remove location and camera data before uploading"
                    checked=removes
                    on_change=move |()| {
                        let keeps = !removes.get_untracked();
                        is_stored.set(photo_privacy::set_keeps_metadata(keeps));
                        removes.set(!photo_privacy::keeps_metadata());
                    }
                />
                <p class="hint">
                    "From JPEG, PNG and WebP. Files with Content Credentials (C2PA) are never changed."
                </p>
                <p class="problem" role="alert" hidden=when(move || is_stored.get())>
                    "The browser does not store this setting, so it stays as it was. Allow site data for this page."
                </p>
            </div>
        </section>
    }
    .into_any()
}
