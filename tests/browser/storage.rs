//! IndexedDB: records must survive reloads and newer versions of the page.

use atelier::browser::storage::{Storage, Store};
use idb::{DatabaseEvent, Factory, ObjectStoreParams, TransactionMode};
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

/// A task as the first version stored it. The seed and the date would change if they were parsed as floats.
const RECORD: &str = r#"{"key":"k1","account":{"address":"","uid":"u"},"model":{"category":"image","subcategory":"strata"},"model_name":"Strata","input":{"model":{"category":"image","subcategory":"strata"},"values":{"prompt":"hills","seed":18446744073709551615}},"created":1700000000000,"state":{"state":"running","id":"t1","word":"processing"},"watching":true,"of_a_later_version":[1]}"#;

/// Deletes the database of this name.
async fn delete_database(name: &str) -> Factory {
    let factory = Factory::new().expect("IndexedDB");
    factory
        .delete(name)
        .expect("a request")
        .await
        .expect("a deleted database");
    factory
}

fn text(value: Option<JsValue>) -> Option<String> {
    value.and_then(|value| value.as_string())
}

#[wasm_bindgen_test]
async fn a_database_of_the_first_version_is_migrated_with_its_records() {
    let name = "test-migration";
    let factory = delete_database(name).await;
    let mut opened = factory.open(name, Some(1)).expect("a request");
    opened.on_upgrade_needed(|event| {
        let database = event.database().expect("a database");
        database
            .create_object_store("tasks", ObjectStoreParams::new())
            .expect("a store");
    });
    let first = opened.await.expect("version 1");
    let transaction = first
        .transaction(&["tasks"], TransactionMode::ReadWrite)
        .expect("a transaction");
    let store = transaction.object_store("tasks").expect("a store");
    let key = JsValue::from_str("k1");
    store
        .put(&JsValue::from_str(RECORD), Some(&key))
        .expect("a request");
    transaction.await.expect("written");
    first.close();

    let storage = Storage::open_named(name)
        .await
        .expect("the current version");
    assert_eq!(
        storage.all_texts(Store::Tasks).await.expect("records"),
        [RECORD]
    );
    // The current engine can read the record, and preserves unknown fields.
    let task: atelier_engine::Task = serde_json::from_str(RECORD).expect("a task");
    assert_eq!(
        task.input.values()["seed"].to_string(),
        "18446744073709551615"
    );
    assert!(task.extra.contains_key("of_a_later_version"));
    // The stores that the first version did not have exist.
    for store in [Store::Batches, Store::Outputs, Store::OutputFacts] {
        let record = (store, "new".to_owned(), JsValue::from_str("{}"));
        storage.put(&[record]).await.expect("written");
        assert_eq!(
            text(storage.get(store, "new").await.expect("read")).as_deref(),
            Some("{}")
        );
    }
}

#[wasm_bindgen_test]
async fn records_are_put_read_deleted_and_survive_reopening() {
    let name = "test-records";
    delete_database(name).await;
    let storage = Storage::open_named(name).await.expect("a database");
    let record = |key: &str, text: &str| (Store::Tasks, key.to_owned(), JsValue::from_str(text));
    storage
        .put(&[record("k1", RECORD), record("k2", "2")])
        .await
        .expect("written");
    // Writes of the same record keep their order, even if they are not awaited in between.
    let earlier = storage.put(&[record("k2", "earlier")]);
    let later = storage.put(&[record("k2", "later")]);
    later.await.expect("written");
    earlier.await.expect("written");
    assert_eq!(
        text(storage.get(Store::Tasks, "k2").await.expect("read")).as_deref(),
        Some("later")
    );
    drop(storage);

    let storage = Storage::open_named(name).await.expect("once more");
    // The record is a text and not an object with numbers, so the seed is exact.
    assert_eq!(
        text(storage.get(Store::Tasks, "k1").await.expect("read")).as_deref(),
        Some(RECORD)
    );
    let keys = [
        (Store::Tasks, "k1".to_owned()),
        (Store::Tasks, "never there".to_owned()),
    ];
    storage.delete(&keys).await.expect("deleted");
    assert_eq!(
        text(storage.get(Store::Tasks, "k1").await.expect("read")),
        None
    );
    assert_eq!(
        storage.all_texts(Store::Tasks).await.expect("records"),
        ["later"]
    );
}
