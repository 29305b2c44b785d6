//! Reads the page's own `<head>`.

use leptos::prelude::document;

/// Gives the content of the `<meta>` element of this name.
pub fn meta(name: &str) -> Option<String> {
    let meta = document().query_selector(&format!("meta[name={name}]"));
    meta.ok()??.get_attribute("content")
}

/// Says to the browser by which manifest the page can be installed.
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

/// The release that this page is of; only release builds are of any.
pub fn release() -> Option<String> {
    meta("release")
}
