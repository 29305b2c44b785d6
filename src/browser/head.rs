//! Reads the page's `<head>` and adds to it.

use leptos::prelude::document;

/// Returns the content of the `<meta>` element of this name.
pub fn meta(name: &str) -> Option<String> {
    let meta = document().query_selector(&format!("meta[name={name}]"));
    meta.ok()??.get_attribute("content")
}

/// Links the web app manifest, with which the browser can install the page.
pub fn link_manifest() {
    let (Some(address), Some(head)) = (meta("manifest"), document().head()) else {
        return;
    };
    if let Ok(link) = document().create_element("link") {
        // A new element takes any attribute, and the head any element.
        let _ = link.set_attribute("rel", "manifest");
        let _ = link.set_attribute("href", &address);
        let _ = head.append_child(&link);
    }
}

/// Returns the release of this page; `None` unless it is a release build.
pub fn release() -> Option<String> {
    meta("release")
}
