//! Names that the model does not know: what becomes of each, at one press. The same in the form, in its JSON and in a
//! table that is imported.

use atelier_studio::form::input_json::Unknown;
use leptos::prelude::*;

use crate::reactive::boxed::{dynamic, handler, when};

/// `mend` takes a name and what it is to be; nothing where it is to go.
pub fn unknown_names(
    unknown: Memo<Vec<Unknown>>,
    mend: Callback<(String, Option<String>)>,
) -> AnyView {
    let line = move |Unknown { name, suggestion }: Unknown| {
        let renamed = name.clone();
        let meant = suggestion.map(|meant| {
            let label = format!("Did you mean {meant}?");
            let rename = move |_| mend.run((renamed.clone(), Some(meant.clone())));
            view! {
                <button class="button quiet small" type="button" on:click=handler(rename)>
                    {label}
                </button>
            }
            .into_any()
        });
        let label = format!("Remove {name}");
        view! {
            {meant}
            <button
                class="button quiet small"
                type="button"
                on:click=handler(move |_| mend.run((name.clone(), None)))
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
