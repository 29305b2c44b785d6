//! Views within elements that are no view's.

use leptos::prelude::*;
use web_sys::Element;

/// Puts a view into an element, for as long as the owner lives.
pub fn mount_into(element: &Element, view: AnyView) {
    let mut state = view.build();
    state.mount(element, None);
    StoredValue::new_local(state);
}
