use leptos::prelude::*;

use crate::boot::offline;
use crate::reactive::boxed::{handler, spawn, text, when};
use crate::state::contexts::contexts;

/// The setting to open Atelier without network.
#[component]
pub fn Offline() -> impl IntoView {
    let runner = contexts().runner;
    // A browser that can't store tasks can't store pages either.
    let is_possible = when(move || offline::is_possible() && runner.own_storage_error().is_none());
    let message = RwSignal::new(String::new());
    let change = move |event| {
        let is_wanted = event_target_checked(&event);
        message.set(String::new());
        spawn(async move {
            let is_done = offline::set_wanted(is_wanted).await;
            let text_of_result = match (is_wanted, is_done) {
                (true, true) => "Atelier is being stored in this browser.",
                (true, false) => "This browser does not allow it.",
                (false, true) => "Off. The offline copy is deleted; your tasks remain.",
                (false, false) => {
                    "Off until this page is reloaded: this browser refuses to store settings."
                }
            };
            message.try_set(text_of_result.to_owned());
        });
    };
    view! {
        <section class="panel form" aria-labelledby="offline-heading">
            <h2 id="offline-heading">"Offline"</h2>
            <div class="field">
                <div class="tick">
                    <input
                        id="offline"
                        type="checkbox"
                        aria-describedby="offline-hint"
                        prop:disabled=when(move || !is_possible.get())
                        prop:checked=when(move || is_possible.get() && offline::is_wanted())
                        on:change=handler(change)
                    />
                    <label for="offline">"Open without network"</label>
                </div>
                <p class="hint" id="offline-hint" prop:textContent=text(move || match is_possible.get() {
                        true => "Stores Atelier and the models you have seen in this browser, so that your forms, tasks, \
                                 gallery and kept outputs work without network.",
                        false if runner.own_storage_error().is_some() => "This browser refuses to store anything for this page at present: Atelier needs the network.",
                        false => "This browser does not store pages for offline use, or only pages served over https.",
                    }.to_owned())></p>
            </div>
            <p role="status" prop:textContent=text(move || message.get())></p>
        </section>
    }
}
