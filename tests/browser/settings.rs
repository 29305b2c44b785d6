//! `/settings`, and where the access token may be stored.

use atelier::browser::storage::{Storage, Store};
use leptos::prelude::document;
use serde_json::{Value, json};
use wasm_bindgen_test::wasm_bindgen_test;

use crate::find::{self, until};
use crate::page::{Page, local_storage, session_storage, url};
use crate::wire;

const TOKEN: &str = "secret-token-of-a-test";

/// Returns all values of a web storage.
fn all_values(storage: &web_sys::Storage) -> String {
    let length = storage.length().expect("a length");
    (0..length)
        .filter_map(|at| storage.get_item(&storage.key(at).ok()??).ok()?)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Enters and saves credentials.
async fn save(page: &Page, remember: bool) {
    page.fill("textbox", "User ID", "somebody").await;
    page.fill("textbox", "Access token", TOKEN).await;
    if remember {
        page.click("checkbox", "Remember on this device").await;
    }
    page.click("button", "Save").await;
    page.wait_for_text("Saved.").await;
}

#[wasm_bindgen_test]
async fn a_token_is_stored_for_this_tab_only_unless_it_is_remembered() {
    let page = Page::open("/settings").await;
    save(&page, false).await;
    assert!(all_values(&session_storage()).contains(TOKEN));
    assert!(!all_values(&local_storage()).contains(TOKEN));
    drop(page);

    let page = Page::reopen("/settings").await;
    page.see_value("textbox", "User ID", "somebody").await;
    page.see_value("textbox", "Access token", TOKEN).await;
    save(&page, true).await;
    assert!(all_values(&local_storage()).contains(TOKEN));
    assert!(!all_values(&session_storage()).contains(TOKEN));

    // If it is no longer remembered, it is removed.
    page.click("checkbox", "Remember on this device").await;
    page.click("button", "Save").await;
    page.wait_for_text("Saved.").await;
    assert!(!all_values(&local_storage()).contains(TOKEN));
}

/// Guards against a token that is lost without a message after another address was tried.
#[wasm_bindgen_test]
async fn a_token_is_restored_with_its_address() {
    let page = Page::open("/settings").await;
    save(&page, false).await;
    page.fill("textbox", "Service address", "https://other.example")
        .await;
    page.see_value("textbox", "Access token", "").await;
    page.click("button", "Save").await;
    page.wait_for_text("Saved.").await;
    page.fill("textbox", "Service address", wire::SERVICE).await;
    page.see_value("textbox", "Access token", TOKEN).await;
    page.click("button", "Save").await;
    page.wait_for_text("Saved.").await;
    // A token that the user has removed is not restored.
    page.fill("textbox", "Access token", "").await;
    page.click("button", "Save").await;
    page.wait_for_text("Saved.").await;
    page.fill("textbox", "User ID", "somebody else").await;
    page.fill("textbox", "User ID", "somebody").await;
    page.see_value("textbox", "Access token", "").await;
    assert!(!all_values(&session_storage()).contains(TOKEN));
}

/// Guards against a token that is lost without a message when the missing User ID is entered.
#[wasm_bindgen_test]
async fn a_token_without_user_id_is_kept_until_one_is_entered() {
    let page = Page::open("/settings").await;
    page.fill("textbox", "User ID", "").await;
    page.fill("textbox", "Access token", TOKEN).await;
    page.click("button", "Save").await;
    page.wait_for_text("Saved.").await;
    page.fill("textbox", "User ID", "somebody").await;
    page.see_value("textbox", "Access token", TOKEN).await;
}

#[wasm_bindgen_test]
async fn a_token_is_in_no_url_and_in_no_record() {
    let page = Page::open("/settings").await;
    save(&page, false).await;
    drop(page);
    let page = Page::reopen("/models/image/tessera").await;
    wire::add_fault(json!({"path": "/v2/generate", "fault": "status", "status": 422})).await;
    page.fill("textbox", "prompt", "rose window").await;
    page.find("link", "Documentation").await;
    page.click("button", "Generate").await;
    page.wait_for_text("Failed").await;
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
    assert!(!all_values(&local_storage()).contains(TOKEN));
}

#[wasm_bindgen_test]
async fn test_connection_reports_success_and_errors() {
    let page = Page::open("/settings").await;
    page.click("button", "Test connection").await;
    page.wait_for_text("no account needed").await;

    page.fill("textbox", "User ID", "somebody").await;
    page.click("button", "Test connection").await;
    page.wait_for_text("Access token is not set yet").await;

    page.fill("textbox", "Access token", TOKEN).await;
    page.click("button", "Test connection").await;
    page.wait_for_text("The credentials were accepted.").await;

    wire::add_fault(json!({"path": "/v2/status", "fault": "status", "status": 401})).await;
    page.click("button", "Test connection").await;
    page.wait_for_text("did not accept the credentials").await;

    wire::add_fault(json!({"path": "/*", "fault": "down"})).await;
    page.click("button", "Test connection").await;
    page.wait_for_text("No answer from the service").await;
    wire::clear_faults().await;

    page.fill("textbox", "Service address", "not an address")
        .await;
    page.wait_for_text("The service address must begin with https:// or http://.")
        .await;
    // Testing the connection stores nothing and generates nothing.
    assert!(!all_values(&session_storage()).contains(TOKEN));
    assert_eq!(wire::calls_to("/v2/generate").await, 0);
}

#[wasm_bindgen_test]
async fn another_address_can_be_entered_with_extra_parts() {
    Page::reset_all().await;
    let settings = json!({"address": "http://127.0.0.1:9"}).to_string();
    local_storage()
        .set_item("atelier.settings", &settings)
        .expect("localStorage");
    let page = Page::reopen("/").await;
    page.wait_for_text("could not be loaded from http://127.0.0.1:9")
        .await;
    page.click("link", "Settings").await;
    // An address as users copy it, with spaces and a path that does not belong to it.
    page.fill(
        "textbox",
        "Service address",
        &format!(" {}/v2/generate ", wire::SERVICE),
    )
    .await;
    page.click("button", "Save").await;
    page.wait_for_text("Saved.").await;
    page.see_value("textbox", "Service address", wire::SERVICE)
        .await;
    page.click("link", "Models").await;
    page.find("link", "Strata").await;
}

#[wasm_bindgen_test]
async fn the_theme_can_be_switched_and_survives_a_reload() {
    let theme = || document().document_element()?.get_attribute("data-theme");
    let page = Page::open("/").await;
    page.find("link", "Strata").await;
    assert_eq!(theme(), None);
    page.click("button", "Theme: system. Switch to light").await;
    assert_eq!(theme().as_deref(), Some("light"));
    page.click("button", "Theme: light. Switch to dark").await;
    assert_eq!(theme().as_deref(), Some("dark"));
    drop(page);
    let page = Page::reopen("/").await;
    page.find("link", "Strata").await;
    page.click("button", "Theme: dark. Switch to system").await;
    until("the system's theme", || theme().is_none().then_some(())).await;
    assert!(!find::text_of(page.root()).is_empty());
}
