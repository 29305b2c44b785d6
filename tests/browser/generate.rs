//! The main job: from the form to an image that can be seen.

use atelier::browser::storage::{Storage, Store};
use serde_json::Value;
use wasm_bindgen::JsCast;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::HtmlImageElement;

use crate::find::{self, until};
use crate::form_focus::focus;
use crate::page::Page;
use crate::wire;

#[wasm_bindgen_test]
async fn a_prompt_becomes_an_image_that_can_be_seen() {
    let page = Page::open("/models/image/tessera").await;
    page.fill("textbox", "prompt", "rose window, indigo").await;
    page.fill("spinbutton", "seed", "9007199254740993").await;
    page.the("link", "Documentation").await;
    page.click("button", "Generate").await;
    // A second press at once is the same press: it is paid once.
    page.click("button", "Generate").await;
    let task = page.the("article", "Tessera: rose window, indigo").await;
    until("Completed", || {
        find::text_of(&task).contains("Completed").then_some(())
    })
    .await;
    let image = page.the("image", "Image: rose window, indigo").await;
    let image: HtmlImageElement = image.unchecked_into();
    until("a picture", || (image.natural_width() > 0).then_some(())).await;
    assert_eq!(wire::calls_to("/v2/generate").await, 1);
    assert_eq!(wire::calls_to("/v2/response").await, 1);

    // The record that outlives the page has the seed to the last digit.
    let storage = Storage::open(|| ()).await.expect("IndexedDB");
    let texts = storage.all_texts(Store::Tasks).await.expect("records");
    assert_eq!(texts.len(), 1);
    let record: Value = serde_json::from_str(&texts[0]).expect("JSON");
    assert_eq!(
        record["input"]["values"]["seed"].to_string(),
        "9007199254740993"
    );
    drop(page);

    // And it is there after a reload, at the list and at an address of its own.
    let page = Page::reopen("/tasks").await;
    page.the("article", "Tessera: rose window, indigo").await;
    page.click("link", "rose window, indigo").await;
    let image = page.the("image", "Image: rose window, indigo").await;
    let image: HtmlImageElement = image.unchecked_into();
    until("the picture", || (image.natural_width() > 0).then_some(())).await;
    // Nothing was generated again.
    assert_eq!(wire::calls_to("/v2/generate").await, 1);
    drop(page);

    // What was asked for before is called back with a key, and so is what was typed meanwhile.
    let page = Page::reopen("/models/image/tessera").await;
    page.fill("textbox", "prompt", "something").await;
    let prompt = page.the("textbox", "prompt").await;
    focus(&prompt);
    crate::page::press(&prompt, "ArrowUp", true);
    page.shows("textbox", "prompt", "rose window, indigo").await;
    crate::page::press(&prompt, "ArrowDown", true);
    page.shows("textbox", "prompt", "something").await;
    // As if it were typed.
    crate::page::press(&prompt, "ArrowUp", true);
    page.shows("textbox", "prompt", "rose window, indigo").await;
    crate::page::undo();
    page.shows("textbox", "prompt", "something").await;
}

/// Guards against words that are offered for an earlier prompt, and move what is below it.
#[wasm_bindgen_test]
async fn words_are_offered_for_typed_text_and_not_for_an_earlier_prompt() {
    let page = Page::open("/models/image/tessera").await;
    let prompt = page.the("textbox", "prompt").await;
    crate::page::fill(&prompt, "rose window, ind");
    page.the("button", "indigo").await;
    generate(&page).await;
    crate::page::fill(&prompt, "something");
    until("no offer", || (!page.has("button", "indigo")).then_some(())).await;
    focus(&prompt);
    crate::page::press(&prompt, "ArrowUp", true);
    page.shows("textbox", "prompt", "rose window, ind").await;
    // An offer would be shown by the next task of the event loop.
    gloo_timers::future::TimeoutFuture::new(0).await;
    assert!(!page.has("button", "indigo"));
}

/// Guards against the loss of a typed text at the second choice, if the first had other line ends than a field has.
#[wasm_bindgen_test]
async fn typed_text_stays_in_the_menu_after_prompts_of_several_lines() {
    let page =
        Page::open("/models/image/tessera#inputs=%7B%22prompt%22%3A%22rose%5Cr%5Cnwindow%22%7D")
            .await;
    generate(&page).await;
    page.fill("textbox", "prompt", "half a thought").await;
    for _ in 0..2 {
        page.click("button", "Earlier prompts").await;
        page.click("button", "rose window").await;
        page.shows("textbox", "prompt", "rose\nwindow").await;
    }
    page.click("button", "Earlier prompts").await;
    page.the("button", "half a thought").await;
}

async fn generate(page: &Page) {
    page.click("button", "Generate").await;
    until("a task", || {
        (wire::times_sent("/v2/generate") == 1).then_some(())
    })
    .await;
    page.says("Completed").await;
}

/// Guards against outputs with the same accessible name.
#[wasm_bindgen_test]
async fn each_recent_output_has_a_name_of_its_own() {
    let page = Page::open("/models/image/tessera").await;
    for (seed, count) in [("7", 1), ("8", 2)] {
        page.fill("textbox", "prompt", "rose window").await;
        page.fill("spinbutton", "seed", seed).await;
        page.click("button", "Generate").await;
        until("Completed", || {
            let text = find::text_of(page.root());
            (wire::times_sent("/v2/response") == count && text.contains("Completed")).then_some(())
        })
        .await;
    }
    drop(page);
    let page = Page::reopen("/models/image/repaint").await;
    for seed in ["7", "8"] {
        let name = format!("Use this output: Image: rose window, seed {seed}");
        page.the("button", &name).await;
    }
}
