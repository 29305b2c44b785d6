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
    // A press that has begun on the first view ends there: it would be lost with the element under
    // it.
    if let Ok(Some(_)) = document().query_selector("#boot:active") {
        return request_animation_frame(open);
    }
    let mut is_searching = false;
    // The first view, drawn by boot/.
    if let Some(boot) = document().get_element_by_id("boot") {
        let focused = document().active_element();
        is_searching = focused.is_some_and(|it| boot.contains(Some(&it)) && is_search(&it));
        set_least_height(Some(document().body().map_or(0, |it| it.scroll_height())));
        boot.remove();
    }
    mount_to_body(App);
    // By then the list is there.
    request_animation_frame(move || {
        set_least_height(None);
        if is_searching {
            go_on_searching();
        }
    });
}

/// In pixels: while nothing is in the page's place it would be short, and scrolled to its top.
fn set_least_height(height: Option<i32>) {
    let height = height.map(|height| format!("{height}px"));
    if let Some(body) = document().body() {
        let style = body.style();
        let _ = style.set_property("min-height", height.as_deref().unwrap_or_default());
    }
}

fn is_search(element: &Element) -> bool {
    element.matches(SEARCH).unwrap_or_default()
}

fn go_on_searching() {
    let search = document().query_selector(SEARCH).ok().flatten();
    if let Some(search) = search.and_then(|it| it.dyn_into::<HtmlInputElement>().ok()) {
        let _ = search.focus();
        // The cursor stands behind what was typed.
        let end = search.value().encode_utf16().count() as u32;
        let _ = search.set_selection_range(end, end);
    }
}
