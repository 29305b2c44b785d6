//! Cached copies of outputs in a real IndexedDB, and recovery of outputs whose address no longer works.

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

/// Enables the cache of outputs, with the smallest limit.
fn enable_cache() {
    let settings =
        json!({"address": wire::SERVICE, "keep": true, "keep_limit": LIMITS[0]}).to_string();
    local_storage()
        .set_item("atelier.settings", &settings)
        .expect("localStorage");
}

/// Stores a small blob as a cached output whose recorded size is `bytes`.
async fn cache_output(storage: &Storage, key: &str, bytes: u64, shown: u64) {
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

/// Returns whether the browser stores files. WebKit does not in private windows and in automated ones.
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

async fn cached_outputs(storage: &Storage) -> Vec<CachedOutput> {
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
    page.find("link", "Documentation").await;
    page.click("button", "Generate").await;
    loaded_image(page).await;
}

async fn loaded_image(page: &Page) -> HtmlImageElement {
    let image = until("a loaded image", || {
        let image = find::one(page.root(), "image", "Image: tide pools")?;
        let image: HtmlImageElement = image.unchecked_into();
        (image.natural_width() > 0).then_some(image)
    });
    image.await
}

#[wasm_bindgen_test]
async fn delete_accepts_a_prefix_that_ends_in_a_slash_or_is_empty() {
    Page::reset_all().await;
    let storage = Storage::open(|| ()).await.expect("IndexedDB");
    if !stores_files(&storage).await {
        return;
    }
    for key in ["a/0", "a/1", "ab/0", "a0/0"] {
        cache_output(&storage, key, 1, 1).await;
    }
    storage
        .delete(&[(Store::OutputFacts, "a/".into())])
        .await
        .expect("deleted");
    let mut keys: Vec<String> = cached_outputs(&storage)
        .await
        .into_iter()
        .map(|c| c.key)
        .collect();
    keys.sort();
    assert_eq!(keys, ["a0/0", "ab/0"]);
    storage
        .delete(&[(Store::OutputFacts, String::new())])
        .await
        .expect("deleted");
    assert_eq!(cached_outputs(&storage).await, []);
}

#[wasm_bindgen_test]
async fn the_least_recently_shown_copy_is_evicted_at_the_limit() {
    Page::reset_all().await;
    enable_cache();
    let storage = Storage::open(|| ()).await.expect("IndexedDB");
    if !stores_files(&storage).await {
        return;
    }
    cache_output(&storage, "seen/0", LIMITS[0] / 2, 2).await;
    cache_output(&storage, "unseen/0", LIMITS[0] / 2, 1).await;
    let page = Page::reopen("/models/image/tessera").await;
    generate(&page).await;
    page.click("link", "Settings").await;
    page.wait_for_text("Kept now: 2 copies, 5").await;
    let copies = cached_outputs(&storage).await;
    assert!(copies.iter().any(|copy| copy.key == "seen/0"));
    assert!(copies.iter().any(|copy| copy.url.contains("/outputs/")));
    let blob = storage.get(Store::Outputs, "unseen/0").await.expect("read");
    assert!(
        blob.is_none(),
        "the bytes of the evicted copy are still stored"
    );
}

#[wasm_bindgen_test]
async fn an_output_with_a_dead_address_is_shown_from_a_new_one() {
    let page = Page::open("/models/image/tessera").await;
    generate(&page).await;
    drop(page);
    // The stored address no longer works, and the service returns another one.
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
    let image = loaded_image(&page).await;
    assert!(!image.src().contains("/nothing/"));
    assert_eq!(wire::calls_to("/v2/response").await, before + 1);
    let stored = text(storage.get(Store::Tasks, &key).await.expect("read"));
    assert!(!stored.expect("a record").contains("/nothing/"));
}

/// Guards against an object URL of a copy that is never revoked: the browser would keep its bytes in memory for as long as the
/// page is open.
#[wasm_bindgen_test]
async fn the_object_url_of_a_copy_is_revoked_with_its_view() {
    Page::reset_all().await;
    let storage = Storage::open(|| ()).await.expect("IndexedDB");
    if !stores_files(&storage).await {
        return;
    }
    enable_cache();
    let page = Page::reopen("/models/image/tessera").await;
    generate(&page).await;
    page.click("link", "Settings").await;
    page.wait_for_text("Kept now: 1 copy").await;
    drop(page);
    // An address that is not in the browser's cache.
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
    wire::add_fault(json!({"path": "/v2/response", "fault": "status", "status": 404})).await;
    let page = Page::reopen(&format!("/tasks/{key}")).await;
    let source = loaded_image(&page).await.src();
    assert!(source.starts_with("blob:"), "{source}");
    page.click("link", "Settings").await;
    page.find("checkbox", "Keep outputs").await;
    until("the object URL to be revoked", || {
        let revoked = wire::run("return window.atelierRevoked.join(' ')").as_string()?;
        revoked.contains(&source).then_some(())
    })
    .await;
}
