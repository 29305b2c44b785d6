//! Buttons that rename or remove names that the model does not have. Used by the form, its JSON view and the import of
//! tables.

use atelier_studio::form::input_json::Unknown;
use leptos::prelude::*;

use crate::reactive::boxed::{dynamic, handler, when};

/// The buttons. `rename_or_remove`: called with a name and its replacement; `None` removes the name.
pub fn unknown_names(
    unknown: Memo<Vec<Unknown>>,
    rename_or_remove: Callback<(String, Option<String>)>,
) -> AnyView {
    let line = move |Unknown { name, suggestion }: Unknown| {
        let renamed = name.clone();
        let suggested = suggestion.map(|suggested| {
            let label = format!("Did you mean {suggested}?");
            let rename = move |_| rename_or_remove.run((renamed.clone(), Some(suggested.clone())));
            view! {
                <button class="button quiet small" type="button" on:click=handler(rename)>
                    {label}
                </button>
            }
            .into_any()
        });
        let label = format!("Remove {name}");
        view! {
            {suggested}
            <button
                class="button quiet small"
                type="button"
                on:click=handler(move |_| rename_or_remove.run((name.clone(), None)))
            >
                {label}
            </button>
        }
        .into_any()
    };
    view! {
        <div class="row" hidden=when(move || unknown.read().is_empty())>
            {dynamic(move || unknown.get().into_iter().map(line).collect_view().into_any())}
        </div>
    }
    .into_any()
}
