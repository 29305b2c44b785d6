use icondata_core::Icon;
use leptos::prelude::*;
use leptos::tachys::html::InertElement;

use crate::reactive::boxed::dynamic;

/// A picture next to words that say the same; assistive technology skips it.
///
/// All are of one set, whose size and strokes the stylesheet knows.
#[component]
pub fn Glyph(icon: Icon) -> AnyView {
    // The drawing is a constant of ours, put into the page as it is.
    let drawn = format!(
        r#"<span class="glyph" aria-hidden="true"><svg viewBox="0 0 24 24">{}</svg></span>"#,
        icon.data
    );
    InertElement::new(drawn).into_any()
}

/// A picture that follows its signals.
pub fn changing_glyph(icon: impl Fn() -> Icon + Send + Sync + 'static) -> AnyView {
    dynamic(move || view! { <Glyph icon=icon() /> }.into_any())
}
