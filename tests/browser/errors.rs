//! Failures of a submission: each has its own message, and no typed text is lost.

use serde_json::json;
use wasm_bindgen_test::wasm_bindgen_test;

use crate::find;
use crate::page::Page;
use crate::wire;

/// Submits a task while calls to `/v2/generate` meet a fault, and checks the state and the messages. The service announces no
/// idempotency keys, since with them the page recovers lost responses.
async fn submit_with_fault(rule: serde_json::Value, state: &str, messages: &[&str]) {
    Page::reset_all().await;
    wire::add_fault(
        json!({"path": "/api/models", "fault": "hide_field", "field": "idempotency_key"}),
    )
    .await;
    let page = Page::reopen("/models/image/tessera").await;
    let mut rule = rule;
    rule["path"] = "/v2/generate".into();
    wire::add_fault(rule).await;
    page.fill("textbox", "prompt", "rose window").await;
    page.find("link", "Documentation").await;
    page.click("button", "Generate").await;
    let task = page.find("article", "Tessera: rose window").await;
    crate::find::until(state, || find::text_of(&task).contains(state).then_some(())).await;
    for message in messages {
        page.wait_for_text(message).await;
    }
    page.see_value("textbox", "prompt", "rose window").await;
    // The page never repeats a request that may have been received. The proxy can't count this, since Chromium itself
    // repeats requests if a reused connection breaks.
    assert_eq!(wire::times_sent("/v2/generate"), 1);
}

#[wasm_bindgen_test]
async fn refused_credentials_fail_the_task() {
    let rule = json!({"fault": "status", "status": 401});
    submit_with_fault(
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
async fn an_unknown_model_fails_the_task() {
    let rule = json!({"fault": "status", "status": 404});
    submit_with_fault(
        rule,
        "Failed",
        &[
            "can't find what was requested",
            "nothing was generated or billed",
        ],
    )
    .await;
}

#[wasm_bindgen_test]
async fn an_input_that_the_service_refuses_fails_the_task() {
    let rule = json!({"fault": "status", "status": 422});
    submit_with_fault(
        rule,
        "Failed",
        &["found the input invalid", "asked for by a test"],
    )
    .await;
}

#[wasm_bindgen_test]
async fn a_rate_limit_keeps_the_task_queued() {
    let rule = json!({"fault": "status", "status": 429, "retry_after": 60});
    submit_with_fault(rule, "Queued", &["Rate-limited, next try in"]).await;
}

#[wasm_bindgen_test]
async fn an_error_of_the_service_makes_the_task_unconfirmed() {
    let rule = json!({"fault": "status", "status": 500});
    submit_with_fault(
        rule,
        "Unconfirmed",
        &["an internal error (HTTP 500)", "may have been billed"],
    )
    .await;
}

#[wasm_bindgen_test]
async fn a_response_that_is_not_json_makes_the_task_unconfirmed() {
    let rule = json!({"fault": "not_json"});
    submit_with_fault(
        rule,
        "Unconfirmed",
        &["it is a web page, not JSON", "may have been billed"],
    )
    .await;
}

#[wasm_bindgen_test]
async fn a_broken_connection_makes_the_task_unconfirmed() {
    let rule = json!({"fault": "drop_after"});
    submit_with_fault(
        rule,
        "Unconfirmed",
        &["No answer from the service", "may have been billed"],
    )
    .await;
}

/// Guards against a paid task that becomes Unconfirmed although its id arrived: the connection broke after the whole response,
/// before its end was signaled.
#[wasm_bindgen_test]
async fn a_connection_that_breaks_after_the_response_does_not_matter() {
    let rule = json!({"fault": "unfinished"});
    submit_with_fault(rule, "Completed", &[]).await;
}

/// Guards against calls before `Retry-After`, and against a task that becomes Unconfirmed, when the headers of a 429 arrived
/// and the connection broke during its body.
#[wasm_bindgen_test]
async fn a_rate_limit_with_a_truncated_body_keeps_the_task_queued() {
    let rule = json!({"fault": "cut_limit", "retry_after": 60});
    submit_with_fault(rule, "Queued", &["Rate-limited, next try in"]).await;
}

#[wasm_bindgen_test]
async fn nothing_is_sent_without_an_access_token() {
    Page::reset_all().await;
    let settings = json!({"address": wire::SERVICE, "uid": "somebody"}).to_string();
    crate::page::local_storage()
        .set_item("atelier.settings", &settings)
        .expect("localStorage");
    let page = Page::reopen("/models/image/tessera").await;
    page.fill("textbox", "prompt", "rose window").await;
    page.find("link", "Documentation").await;
    page.click("button", "Generate").await;
    page.wait_for_text("Access token is not set yet.").await;
    page.see_value("textbox", "prompt", "rose window").await;
    assert_eq!(wire::calls_to("/v2/generate").await, 0);
}

/// A failed poll does not change the state of the task.
#[wasm_bindgen_test]
async fn a_failed_poll_does_not_end_the_task() {
    let page = Page::open("/models/image/tessera").await;
    wire::add_fault(json!({"path": "/v2/status", "fault": "status", "status": 500, "times": 1}))
        .await;
    page.fill("textbox", "prompt", "rose window").await;
    page.find("link", "Documentation").await;
    page.click("button", "Generate").await;
    page.wait_for_text("Status unknown for").await;
    page.wait_for_text("Completed").await;
}

/// Guards against paying twice, and against the message "nothing was billed" for a billed task: a service, or a gateway in
/// front of it, sends the task's id with an error status.
#[wasm_bindgen_test]
async fn a_reply_with_a_task_id_means_accepted_whatever_its_http_status() {
    for status in [400, 409, 429, 500] {
        let page = Page::open("/models/image/tessera").await;
        wire::add_fault(
            json!({"path": "/v2/generate", "fault": "other_status", "status": status, "times": 1}),
        )
        .await;
        page.fill("textbox", "prompt", "taken").await;
        page.click("button", "Generate").await;
        let task = page.find("article", "Tessera: taken").await;
        find::until("Completed", || {
            find::text_of(&task).contains("Completed").then_some(())
        })
        .await;
        assert_eq!(wire::calls_to("/v2/generate").await, 1, "{status}");
    }
}
