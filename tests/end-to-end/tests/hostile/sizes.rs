//! Too much of everything.

use atelier_end_to_end::find::{any, by, containing, starting};
use atelier_end_to_end::wait::{Seen, until};
use serde_json::{Value, json};

use crate::service::{model, schema};
use crate::studio::{TIMEOUT, play};

fn long_text() -> String {
    "lorem ipsum ".repeat(10 * 1024 * 1024 / 12)
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_of_ten_megabytes_are_survived() {
    play("texts_of_ten_megabytes_are_survived", async |studio| {
        let long = long_text();
        let mut entry = model("Long", "image", "plain");
        entry["description"] = long.as_str().into();
        studio
            .service
            .has_models(&[entry, model("Short", "image", "short")]);
        studio.open("/").await?;
        studio
            .browser
            .find_for(&starting("link", "Short"), TIMEOUT)
            .await?;
        let failed =
            json!({"success": true, "data": {"id": "task-1", "status": "failed", "error": long}});
        studio.service.answer("/v2/status", &failed);
        studio.generate("a prompt").await?;
        studio.state("Failed").await?;
        // And after a reload, from what was kept.
        studio.open("/tasks").await?;
        studio
            .browser
            .find_for(&containing("article", "a prompt"), TIMEOUT)
            .await?;
        studio.state("Failed").await?;
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_thousand_models_are_listed_and_searched() {
    play(
        "a_hundred_thousand_models_are_listed_and_searched",
        async |studio| {
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
            studio.service.has_models(&models);
            studio.open("/").await?;
            studio
                .browser
                .find_for(&starting("link", "Model 0"), TIMEOUT)
                .await?;
            let elements = studio
                .script("return document.querySelectorAll('*').length")
                .await?;
            assert!(elements.as_u64() < Some(3_000), "{elements} elements");
            studio.browser.fill(&any("searchbox"), "Needle").await?;
            studio
                .browser
                .find_for(&starting("link", "Needle"), TIMEOUT)
                .await?;
            Ok(())
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_thousand_parameters_make_a_form_and_are_sent() {
    play(
        "two_thousand_parameters_make_a_form_and_are_sent",
        async |studio| {
            let prompt = json!({"name": "prompt", "type": "string", "description": ""});
            let optional: Vec<Value> = (0..2_000)
                .map(|n| json!({"name": format!("p{n}"), "type": "integer", "description": "", "default": n}))
                .collect();
            studio
                .service
                .answer("/api/schema/image/plain", &schema(&[prompt], &optional));
            studio.open("/models/image/plain").await?;
            studio.browser.find_for(&starting("textbox", "prompt"), TIMEOUT).await?;
            // What is seldom set is folded away.
            studio.browser.run("document.querySelector('details.more-fields').open = true", vec![]).await?;
            // By its id: to ask for the role and the name of each of them takes minutes.
            let last = fantoccini::Locator::Id("field-2000");
            let last = studio.browser.client.wait().at_most(TIMEOUT).for_element(last).await?;
            last.click().await?;
            last.clear().await?;
            last.send_keys("12345").await?;
            studio.send("a prompt").await?;
            studio.state("Completed").await?;
            assert_eq!(studio.service.bodies("/v2/generate")[0]["p1999"], 12345);
            Ok(())
        },
    )
    .await;
}

/// JSON as deep as no reader goes: it is said that the answer can't be read.
#[tokio::test(flavor = "multi_thread")]
async fn deep_json_is_an_answer_that_cannot_be_read() {
    play(
        "deep_json_is_an_answer_that_cannot_be_read",
        async |studio| {
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
        },
    )
    .await;
}

/// A result of ten thousand files.
#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_outputs_are_survived() {
    play("ten_thousand_outputs_are_survived", async |studio| {
        let output: Vec<String> = (0..10_000).map(|n| format!("/outputs/{n}.svg")).collect();
        let done = json!({"success": true, "data": {"status": "completed", "output": output}});
        studio.service.answer("/v2/response", &done);
        studio.generate("many").await?;
        studio.state("Completed").await?;
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
            .find_for(&containing("article", "many"), TIMEOUT)
            .await?;
        Ok(())
    })
    .await;
}
