//! The address bar: reads the address, and navigates without reloading the page.

use gloo_events::{EventListener, EventListenerOptions};
use leptos::prelude::{document, window};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlAnchorElement, MouseEvent};

/// Returns the current path and query.
pub fn current() -> (String, String) {
    let location = window().location();
    (
        location.pathname().unwrap_or_default(),
        location.search().unwrap_or_default(),
    )
}

/// Returns the current fragment with its `#`, or an empty text.
pub fn fragment() -> String {
    window().location().hash().unwrap_or_default()
}

/// Calls back when only the fragment has changed, until the listener is dropped.
pub fn on_fragment(callback: impl Fn() + 'static) -> EventListener {
    EventListener::new(&window(), "hashchange", move |_| callback())
}

pub fn origin() -> String {
    window().location().origin().unwrap_or_default()
}

/// Replaces the current address. The history entry keeps its note.
pub fn replace(path_and_query: &str) {
    if let Ok(history) = window().history() {
        let state = history.state().unwrap_or(JsValue::NULL);
        // Browsers limit the rate of changes; the address is then updated by a later call.
        let _ = history.replace_state_with_url(&state, "", Some(path_and_query));
    }
}

/// Returns the note of the current history entry: see [`push`].
pub fn note() -> String {
    let state = window().history().and_then(|history| history.state());
    state.ok().and_then(|it| it.as_string()).unwrap_or_default()
}

/// Reloads the page and the program.
pub fn reload() {
    // Refused only while the page is being unloaded.
    let _ = window().location().reload();
}

/// Adds a history entry with another address of the app, without scrolling. The note stays with the entry through reloads,
/// Back and Forward.
pub fn push(path_and_query: &str, note: &str) {
    if let Ok(history) = window().history() {
        let _ = history.push_state_with_url(&note.into(), "", Some(path_and_query));
    }
}

/// Goes back like the browser's Back button. Listeners are called a moment later.
pub fn back() {
    if let Ok(history) = window().history() {
        // Refused only while the page is being unloaded.
        let _ = history.back();
    }
}

pub fn to_top() {
    window().scroll_to_with_x_and_y(0.0, 0.0);
}

/// Calls back when the user goes back or forward, until the listener is dropped.
pub fn on_pop(callback: impl Fn() + 'static) -> EventListener {
    EventListener::new(&window(), "popstate", move |_| callback())
}

/// Calls back with the path and query of each link within the app that the user follows in this tab, until the listener is
/// dropped. The browser handles all other clicks.
pub fn on_link(callback: impl Fn(String) + 'static) -> EventListener {
    let options = EventListenerOptions::enable_prevent_default();
    EventListener::new_with_options(&document(), "click", options, move |event| {
        if let Some(target) = followed_link(event) {
            event.prevent_default();
            callback(target);
        }
    })
}

/// Returns whether the browser handles the click on a link in another way than following it in this tab.
pub fn opens_elsewhere(click: &MouseEvent) -> bool {
    let has_modifier = click.ctrl_key() || click.meta_key() || click.shift_key() || click.alt_key();
    has_modifier || click.button() != 0
}

fn followed_link(event: &web_sys::Event) -> Option<String> {
    let click = event.dyn_ref::<MouseEvent>()?;
    if opens_elsewhere(click) || click.default_prevented() {
        return None;
    }
    let link = click
        .target()?
        .dyn_into::<Element>()
        .ok()?
        .closest("a[href]")
        .ok()??
        .dyn_into::<HtmlAnchorElement>()
        .ok()?;
    let is_plain = link.target().is_empty()
        && !link.has_attribute("download")
        && link.origin() == origin()
        // The browser handles jumps within the page.
        && link.hash().is_empty();
    is_plain.then(|| format!("{}{}", link.pathname(), link.search()))
}

/// Returns the name of the platform, such as `MacIntel`, or an empty text if it is unknown.
pub fn platform() -> String {
    window().navigator().platform().unwrap_or_default()
}
