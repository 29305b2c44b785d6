//! The main task: from the form to a displayed image.

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
async fn a_prompt_becomes_a_displayed_image() {
    let page = Page::open("/models/image/tessera").await;
    page.fill("textbox", "prompt", "rose window, indigo").await;
    page.fill("spinbutton", "seed", "9007199254740993").await;
    page.find("link", "Documentation").await;
    page.click("button", "Generate").await;
    // A second press right after the first is ignored, so that the task is paid for once.
    page.click("button", "Generate").await;
    let task = page.find("article", "Tessera: rose window, indigo").await;
    until("Completed", || {
        find::text_of(&task).contains("Completed").then_some(())
    })
    .await;
    let image = page.find("image", "Image: rose window, indigo").await;
    let image: HtmlImageElement = image.unchecked_into();
    until("a loaded image", || {
        (image.natural_width() > 0).then_some(())
    })
    .await;
    assert_eq!(wire::calls_to("/v2/generate").await, 1);
    assert_eq!(wire::calls_to("/v2/response").await, 1);

    // The stored record has the exact seed.
    let storage = Storage::open(|| ()).await.expect("IndexedDB");
    let texts = storage.all_texts(Store::Tasks).await.expect("records");
    assert_eq!(texts.len(), 1);
    let record: Value = serde_json::from_str(&texts[0]).expect("JSON");
    assert_eq!(
        record["input"]["values"]["seed"].to_string(),
        "9007199254740993"
    );
    drop(page);

    // After a reload, the task is in the list and on its own page.
    let page = Page::reopen("/tasks").await;
    page.find("article", "Tessera: rose window, indigo").await;
    page.click("link", "rose window, indigo").await;
    let image = page.find("image", "Image: rose window, indigo").await;
    let image: HtmlImageElement = image.unchecked_into();
    until("the loaded image", || {
        (image.natural_width() > 0).then_some(())
    })
    .await;
    // Nothing was generated again.
    assert_eq!(wire::calls_to("/v2/generate").await, 1);
    drop(page);

    // Alt+ArrowUp recalls the earlier prompt, and Alt+ArrowDown the text typed in between.
    let page = Page::reopen("/models/image/tessera").await;
    page.fill("textbox", "prompt", "something").await;
    let prompt = page.find("textbox", "prompt").await;
    focus(&prompt);
    crate::page::press(&prompt, "ArrowUp", true);
    page.see_value("textbox", "prompt", "rose window, indigo")
        .await;
    crate::page::press(&prompt, "ArrowDown", true);
    page.see_value("textbox", "prompt", "something").await;
    // Undo works as for typed text.
    crate::page::press(&prompt, "ArrowUp", true);
    page.see_value("textbox", "prompt", "rose window, indigo")
        .await;
    crate::page::undo();
    page.see_value("textbox", "prompt", "something").await;
}

/// Guards against suggestions for a recalled prompt, which move the content below the field.
#[wasm_bindgen_test]
async fn words_are_suggested_for_typed_text_but_not_for_a_recalled_prompt() {
    let page = Page::open("/models/image/tessera").await;
    let prompt = page.find("textbox", "prompt").await;
    crate::page::fill(&prompt, "rose window, ind");
    page.find("button", "indigo").await;
    generate(&page).await;
    crate::page::fill(&prompt, "something");
    until("no suggestion", || {
        (!page.has("button", "indigo")).then_some(())
    })
    .await;
    focus(&prompt);
    crate::page::press(&prompt, "ArrowUp", true);
    page.see_value("textbox", "prompt", "rose window, ind")
        .await;
    // A suggestion would be shown by the next task of the event loop.
    gloo_timers::future::TimeoutFuture::new(0).await;
    assert!(!page.has("button", "indigo"));
}

/// Guards against losing typed text when an earlier prompt is chosen a second time and has different line breaks than
/// the field.
#[wasm_bindgen_test]
async fn typed_text_stays_in_the_menu_after_multiline_prompts() {
    let page =
        Page::open("/models/image/tessera#inputs=%7B%22prompt%22%3A%22rose%5Cr%5Cnwindow%22%7D")
            .await;
    generate(&page).await;
    page.fill("textbox", "prompt", "half a thought").await;
    for _ in 0..2 {
        page.click("button", "Earlier prompts").await;
        page.click("button", "rose window").await;
        page.see_value("textbox", "prompt", "rose\nwindow").await;
    }
    page.click("button", "Earlier prompts").await;
    page.find("button", "half a thought").await;
}

async fn generate(page: &Page) {
    page.click("button", "Generate").await;
    until("a task", || {
        (wire::times_sent("/v2/generate") == 1).then_some(())
    })
    .await;
    page.wait_for_text("Completed").await;
}

/// Guards against outputs with the same accessible name.
#[wasm_bindgen_test]
async fn recent_outputs_have_distinct_names() {
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
        page.find("button", &name).await;
    }
}
