use icondata_core::Icon;
use leptos::prelude::*;
use leptos::tachys::html::InertElement;

use crate::reactive::boxed::dynamic;

/// A decorative icon next to a text. It is hidden from assistive technology.
///
/// All icons are from one set. The style sheet defines their size and stroke.
#[component]
pub fn Glyph(icon: Icon) -> AnyView {
    // The icon is a constant, so it is safe as raw HTML.
    let drawn = format!(
        r#"<span class="glyph" aria-hidden="true"><svg viewBox="0 0 24 24">{}</svg></span>"#,
        icon.data
    );
    InertElement::new(drawn).into_any()
}

/// Returns an icon that changes with its signals.
pub fn changing_glyph(icon: impl Fn() -> Icon + Send + Sync + 'static) -> AnyView {
    dynamic(move || view! { <Glyph icon=icon() /> }.into_any())
}
