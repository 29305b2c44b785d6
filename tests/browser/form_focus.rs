//! Where the focus is, and what is said, after something in the form is mended or taken back.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{Element, HtmlElement};

use crate::find::{self, until};
use crate::page::{Page, click, fill};

fn focused() -> Option<Element> {
    document()
        .active_element()
        .filter(|it| it.tag_name() != "BODY")
}

fn focus(element: &Element) {
    element
        .unchecked_ref::<HtmlElement>()
        .focus()
        .expect("an element that takes it");
}

/// Guards against a list of problems that stays as it was until the last of them is mended, and that takes the focus from the
/// field that is being mended.
#[wasm_bindgen_test]
async fn the_list_of_problems_follows_each_repair() {
    let page = Page::open("/models/image/fluxfield").await;
    let strokes = page.the("spinbutton", "strokes").await;
    fill(&strokes, "9000");
    page.click("button", "Generate").await;
    page.says("2 things need a look").await;
    let prompt = page.the("textbox", "prompt").await;
    focus(&prompt);
    fill(&prompt, "x");
    page.says("1 thing needs a look").await;
    let alert = find::all(page.root(), "alert").swap_remove(0);
    let text = find::text_of(&alert);
    assert!(!text.contains("prompt"), "{text}");
    assert!(text.contains("strokes must be"), "{text}");
    assert_eq!(focused(), Some(prompt));
    fill(&strokes, "900");
    until("no list", || {
        find::all(page.root(), "alert").is_empty().then_some(())
    })
    .await;
}
