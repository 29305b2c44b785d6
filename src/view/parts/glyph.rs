use icondata_core::Icon;
use leptos::prelude::*;

/// A picture beside words that say the same; assistive technology skips it.
#[component]
pub fn Glyph(#[prop(into)] icon: Signal<Icon>) -> impl IntoView {
    view! {
        <span class="glyph" aria-hidden="true">
            <leptos_icons::Icon icon />
        </span>
    }
}
