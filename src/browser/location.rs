//! The address bar: where the page is, and going elsewhere without loading it anew.

use gloo_events::{EventListener, EventListenerOptions};
use leptos::prelude::{document, window};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlAnchorElement, MouseEvent};

/// The present path and query.
pub fn current() -> (String, String) {
    let location = window().location();
    (
        location.pathname().unwrap_or_default(),
        location.search().unwrap_or_default(),
    )
}

/// The present fragment, with its `#`, or nothing.
pub fn fragment() -> String {
    window().location().hash().unwrap_or_default()
}

/// Calls back when the fragment alone has changed, for as long as the listener is kept.
pub fn on_fragment(callback: impl Fn() + 'static) -> EventListener {
    EventListener::new(&window(), "hashchange", move |_| callback())
}

pub fn origin() -> String {
    window().location().origin().unwrap_or_default()
}

/// Shows another address in place of the present one; the entry of the history keeps its note.
pub fn replace(path_and_query: &str) {
    if let Ok(history) = window().history() {
        let state = history.state().unwrap_or(JsValue::NULL);
        // Browsers refuse when it is done too often; the address is then a little late.
        let _ = history.replace_state_with_url(&state, "", Some(path_and_query));
    }
}

/// The note of the present entry of the history: see [`push`].
pub fn note() -> String {
    let state = window().history().and_then(|history| history.state());
    state.ok().and_then(|it| it.as_string()).unwrap_or_default()
}

/// Loads the page anew, and with it the program.
pub fn reload() {
    // Refused only where the page is going away already.
    let _ = window().location().reload();
}

/// Goes to another address of the app; what is in sight stays there. The note stays with the new entry of the history
/// through reloads, Back and Forward.
pub fn push(path_and_query: &str, note: &str) {
    if let Ok(history) = window().history() {
        let _ = history.push_state_with_url(&note.into(), "", Some(path_and_query));
    }
}

/// Goes back as the browser's own Back button does. What follows the address is notified a moment later.
pub fn back() {
    if let Ok(history) = window().history() {
        // Refused only where the page is going away already.
        let _ = history.back();
    }
}

pub fn to_top() {
    window().scroll_to_with_x_and_y(0.0, 0.0);
}

/// Calls back when the person goes back or forward, for as long as the listener is kept.
pub fn on_pop(callback: impl Fn() + 'static) -> EventListener {
    EventListener::new(&window(), "popstate", move |_| callback())
}

/// Calls back with the path and query of links within the app that are followed in this tab, for as
/// long as the listener is kept. All other clicks stay the browser's.
pub fn on_link(callback: impl Fn(String) + 'static) -> EventListener {
    let options = EventListenerOptions::enable_prevent_default();
    EventListener::new_with_options(&document(), "click", options, move |event| {
        if let Some(target) = followed(event) {
            event.prevent_default();
            callback(target);
        }
    })
}

/// Whether the browser does something else with a link than to follow it here.
pub fn opens_elsewhere(click: &MouseEvent) -> bool {
    let has_modifier = click.ctrl_key() || click.meta_key() || click.shift_key() || click.alt_key();
    has_modifier || click.button() != 0
}

fn followed(event: &web_sys::Event) -> Option<String> {
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
        // A jump within the page is the browser's own.
        && link.hash().is_empty();
    is_plain.then(|| format!("{}{}", link.pathname(), link.search()))
}

/// Gives the name of the operating system, such as `MacIntel`, or an empty text if the browser does not say.
pub fn platform() -> String {
    window().navigator().platform().unwrap_or_default()
}
