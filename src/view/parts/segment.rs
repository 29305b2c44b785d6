use leptos::prelude::*;

use crate::reactive::boxed::handler;

/// Returns one option of a segmented control. `group`: the name of its radio group, unique on the page.
pub fn segment(
    group: impl Into<String>,
    label: impl Into<String>,
    is_chosen: Signal<bool>,
    mut choose: impl FnMut() + 'static,
) -> AnyView {
    let (group, label) = (group.into(), label.into());
    view! {
        <label>
            <input
                type="radio"
                name=group
                prop:checked=is_chosen
                on:change=handler(move |_| choose())
            />
            <span>{label}</span>
        </label>
    }
    .into_any()
}
