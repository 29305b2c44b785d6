//! Mounts views in elements that were not created by Leptos.

use leptos::prelude::*;
use web_sys::Element;

/// Mounts a view in an element until the current owner is disposed.
pub fn mount_into(element: &Element, view: AnyView) {
    let mut state = view.build();
    state.mount(element, None);
    StoredValue::new_local(state);
}
