use leptos::prelude::*;

use crate::reactive::boxed::handler;

/// A labeled checkbox. `on_change` is called after `checked` was set.
#[component]
pub fn Tick(
    id: &'static str,
    label: &'static str,
    checked: RwSignal<bool>,
    #[prop(into)] on_change: Callback<()>,
) -> AnyView {
    view! {
        <div class="tick">
            <input
                id=id
                type="checkbox"
                prop:checked=checked
                on:change=handler(move |event| {
                    checked.set(event_target_checked(&event));
                    on_change.run(());
                })
            />
            <label for=id>{label}</label>
        </div>
    }
    .into_any()
}
