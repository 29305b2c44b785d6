use icondata_core::Icon;
use leptos::prelude::*;
use leptos::svg;

use crate::boxed::dynamic;

/// A picture beside words that say the same; assistive technology skips it.
///
/// All are of one set, whose size and strokes the stylesheet knows.
#[component]
pub fn Glyph(icon: Icon) -> AnyView {
    // The drawing is a constant of ours, put into the page as it is.
    let drawing = svg::InertElement::new(format!("<g>{}</g>", icon.data));
    view! {
        <span class="glyph" aria-hidden="true">
            <svg viewBox="0 0 24 24">{drawing}</svg>
        </span>
    }
    .into_any()
}

/// A picture that follows its signals.
pub fn changing_glyph(icon: impl Fn() -> Icon + Send + Sync + 'static) -> AnyView {
    dynamic(move || view! { <Glyph icon=icon() /> }.into_any())
}
