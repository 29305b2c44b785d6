//! The focus and the messages after a field is corrected or a change is undone.

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

/// Presses a button as a keyboard does, which also focuses it.
async fn press(page: &Page, name: &str) {
    let button = page.find("button", name).await;
    focus(&button);
    click(&button);
}

pub fn focus(element: &Element) {
    element
        .unchecked_ref::<HtmlElement>()
        .focus()
        .expect("a focusable element");
}

/// Waits until the element of this name has the focus.
async fn wait_for_focus(name: &str) {
    until(&format!("the focus at {name}"), || {
        focused().filter(|it| find::name_of(it) == name)
    })
    .await;
}

async fn save_preset(page: &Page, name: &str) {
    page.fill("textbox", "Name of the preset", name).await;
    page.click("button", "Save").await;
    page.find("button", &format!("Apply {name}")).await;
}

/// Guards against a list of problems that does not change until all are corrected, and that takes the focus from the field
/// that is being corrected.
#[wasm_bindgen_test]
async fn the_list_of_problems_shrinks_with_each_correction() {
    let page = Page::open("/models/image/fluxfield").await;
    let strokes = page.find("spinbutton", "strokes").await;
    fill(&strokes, "9000");
    page.click("button", "Generate").await;
    page.wait_for_text("2 things need a look").await;
    let prompt = page.find("textbox", "prompt").await;
    focus(&prompt);
    fill(&prompt, "x");
    page.wait_for_text("1 thing needs a look").await;
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

/// Guards against losing focus when the pressed button disappears: Tab then starts at the top of the page.
#[wasm_bindgen_test]
async fn the_focus_stays_in_the_form_after_the_previous_input_was_restored() {
    let page = Page::open("/models/image/fluxfield").await;
    page.fill("textbox", "prompt", "gold").await;
    page.click("button", "Presets").await;
    save_preset(&page, "Fine").await;
    page.fill("textbox", "prompt", "something else").await;
    page.click("button", "Apply Fine").await;
    press(&page, "Restore previous input").await;
    page.see_value("textbox", "prompt", "something else").await;
    until("the focus in the form", || {
        let form = focused()?.closest("form").ok().flatten()?;
        (find::name_of(&form) == "Input").then_some(())
    })
    .await;
}

/// Guards against losing focus in the dialog of presets when the pressed button disappears.
#[wasm_bindgen_test]
async fn the_focus_goes_to_the_next_preset_after_one_was_removed() {
    let page = Page::open("/models/image/fluxfield").await;
    page.fill("textbox", "prompt", "gold").await;
    page.click("button", "Presets").await;
    for name in ["A", "B", "C"] {
        save_preset(&page, name).await;
    }
    press(&page, "Remove B").await;
    wait_for_focus("Remove C").await;
    press(&page, "Remove C").await;
    wait_for_focus("Remove A").await;
    press(&page, "Undo").await;
    wait_for_focus("Apply C").await;
    press(&page, "Remove C").await;
    press(&page, "Remove A").await;
    wait_for_focus("Name of the preset").await;
}
/// Guards against a press that moves the focus late, after the next press has moved it elsewhere.
#[wasm_bindgen_test]
async fn the_last_of_two_presses_in_one_frame_moves_the_focus() {
    let page = Page::open("/models/image/fluxfield").await;
    page.fill("textbox", "prompt", "gold").await;
    page.click("button", "Presets").await;
    for name in ["A", "B"] {
        save_preset(&page, name).await;
    }
    press(&page, "Remove B").await;
    // The row is removed, but the frame of the first press has not ended.
    leptos::task::tick().await;
    let undo = find::one(page.root(), "button", "Undo").expect("a button");
    focus(&undo);
    click(&undo);
    wait_for_focus("Apply B").await;
}
