use atelier::App;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlInputElement};

const SEARCH: &str = "input[type=search]";

fn main() {
    atelier::browser::panic::set_hook();
    let mut is_searching = false;
    // What the page shows until now: boot/.
    if let Some(boot) = document().get_element_by_id("boot") {
        let focused = document().active_element();
        is_searching = focused.is_some_and(|it| boot.contains(Some(&it)) && is_search(&it));
        boot.remove();
    }
    mount_to_body(App);
    if is_searching {
        // The list is there by then.
        request_animation_frame(go_on_searching);
    }
}

fn is_search(element: &Element) -> bool {
    element.matches(SEARCH).unwrap_or_default()
}

fn go_on_searching() {
    let search = document().query_selector(SEARCH).ok().flatten();
    if let Some(search) = search.and_then(|it| it.dyn_into::<HtmlInputElement>().ok()) {
        let _ = search.focus();
        // Behind what was typed.
        let end = search.value().encode_utf16().count() as u32;
        let _ = search.set_selection_range(end, end);
    }
}
