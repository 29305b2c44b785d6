use leptos::prelude::*;

use super::composer::Composer;
use crate::reactive::boxed::{dynamic, handler, text, when};

/// Notes about storing the table: why it can't be stored, and which rows were replaced by those of another tab.
pub fn keeping(composer: Composer) -> AnyView {
    let stored_table = composer.keeping();
    let (refusal, conflict) = (stored_table.refusal(), stored_table.conflict_message());
    let is_hidden = {
        let refusal = refusal.clone();
        when(move || refusal.read().is_none() || composer.table.read().is_empty())
    };
    let message = text(move || match *refusal.read() {
        Some(refusal) => format!(
            "These rows are not being stored: this browser {refusal}. They stay here until this tab is closed or reloaded."
        ),
        None => String::new(),
    });
    let offer = move || {
        conflict
            .get()
            .map(|sentence| {
                view! {
                    <p>{sentence}</p>
                    <div class="row">
                        <button
                            class="button"
                            type="button"
                            on:click=handler(move |_| composer.keeping().swap())
                        >
                            "Show them instead"
                        </button>
                        <button
                            class="button quiet"
                            type="button"
                            on:click=handler(move |_| composer.keeping().discard_conflict())
                        >
                            "Discard them"
                        </button>
                    </div>
                }
                .into_any()
            })
            .into_any()
    };
    view! {
        <p class="note" role="status" hidden=is_hidden prop:textContent=message></p>
        <div class="aside-rows" role="status">
            {dynamic(offer)}
        </div>
    }
    .into_any()
}
