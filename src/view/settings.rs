mod account;
mod connection;
mod connection_test;
mod fields;
mod files;
mod generating;
mod history;
mod offline;
mod output_cache;
mod own_pictures;
mod tick;

use leptos::prelude::*;

use crate::reactive::boxed::{handler, text, when};
use fields::SettingsFields;

/// `/settings`: the connection to the service, what this browser stores, and the history as a file.
#[component]
pub fn SettingsPage() -> impl IntoView {
    let fields = SettingsFields::new();
    let save = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        fields.save();
    };
    view! {
        <div class="page settings-page">
            <h1>"Settings"</h1>
            <div class="settings">
                <form class="panel form" aria-label="Settings" novalidate on:submit=handler(save)>
                    {connection::connection(fields)}
                    <div class="form-foot">
                        <button class="button primary" type="submit">
                            "Save"
                        </button>
                        {connection::test(fields)}
                        <span class="muted" hidden=when(move || fields.is_saved.get() || fields.is_unsaved.get())>
                            "Saves the connection. Other settings take effect at once."
                        </span>
                        <span role="status" prop:textContent=text(move || match (fields.is_saved.get(), fields.is_unsaved.get()) {
                                (true, _) => "Saved.".into(),
                                (false, true) => "Your changes are not saved yet.".into(),
                                (false, false) => String::new(),
                            })></span>
                    </div>
                </form>
                {generating::generating(fields)}
                {own_pictures::own_pictures()}
            </div>
            <div class="settings">
                {files::files()}
                {output_cache::output_cache(fields)}
                <history::HistoryFile />
                <offline::Offline />
            </div>
        </div>
    }
}
