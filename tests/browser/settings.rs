//! `/settings`, and where the access token may be.

use atelier::browser::storage::{Storage, Store};
use leptos::prelude::document;
use serde_json::{Value, json};
use wasm_bindgen_test::wasm_bindgen_test;

use crate::find::{self, until};
use crate::page::{Page, local_storage, session_storage, url};
use crate::wire;

const TOKEN: &str = "secret-token-of-a-test";

/// Everything that a storage of texts has.
fn everything(storage: &web_sys::Storage) -> String {
    let length = storage.length().expect("a length");
    (0..length)
        .filter_map(|at| storage.get_item(&storage.key(at).ok()??).ok()?)
        .collect::<Vec<_>>()
        .join("\n")
}

async fn save(page: &Page, remember: bool) {
    page.fill("textbox", "User ID", "somebody").await;
    page.fill("textbox", "Access token", TOKEN).await;
    if remember {
        page.click("checkbox", "Remember on this device").await;
    }
    page.click("button", "Save").await;
    page.says("Saved.").await;
}

#[wasm_bindgen_test]
async fn a_token_is_kept_for_this_tab_unless_it_is_to_be_remembered() {
    let page = Page::open("/settings").await;
    save(&page, false).await;
    assert!(everything(&session_storage()).contains(TOKEN));
    assert!(!everything(&local_storage()).contains(TOKEN));
    drop(page);

    let page = Page::reopen("/settings").await;
    page.shows("textbox", "User ID", "somebody").await;
    page.shows("textbox", "Access token", TOKEN).await;
    save(&page, true).await;
    assert!(everything(&local_storage()).contains(TOKEN));
    assert!(!everything(&session_storage()).contains(TOKEN));

    // No longer: then nothing of it stays behind.
    page.click("checkbox", "Remember on this device").await;
    page.click("button", "Save").await;
    page.says("Saved.").await;
    assert!(!everything(&local_storage()).contains(TOKEN));
}

/// Guards against the only copy of a token that is gone, in silence, after another address was tried.
#[wasm_bindgen_test]
async fn a_token_comes_back_with_its_address() {
    let page = Page::open("/settings").await;
    save(&page, false).await;
    page.fill("textbox", "Service address", "https://other.example")
        .await;
    page.shows("textbox", "Access token", "").await;
    page.click("button", "Save").await;
    page.says("Saved.").await;
    page.fill("textbox", "Service address", wire::SERVICE).await;
    page.shows("textbox", "Access token", TOKEN).await;
    page.click("button", "Save").await;
    page.says("Saved.").await;
    // Who takes it out on purpose does not get it back.
    page.fill("textbox", "Access token", "").await;
    page.click("button", "Save").await;
    page.says("Saved.").await;
    page.fill("textbox", "User ID", "somebody else").await;
    page.fill("textbox", "User ID", "somebody").await;
    page.shows("textbox", "Access token", "").await;
    assert!(!everything(&session_storage()).contains(TOKEN));
}

/// Guards against a token that goes, in silence, when the User ID that it lacked is entered.
#[wasm_bindgen_test]
async fn a_token_waits_for_its_user_id() {
    let page = Page::open("/settings").await;
    page.fill("textbox", "User ID", "").await;
    page.fill("textbox", "Access token", TOKEN).await;
    page.click("button", "Save").await;
    page.says("Saved.").await;
    page.fill("textbox", "User ID", "somebody").await;
    page.shows("textbox", "Access token", TOKEN).await;
}

#[wasm_bindgen_test]
async fn a_token_is_in_no_url_and_in_no_record() {
    let page = Page::open("/settings").await;
    save(&page, false).await;
    drop(page);
    let page = Page::reopen("/models/image/tessera").await;
    wire::spoil(json!({"path": "/v2/generate", "fault": "status", "status": 422})).await;
    page.fill("textbox", "prompt", "rose window").await;
    page.the("link", "Documentation").await;
    page.click("button", "Generate").await;
    page.says("Failed").await;
    let body: Value = serde_json::from_str(&wire::last_body("/v2/generate")).expect("JSON");
    assert_eq!(body["uid"], "somebody");
    assert!(!body.to_string().contains(TOKEN), "{body}");
    assert!(!url().contains(TOKEN));
    let html = document().document_element().expect("a root").outer_html();
    assert!(!html.contains(TOKEN));
    let storage = Storage::open(|| ()).await.expect("IndexedDB");
    for store in [Store::Tasks, Store::Batches, Store::OutputFacts] {
        for text in storage.all_texts(store).await.expect("records") {
            assert!(!text.contains(TOKEN), "{text}");
        }
    }
    assert!(!everything(&local_storage()).contains(TOKEN));
}

#[wasm_bindgen_test]
async fn test_connection_says_what_is_right_and_what_is_wrong() {
    let page = Page::open("/settings").await;
    page.click("button", "Test connection").await;
    page.says("no account needed").await;

    page.fill("textbox", "User ID", "somebody").await;
    page.click("button", "Test connection").await;
    page.says("Access token is not set yet").await;

    page.fill("textbox", "Access token", TOKEN).await;
    page.click("button", "Test connection").await;
    page.says("The credentials were accepted.").await;

    wire::spoil(json!({"path": "/v2/status", "fault": "status", "status": 401})).await;
    page.click("button", "Test connection").await;
    page.says("did not accept the credentials").await;

    wire::spoil(json!({"path": "/*", "fault": "down"})).await;
    page.click("button", "Test connection").await;
    page.says("No answer from the service").await;
    wire::spoil_nothing().await;

    page.fill("textbox", "Service address", "not an address")
        .await;
    page.says("The service address begins with https:// or http://.")
        .await;
    // Trying the connection keeps nothing and generates nothing.
    assert!(!everything(&session_storage()).contains(TOKEN));
    assert_eq!(wire::calls_to("/v2/generate").await, 0);
}

#[wasm_bindgen_test]
async fn another_address_is_another_service() {
    Page::forget_all().await;
    let settings = json!({"address": "http://127.0.0.1:9"}).to_string();
    local_storage()
        .set_item("atelier.settings", &settings)
        .expect("localStorage");
    let page = Page::reopen("/").await;
    page.says("could not be loaded from http://127.0.0.1:9")
        .await;
    page.click("link", "Settings").await;
    // As people copy it, with what does not belong to it.
    page.fill(
        "textbox",
        "Service address",
        &format!(" {}/v2/generate ", wire::SERVICE),
    )
    .await;
    page.click("button", "Save").await;
    page.says("Saved.").await;
    page.shows("textbox", "Service address", wire::SERVICE)
        .await;
    page.click("link", "Models").await;
    page.the("link", "Strata").await;
}

#[wasm_bindgen_test]
async fn the_theme_switches_and_is_kept() {
    let theme = || document().document_element()?.get_attribute("data-theme");
    let page = Page::open("/").await;
    page.the("link", "Strata").await;
    assert_eq!(theme(), None);
    page.click("button", "Theme: system. Switch to light").await;
    assert_eq!(theme().as_deref(), Some("light"));
    page.click("button", "Theme: light. Switch to dark").await;
    assert_eq!(theme().as_deref(), Some("dark"));
    drop(page);
    let page = Page::reopen("/").await;
    page.the("link", "Strata").await;
    page.click("button", "Theme: dark. Switch to system").await;
    until("the system's theme", || theme().is_none().then_some(())).await;
    assert!(!find::text_of(page.root()).is_empty());
}
