//! A generation that goes wrong: each way has its own words, and nothing typed is lost.

use serde_json::json;
use wasm_bindgen_test::wasm_bindgen_test;

use crate::find;
use crate::page::Page;
use crate::wire;

/// Submits while `/v2/generate` is spoilt; what the page then has to say. To a service without
/// idempotency keys: with them what is lost settles itself.
async fn submit_into(rule: serde_json::Value, state: &str, words: &[&str]) {
    Page::forget_all().await;
    wire::spoil(json!({"path": "/api/models", "fault": "hide_field", "field": "idempotency_key"}))
        .await;
    let page = Page::reopen("/models/image/tessera").await;
    let mut rule = rule;
    rule["path"] = "/v2/generate".into();
    wire::spoil(rule).await;
    page.fill("textbox", "prompt", "rose window").await;
    page.the("link", "Documentation").await;
    page.click("button", "Generate").await;
    let task = page.the("article", "Tessera: rose window").await;
    crate::find::until(state, || find::text_of(&task).contains(state).then_some(())).await;
    for words in words {
        page.says(words).await;
    }
    page.shows("textbox", "prompt", "rose window").await;
    // What may have been received is never sent again by the page. (Chromium itself does so where a
    // connection breaks that it had used before, so the calls at the other end do not say it.)
    assert_eq!(wire::times_sent("/v2/generate"), 1);
}

#[wasm_bindgen_test]
async fn refused_credentials() {
    let rule = json!({"fault": "status", "status": 401});
    submit_into(
        rule,
        "Failed",
        &[
            "did not accept the credentials",
            "Nothing was generated or billed",
        ],
    )
    .await;
}

#[wasm_bindgen_test]
async fn an_unknown_model() {
    let rule = json!({"fault": "status", "status": 404});
    submit_into(
        rule,
        "Failed",
        &[
            "does not know what was asked for",
            "nothing was generated or billed",
        ],
    )
    .await;
}

#[wasm_bindgen_test]
async fn an_input_that_the_service_does_not_take() {
    let rule = json!({"fault": "status", "status": 422});
    submit_into(
        rule,
        "Failed",
        &["found the input invalid", "asked for by a test"],
    )
    .await;
}

#[wasm_bindgen_test]
async fn too_many_calls() {
    let rule = json!({"fault": "status", "status": 429, "retry_after": 60});
    submit_into(rule, "Queued", &["Rate-limited, next try in"]).await;
}

#[wasm_bindgen_test]
async fn a_problem_of_the_service() {
    let rule = json!({"fault": "status", "status": 500});
    submit_into(
        rule,
        "Unconfirmed",
        &["a problem of its own (HTTP 500)", "may have been billed"],
    )
    .await;
}

#[wasm_bindgen_test]
async fn an_answer_that_is_not_json() {
    let rule = json!({"fault": "not_json"});
    submit_into(
        rule,
        "Unconfirmed",
        &["it is a web page, not JSON", "may have been billed"],
    )
    .await;
}

#[wasm_bindgen_test]
async fn a_connection_that_breaks() {
    let rule = json!({"fault": "drop_after"});
    submit_into(
        rule,
        "Unconfirmed",
        &["No answer from the service", "may have been billed"],
    )
    .await;
}

/// Guards against a task that is paid for and called Unconfirmed although its id came: the connection broke where only
/// the end of the answer was still to be said.
#[wasm_bindgen_test]
async fn a_connection_that_breaks_after_the_answer() {
    let rule = json!({"fault": "unfinished"});
    submit_into(rule, "Completed", &[]).await;
}

/// Guards against calls before their time, and against a task that is called Unconfirmed: that the service wants none was
/// told, and the connection broke in the words about it.
#[wasm_bindgen_test]
async fn a_limit_whose_words_break_off() {
    let rule = json!({"fault": "cut_limit", "retry_after": 60});
    submit_into(rule, "Queued", &["Rate-limited, next try in"]).await;
}

#[wasm_bindgen_test]
async fn a_token_that_is_missing() {
    Page::forget_all().await;
    let settings = json!({"address": wire::SERVICE, "uid": "somebody"}).to_string();
    crate::page::local_storage()
        .set_item("atelier.settings", &settings)
        .expect("localStorage");
    let page = Page::reopen("/models/image/tessera").await;
    page.fill("textbox", "prompt", "rose window").await;
    page.the("link", "Documentation").await;
    page.click("button", "Generate").await;
    page.says("Access token is not set yet.").await;
    page.shows("textbox", "prompt", "rose window").await;
    assert_eq!(wire::calls_to("/v2/generate").await, 0);
}

/// A poll that fails says nothing about the task.
#[wasm_bindgen_test]
async fn a_status_that_cannot_be_had_does_not_end_the_task() {
    let page = Page::open("/models/image/tessera").await;
    wire::spoil(json!({"path": "/v2/status", "fault": "status", "status": 500, "times": 1})).await;
    page.fill("textbox", "prompt", "rose window").await;
    page.the("link", "Documentation").await;
    page.click("button", "Generate").await;
    page.says("Status unknown for").await;
    page.says("Completed").await;
}

/// Guards against paying twice, and against "nothing was billed" about what was: a service, or what stands before it,
/// gives an answer that has the task's id another HTTP status.
#[wasm_bindgen_test]
async fn a_task_whose_id_is_told_was_taken_whatever_the_http_status() {
    for status in [400, 409, 429, 500] {
        let page = Page::open("/models/image/tessera").await;
        wire::spoil(
            json!({"path": "/v2/generate", "fault": "other_status", "status": status, "times": 1}),
        )
        .await;
        page.fill("textbox", "prompt", "taken").await;
        page.click("button", "Generate").await;
        let task = page.the("article", "Tessera: taken").await;
        find::until("Completed", || {
            find::text_of(&task).contains("Completed").then_some(())
        })
        .await;
        assert_eq!(wire::calls_to("/v2/generate").await, 1, "{status}");
    }
}
