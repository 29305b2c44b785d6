//! Helpers shared by the tests of this crate.

use leptos::prelude::document;
use wasm_bindgen::JsCast;

thread_local! {
    static MOUNTED: () = {
        let nowhere = document().create_element("div").expect("an element");
        leptos::mount::mount_to(nowhere.unchecked_into(), || ()).forget();
    };
}

/// Mounts an empty view, once. Leptos runs effects only after something was mounted, and tests run in any order, so each
/// test that needs effects calls this.
pub fn mount_nothing() {
    MOUNTED.with(|()| ());
}
