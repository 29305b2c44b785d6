//! Reads the browser's record of fetched files (Resource Timing).

use js_sys::{Array, Function, Reflect};
use leptos::prelude::window;
use wasm_bindgen::{JsCast, JsValue};

/// Returns the size in bytes of a file that this page has loaded; `None` if its host does not disclose it to other sites.
pub fn bytes(url: &str) -> Option<u64> {
    let performance = Reflect::get(&window(), &"performance".into()).ok()?;
    let find: Function = get(&performance, "getEntriesByName")?.dyn_into().ok()?;
    let whole = web_sys::Url::new_with_base(url, &window().location().href().ok()?).ok()?;
    let entries = find.call1(&performance, &whole.href().into()).ok()?;
    let entries: Array = entries.dyn_into().ok()?;
    let sizes = entries
        .iter()
        .filter_map(|entry| get(&entry, "decodedBodySize")?.as_f64());
    let largest = sizes.fold(0.0, f64::max);
    (largest > 0.0).then_some(largest as u64)
}

fn get(object: &JsValue, name: &str) -> Option<JsValue> {
    Reflect::get(object, &name.into()).ok()
}
