//! What tests of this crate share.

use leptos::prelude::document;
use wasm_bindgen::JsCast;

thread_local! {
    static MOUNTED: () = {
        let nowhere = document().create_element("div").expect("an element");
        leptos::mount::mount_to(nowhere.unchecked_into(), || ()).forget();
    };
}

/// Leptos runs effects once something was mounted, as a page always is. Tests run in any order, so none may count on
/// another to have done it.
pub fn mount_nothing() {
    MOUNTED.with(|()| ());
}
