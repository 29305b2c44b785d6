//! Copies of outputs, in a real IndexedDB; and what a dead address leads to.

use atelier::browser::storage::{Storage, Store};
use atelier_studio::output::output_cache::{CachedOutput, LIMITS};
use js_sys::Array;
use serde_json::{Value, json};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{Blob, HtmlImageElement};

use crate::find::{self, until};
use crate::page::{Page, local_storage};
use crate::wire;

fn text(value: Option<JsValue>) -> Option<String> {
    value.and_then(|value| value.as_string())
}

/// As if copies were wanted, up to the smallest limit.
fn want_copies() {
    let settings =
        json!({"address": wire::SERVICE, "keep": true, "keep_limit": LIMITS[0]}).to_string();
    local_storage()
        .set_item("atelier.settings", &settings)
        .expect("localStorage");
}

/// Keeps a small blob that is said to be of this size.
async fn keep(storage: &Storage, key: &str, bytes: u64, shown: u64) {
    let copy = CachedOutput {
        key: key.into(),
        url: "https://host.example/a.png".into(),
        bytes,
        kept: 1,
        shown,
    };
    let parts = Array::of1(&"bytes".into());
    let blob = Blob::new_with_str_sequence(&parts).expect("a blob");
    let facts = JsValue::from_str(&copy.to_value().to_string());
    storage
        .put(&[
            (Store::Outputs, key.into(), blob.into()),
            (Store::OutputFacts, key.into(), facts),
        ])
        .await
        .expect("written");
}

/// Whether the browser stores files. WebKit does not where nothing is to last: in a private window, and
/// where a test drives it.
async fn stores_files(storage: &Storage) -> bool {
    let parts = Array::of1(&"bytes".into());
    let blob = Blob::new_with_str_sequence(&parts).expect("a blob");
    let put = storage.put(&[(Store::Outputs, "probe/0".into(), blob.into())]);
    if put.await.is_ok() {
        let probe = (Store::Outputs, "probe/0".into());
        storage.delete(&[probe]).await.expect("deleted");
        return true;
    }
    let agent = web_sys::window().and_then(|window| window.navigator().user_agent().ok());
    let agent = agent.unwrap_or_default();
    assert!(
        agent.contains("AppleWebKit") && !agent.contains("Chrome"),
        "refused by {agent}"
    );
    false
}

async fn kept(storage: &Storage) -> Vec<CachedOutput> {
    let texts = storage
        .all_texts(Store::OutputFacts)
        .await
        .expect("records");
    texts
        .iter()
        .filter_map(|text| CachedOutput::from_value(serde_json::from_str(text).ok()?))
        .collect()
}

async fn generate(page: &Page) {
    page.fill("textbox", "prompt", "tide pools").await;
    page.the("link", "Documentation").await;
    page.click("button", "Generate").await;
    shows_picture(page).await;
}

async fn shows_picture(page: &Page) -> HtmlImageElement {
    let image = until("a picture", || {
        let image = find::one(page.root(), "image", "Image: tide pools")?;
        let image: HtmlImageElement = image.unchecked_into();
        (image.natural_width() > 0).then_some(image)
    });
    image.await
}

#[wasm_bindgen_test]
async fn a_key_that_ends_in_a_slash_means_all_below_it_and_an_empty_one_everything() {
    Page::forget_all().await;
    let storage = Storage::open(|| ()).await.expect("IndexedDB");
    if !stores_files(&storage).await {
        return;
    }
    for key in ["a/0", "a/1", "ab/0", "a0/0"] {
        keep(&storage, key, 1, 1).await;
    }
    storage
        .delete(&[(Store::OutputFacts, "a/".into())])
        .await
        .expect("deleted");
    let mut keys: Vec<String> = kept(&storage).await.into_iter().map(|c| c.key).collect();
    keys.sort();
    assert_eq!(keys, ["a0/0", "ab/0"]);
    storage
        .delete(&[(Store::OutputFacts, String::new())])
        .await
        .expect("deleted");
    assert_eq!(kept(&storage).await, []);
}

#[wasm_bindgen_test]
async fn copies_stay_within_the_limit_and_the_one_unseen_for_longest_goes() {
    Page::forget_all().await;
    want_copies();
    let storage = Storage::open(|| ()).await.expect("IndexedDB");
    if !stores_files(&storage).await {
        return;
    }
    keep(&storage, "seen/0", LIMITS[0] / 2, 2).await;
    keep(&storage, "unseen/0", LIMITS[0] / 2, 1).await;
    let page = Page::reopen("/models/image/tessera").await;
    generate(&page).await;
    page.click("link", "Settings").await;
    page.says("Kept now: 2 copies, 5").await;
    let copies = kept(&storage).await;
    assert!(copies.iter().any(|copy| copy.key == "seen/0"));
    assert!(copies.iter().any(|copy| copy.url.contains("/outputs/")));
    let blob = storage.get(Store::Outputs, "unseen/0").await.expect("read");
    assert!(blob.is_none(), "its bytes have gone with it");
}

#[wasm_bindgen_test]
async fn another_address_that_the_service_gives_is_shown() {
    let page = Page::open("/models/image/tessera").await;
    generate(&page).await;
    drop(page);
    // The address that is known dies; the service knows a better one.
    let storage = Storage::open(|| ()).await.expect("IndexedDB");
    let texts = storage.all_texts(Store::Tasks).await.expect("records");
    let mut record: Value = serde_json::from_str(&texts[0]).expect("JSON");
    record["state"]["outputs"][0] = json!(format!("{}/outputs/nothing/0.png", wire::SERVICE));
    let key = record["key"].as_str().expect("a key").to_owned();
    let changed = JsValue::from_str(&record.to_string());
    storage
        .put(&[(Store::Tasks, key.clone(), changed)])
        .await
        .expect("written");
    let before = wire::calls_to("/v2/response").await;

    let page = Page::reopen(&format!("/tasks/{key}")).await;
    let image = shows_picture(&page).await;
    assert!(!image.src().contains("/nothing/"));
    assert_eq!(wire::calls_to("/v2/response").await, before + 1);
    let stored = text(storage.get(Store::Tasks, &key).await.expect("read"));
    assert!(!stored.expect("a record").contains("/nothing/"));
}

/// Guards against an address of a copy that is never revoked: the browser would hold its bytes for
/// as long as the page is open.
#[wasm_bindgen_test]
async fn the_address_of_a_copy_goes_with_its_view() {
    Page::forget_all().await;
    let storage = Storage::open(|| ()).await.expect("IndexedDB");
    if !stores_files(&storage).await {
        return;
    }
    want_copies();
    let page = Page::reopen("/models/image/tessera").await;
    generate(&page).await;
    page.click("link", "Settings").await;
    page.says("Kept now: 1 copy").await;
    drop(page);
    // At an address that the browser has not in its cache.
    let texts = storage.all_texts(Store::Tasks).await.expect("records");
    let mut record: Value = serde_json::from_str(&texts[0]).expect("JSON");
    record["state"]["outputs"][0] = json!(format!("{}/outputs/nothing/1.png", wire::SERVICE));
    let key = record["key"].as_str().expect("a key").to_owned();
    let changed = JsValue::from_str(&record.to_string());
    storage
        .put(&[(Store::Tasks, key.clone(), changed)])
        .await
        .expect("written");

    wire::run(
        "window.atelierRevoked = [];
         const revoke = URL.revokeObjectURL.bind(URL);
         URL.revokeObjectURL = url => { window.atelierRevoked.push(url); revoke(url); }",
    );
    wire::spoil(json!({"path": "/v2/response", "fault": "status", "status": 404})).await;
    let page = Page::reopen(&format!("/tasks/{key}")).await;
    let source = shows_picture(&page).await.src();
    assert!(source.starts_with("blob:"), "{source}");
    page.click("link", "Settings").await;
    page.the("checkbox", "Keep outputs").await;
    until("the address to be taken back", || {
        let revoked = wire::run("return window.atelierRevoked.join(' ')").as_string()?;
        revoked.contains(&source).then_some(())
    })
    .await;
}
