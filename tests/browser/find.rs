//! Finds elements as assistive technology does: by role and accessible name. Hidden elements are not found.

use gloo_timers::future::TimeoutFuture;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlInputElement, HtmlSelectElement, HtmlTextAreaElement};

/// Longer than any step of these tests, also on a busy machine.
const TIMEOUT_MS: f64 = 60_000.0;

/// Waits until `check` returns a value, and returns it. Calls `check` every few milliseconds.
///
/// # Panics
///
/// There is no value within the time limit.
pub async fn until<T>(what: &str, mut check: impl FnMut() -> Option<T>) -> T {
    let start = js_sys::Date::now();
    loop {
        if let Some(found) = check() {
            return found;
        }
        assert!(
            js_sys::Date::now() - start < TIMEOUT_MS,
            "timeout while waiting for {what}; the page shows: {}",
            visible_text()
        );
        TimeoutFuture::new(10).await;
    }
}

fn visible_text() -> String {
    let body = leptos::prelude::document().body().expect("a body");
    let page = body.query_selector("[data-test-page]").ok().flatten();
    page.map(|page| text_of(&page)).unwrap_or_default()
}

/// Returns the descendants of `root` that match a selector and are not hidden, in document order.
pub fn select(root: &Element, selector: &str) -> Vec<Element> {
    fn collect(element: &Element, selector: &str, found: &mut Vec<Element>) {
        let mut child = element.first_element_child();
        while let Some(element) = child {
            if element.matches(selector).expect("a selector") && !is_hidden(&element) {
                found.push(element.clone());
            }
            collect(&element, selector, found);
            child = element.next_element_sibling();
        }
    }
    let mut found = Vec::new();
    collect(root, selector, &mut found);
    found
}

/// Returns all visible descendants with this role, in document order.
pub fn all(root: &Element, role: &str) -> Vec<Element> {
    select(root, "*")
        .into_iter()
        .filter(|element| role_of(element) == role)
        .collect()
}

/// Returns the first visible descendant with this role and name.
pub fn one(root: &Element, role: &str, name: &str) -> Option<Element> {
    all(root, role)
        .into_iter()
        .find(|element| name_of(element) == name)
}

fn is_hidden(element: &Element) -> bool {
    let hides = "[hidden], [aria-hidden=true], dialog:not([open]), template";
    element.closest(hides).ok().flatten().is_some()
}

fn role_of(element: &Element) -> String {
    if let Some(role) = element.get_attribute("role") {
        return role;
    }
    let kind = element.get_attribute("type").unwrap_or_default();
    match element.tag_name().to_lowercase().as_str() {
        "a" if element.has_attribute("href") => "link",
        "input" => match kind.as_str() {
            "checkbox" => "checkbox",
            "radio" => "radio",
            "range" => "slider",
            "search" => "searchbox",
            "date" => "date",
            _ => "textbox",
        },
        "textarea" => "textbox",
        "select" => "combobox",
        "button" => "button",
        "h1" | "h2" | "h3" => "heading",
        "ul" | "ol" => "list",
        "li" => "listitem",
        "fieldset" => "group",
        "section" => "region",
        "img" => "image",
        "nav" => "navigation",
        other @ ("article" | "form" | "main" | "dialog" | "option") => other,
        _ => "",
    }
    .to_owned()
}

/// Returns the accessible name, by the rules that this page needs: `aria-labelledby`, `aria-label`, the label of a control,
/// the legend of a group, the alternative text of an image, the content.
pub fn name_of(element: &Element) -> String {
    if let Some(ids) = element.get_attribute("aria-labelledby") {
        // A hidden element that is referenced is part of the name.
        return text_by_ids(&ids, true);
    }
    if let Some(label) = element.get_attribute("aria-label") {
        return label;
    }
    let document = leptos::prelude::document();
    let by_id = match element.id() {
        id if id.is_empty() => None,
        id => document
            .query_selector(&format!("label[for={id:?}]"))
            .ok()
            .flatten(),
    };
    let is_control = matches!(
        element.tag_name().as_str(),
        "INPUT" | "SELECT" | "TEXTAREA" | "BUTTON"
    );
    let around = || is_control.then(|| element.closest("label").ok().flatten());
    let legend = element.query_selector(":scope > legend").ok().flatten();
    if let Some(label) = by_id.or_else(|| around().flatten()).or(legend) {
        return text_of(&label);
    }
    match element.tag_name().as_str() {
        "IMG" => element.get_attribute("alt").unwrap_or_default(),
        // The content of these elements is not their name.
        "INPUT" | "SELECT" | "TEXTAREA" | "FIELDSET" | "ARTICLE" | "SECTION" => String::new(),
        _ => text_of(element),
    }
}

/// Returns the text of the elements in `aria-describedby`.
pub fn description_of(element: &Element) -> String {
    text_by_ids(
        &element
            .get_attribute("aria-describedby")
            .unwrap_or_default(),
        false,
    )
}

fn text_by_ids(ids: &str, with_hidden: bool) -> String {
    let document = leptos::prelude::document();
    let texts: Vec<String> = ids
        .split_whitespace()
        .filter_map(|id| document.get_element_by_id(id))
        .map(
            |element| match with_hidden && element.has_attribute("hidden") {
                true => element.text_content().unwrap_or_default(),
                false => text_of(&element),
            },
        )
        .collect();
    texts.join(" ").trim().to_owned()
}

/// Returns the text that is not hidden, with single spaces.
pub fn text_of(element: &Element) -> String {
    fn collect(node: &web_sys::Node, text: &mut String) {
        if let Some(element) = node.dyn_ref::<Element>() {
            let is_hidden = element.has_attribute("hidden")
                || element.get_attribute("aria-hidden").as_deref() == Some("true")
                || (element.tag_name() == "DIALOG" && !element.has_attribute("open"));
            if is_hidden {
                return;
            }
            if let Some(alt) = element.get_attribute("alt") {
                text.push_str(&alt);
            }
            text.push(' ');
        } else if node.node_type() == web_sys::Node::TEXT_NODE {
            text.push_str(&node.text_content().unwrap_or_default());
        }
        let mut child = node.first_child();
        while let Some(node) = child {
            collect(&node, text);
            child = node.next_sibling();
        }
        if node.dyn_ref::<Element>().is_some() {
            text.push(' ');
        }
    }
    let mut text = String::new();
    collect(element, &mut text);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the value of a control: the text, the selected option, the checked radio button, or `true` or `false`.
pub fn value_of(control: &Element) -> String {
    if let Some(select) = control.dyn_ref::<HtmlSelectElement>() {
        let chosen = select.query_selector("option:checked").ok().flatten();
        return chosen.map(|option| text_of(&option)).unwrap_or_default();
    }
    if let Some(area) = control.dyn_ref::<HtmlTextAreaElement>() {
        return area.value();
    }
    match control.dyn_ref::<HtmlInputElement>() {
        Some(input) if matches!(input.type_().as_str(), "checkbox" | "radio") => {
            input.checked().to_string()
        }
        Some(input) => input.value(),
        None => {
            let checked = all(control, "radio");
            let checked = checked.iter().find(|radio| value_of(radio) == "true");
            checked.map(name_of).unwrap_or_default()
        }
    }
}
