//! Very large texts, lists, schemas and results.

use atelier_end_to_end::find::{any, by, containing, starting};
use atelier_end_to_end::wait::{Seen, until};
use serde_json::{Value, json};

use crate::service::{model, schema};
use crate::studio::{TIMEOUT, run_until_settled};

/// Returns a text of ten megabytes.
fn long_text() -> String {
    "lorem ipsum ".repeat(10 * 1024 * 1024 / 12)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_works_with_texts_of_ten_megabytes() {
    let name = "the_page_works_with_texts_of_ten_megabytes";
    run_until_settled(name, async |studio| {
        let long = long_text();
        let mut entry = model("Long", "image", "plain");
        entry["description"] = long.as_str().into();
        studio
            .service
            .set_models(&[entry, model("Short", "image", "short")]);
        studio.open("/").await?;
        studio
            .browser
            .find_with_limit(&starting("link", "Short"), TIMEOUT)
            .await?;
        let failed =
            json!({"success": true, "data": {"id": "task-1", "status": "failed", "error": long}});
        studio.service.answer("/v2/status", &failed);
        studio.generate("a prompt").await?;
        studio.wait_for_status("Failed").await?;
        // After a reload, the text comes from storage.
        studio.open("/tasks").await?;
        studio
            .browser
            .find_with_limit(&containing("article", "a prompt"), TIMEOUT)
            .await?;
        studio.wait_for_status("Failed").await?;
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_thousand_models_are_listed_and_searched() {
    let name = "a_hundred_thousand_models_are_listed_and_searched";
    run_until_settled(name, async |studio| {
        let models: Vec<Value> = (0..100_000)
            .map(|n| {
                model(
                    &format!("Model {n}"),
                    &format!("kind-{}", n % 7),
                    &format!("m{n}"),
                )
            })
            .chain([model("Needle", "kind-9", "needle")])
            .collect();
        studio.service.set_models(&models);
        studio.open("/").await?;
        studio
            .browser
            .find_with_limit(&starting("link", "Model 0"), TIMEOUT)
            .await?;
        let elements = studio
            .script("return document.querySelectorAll('*').length")
            .await?;
        assert!(elements.as_u64() < Some(3_000), "{elements} elements");
        studio.browser.fill(&any("searchbox"), "Needle").await?;
        studio
            .browser
            .find_with_limit(&starting("link", "Needle"), TIMEOUT)
            .await?;
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_with_two_thousand_parameters_can_be_sent() {
    let name = "a_form_with_two_thousand_parameters_can_be_sent";
    run_until_settled(name, async |studio| {
        let prompt = json!({"name": "prompt", "type": "string", "description": ""});
        let optional: Vec<Value> = (0..2_000)
            .map(|n| json!({"name": format!("p{n}"), "type": "integer", "description": "", "default": n}))
            .collect();
        studio
            .service
            .answer("/api/schema/image/plain", &schema(&[prompt], &optional));
        studio.open("/models/image/plain").await?;
        studio.browser.find_with_limit(&starting("textbox", "prompt"), TIMEOUT).await?;
        // Rarely used fields are folded.
        studio.browser.run("document.querySelector('details.more-fields').open = true", vec![]).await?;
        // The field is found by its id, since finding it by role and name takes minutes.
        let last = fantoccini::Locator::Id("field-2000");
        let last = studio.browser.client.wait().at_most(TIMEOUT).for_element(last).await?;
        last.click().await?;
        last.clear().await?;
        last.send_keys("12345").await?;
        studio.send("a prompt").await?;
        studio.wait_for_status("Completed").await?;
        assert_eq!(studio.service.bodies("/v2/generate")[0]["p1999"], 12345);
        Ok(())
    })
    .await;
}

/// JSON that is nested deeper than any parser allows gives an error with a Try again button.
#[tokio::test(flavor = "multi_thread")]
async fn deeply_nested_json_gives_an_error() {
    run_until_settled("deeply_nested_json_gives_an_error", async |studio| {
        let deep = format!(
            "{{\"success\": true, \"data\": {}{}}}",
            "[".repeat(200_000),
            "]".repeat(200_000)
        );
        let json = "application/json";
        studio
            .service
            .answer_raw("/api/schema/image/plain", 200, json, deep.clone());
        studio.open("/models/image/plain").await?;
        studio.browser.find(&by("button", "Try again")).await?;
        studio
            .service
            .answer_raw("/api/models", 200, json, deep.clone());
        studio.open("/").await?;
        studio.browser.find(&by("button", "Try again")).await?;
        Ok(())
    })
    .await;
}

/// A result with ten thousand files is shown in parts.
#[tokio::test(flavor = "multi_thread")]
async fn the_page_works_with_ten_thousand_outputs() {
    run_until_settled("the_page_works_with_ten_thousand_outputs", async |studio| {
        let output: Vec<String> = (0..10_000).map(|n| format!("/outputs/{n}.svg")).collect();
        let done = json!({"success": true, "data": {"status": "completed", "output": output}});
        studio.service.answer("/v2/response", &done);
        studio.generate("many").await?;
        studio.wait_for_status("Completed").await?;
        let more = starting("button", "Show 48 more of 10000 outputs");
        studio.browser.press(&more).await?;
        until("48 more outputs", TIMEOUT, async || {
            let script =
                "return document.querySelectorAll('[aria-label=Result] .outputs li').length";
            let shown = studio.script(script).await?;
            Ok(if shown == 96 {
                Seen::Yes(())
            } else {
                Seen::NotYet(shown.to_string())
            })
        })
        .await?;
        studio.open("/tasks").await?;
        studio
            .browser
            .find_with_limit(&containing("article", "many"), TIMEOUT)
            .await?;
        Ok(())
    })
    .await;
}
