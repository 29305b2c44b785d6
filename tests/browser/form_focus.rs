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

/// Presses it as a keyboard does: it has the focus then.
async fn press(page: &Page, name: &str) {
    let button = page.the("button", name).await;
    focus(&button);
    click(&button);
}

pub fn focus(element: &Element) {
    element
        .unchecked_ref::<HtmlElement>()
        .focus()
        .expect("an element that takes it");
}

async fn has_focus(name: &str) {
    until(&format!("the focus at {name}"), || {
        focused().filter(|it| find::name_of(it) == name)
    })
    .await;
}

async fn save_preset(page: &Page, name: &str) {
    page.fill("textbox", "Name of the preset", name).await;
    page.click("button", "Save").await;
    page.the("button", &format!("Apply {name}")).await;
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

/// Guards against a focus that goes with the button that was pressed: keys begin at the top of the page then.
#[wasm_bindgen_test]
async fn the_focus_stays_in_the_form_after_the_previous_input_was_restored() {
    let page = Page::open("/models/image/fluxfield").await;
    page.fill("textbox", "prompt", "gold").await;
    page.click("button", "Presets").await;
    save_preset(&page, "Fine").await;
    page.fill("textbox", "prompt", "something else").await;
    page.click("button", "Apply Fine").await;
    press(&page, "Restore previous input").await;
    page.shows("textbox", "prompt", "something else").await;
    until("the focus in the form", || {
        let form = focused()?.closest("form").ok().flatten()?;
        (find::name_of(&form) == "Input").then_some(())
    })
    .await;
}

/// The same in the dialog of presets.
#[wasm_bindgen_test]
async fn the_focus_goes_to_the_next_preset_after_one_was_removed() {
    let page = Page::open("/models/image/fluxfield").await;
    page.fill("textbox", "prompt", "gold").await;
    page.click("button", "Presets").await;
    for name in ["A", "B", "C"] {
        save_preset(&page, name).await;
    }
    press(&page, "Remove B").await;
    has_focus("Remove C").await;
    press(&page, "Remove C").await;
    has_focus("Remove A").await;
    press(&page, "Undo").await;
    has_focus("Apply C").await;
    press(&page, "Remove C").await;
    press(&page, "Remove A").await;
    has_focus("Name of the preset").await;
}
/// Guards against a press that is answered late, after the next one, and takes the focus to where that one left from.
#[wasm_bindgen_test]
async fn the_focus_goes_where_the_last_of_two_presses_in_one_frame_sends_it() {
    let page = Page::open("/models/image/fluxfield").await;
    page.fill("textbox", "prompt", "gold").await;
    page.click("button", "Presets").await;
    for name in ["A", "B"] {
        save_preset(&page, name).await;
    }
    press(&page, "Remove B").await;
    // The row is gone, and the frame of the first press has not ended.
    leptos::task::tick().await;
    let undo = find::one(page.root(), "button", "Undo").expect("a button");
    focus(&undo);
    click(&undo);
    has_focus("Apply B").await;
}
