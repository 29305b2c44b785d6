//! Style sheets that are loaded after the page.

use js_sys::Promise;
use leptos::prelude::document;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{CssStyleSheet, HtmlLinkElement};

/// Adds a style sheet to the page, waits for it, and returns whether it was loaded.
pub async fn load(address: &str) -> bool {
    let (Some(head), Ok(link)) = (document().head(), document().create_element("link")) else {
        return false;
    };
    let link: HtmlLinkElement = link.unchecked_into();
    link.set_rel("stylesheet");
    link.set_href(address);
    let loaded = Promise::new(&mut |loaded, failed| {
        link.set_onload(Some(&loaded));
        link.set_onerror(Some(&failed));
    });
    let is_loaded = head.append_child(&link).is_ok()
        && JsFuture::from(loaded).await.is_ok()
        && has_rules(&link);
    if !is_loaded {
        link.remove();
    }
    is_loaded
}

/// Returns whether a style sheet has rules. If a file is missing, some hosts reply with an HTML page, which contains no rules.
fn has_rules(link: &HtmlLinkElement) -> bool {
    let sheet = link.sheet().and_then(|sheet| sheet.dyn_into().ok());
    let rules = sheet.and_then(|sheet: CssStyleSheet| sheet.css_rules().ok());
    rules.is_some_and(|rules| rules.length() > 0)
}
