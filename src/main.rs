use atelier::App;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlInputElement};

const SEARCH: &str = "input[type=search]";

fn main() {
    atelier::browser::panic::set_hook();
    open();
}

fn open() {
    // Waits until a press on the first page ends: it would be lost if its element were removed.
    if let Ok(Some(_)) = document().query_selector("#boot:active") {
        return request_animation_frame(open);
    }
    let mut is_searching = false;
    // The first page, drawn by `boot/`.
    if let Some(boot) = document().get_element_by_id("boot") {
        let focused = document().active_element();
        is_searching = focused.is_some_and(|it| boot.contains(Some(&it)) && is_search(&it));
        set_min_height(Some(document().body().map_or(0, |it| it.scroll_height())));
        boot.remove();
    }
    mount_to_body(App);
    // The list is rendered by then.
    request_animation_frame(move || {
        set_min_height(None);
        if is_searching {
            continue_search();
        }
    });
}

/// Sets the minimum height of the page in pixels. Without it, the page would be short during the replacement and lose its
/// scroll position.
fn set_min_height(height: Option<i32>) {
    let height = height.map(|height| format!("{height}px"));
    if let Some(body) = document().body() {
        let style = body.style();
        let _ = style.set_property("min-height", height.as_deref().unwrap_or_default());
    }
}

fn is_search(element: &Element) -> bool {
    element.matches(SEARCH).unwrap_or_default()
}

fn continue_search() {
    let search = document().query_selector(SEARCH).ok().flatten();
    if let Some(search) = search.and_then(|it| it.dyn_into::<HtmlInputElement>().ok()) {
        let _ = search.focus();
        // Moves the cursor behind the typed text.
        let end = search.value().encode_utf16().count() as u32;
        let _ = search.set_selection_range(end, end);
    }
}
