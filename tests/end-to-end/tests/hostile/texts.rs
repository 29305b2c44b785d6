//! Texts with markup, control characters or special names.

use atelier_end_to_end::find::{by, containing, starting};
use serde_json::{Value, json};

use crate::service::{model, schema};
use crate::studio::run_until_settled;

const MARKUP: &str = "<img src=x onerror=\"window.pwned=1\"><script>window.pwned=1</script>";
/// Control characters: bidirectional overrides, null, bell, a line separator, a byte order mark.
const CONTROLS: &str = "a\u{202e}b\u{2066}c\u{0}d\u{7}e\u{2028}f\u{feff}g";

#[tokio::test(flavor = "multi_thread")]
async fn markup_is_shown_as_text_everywhere() {
    run_until_settled("markup_is_shown_as_text_everywhere", async |studio| {
        let mut entry = model(MARKUP, "image", "plain");
        entry["description"] = MARKUP.into();
        studio.service.set_models(&[entry]);
        let prompt =
            json!({"name": "prompt", "type": "string", "description": MARKUP, "default": MARKUP});
        let choice = json!({
            "name": MARKUP, "type": "enum", "description": MARKUP,
            "allowedValues": [MARKUP, "b"], "default": MARKUP,
        });
        let unknown = json!({"name": "x", "type": MARKUP, "description": CONTROLS});
        studio.service.answer(
            "/api/schema/image/plain",
            &schema(&[prompt], &[choice, unknown]),
        );
        studio.open("/").await?;
        // Pressed with the keyboard, since WebKit's driver can't click an element with such a name.
        let link = studio.browser.find(&starting("link", "<img src=x")).await?;
        link.send_keys("\u{e007}").await?;
        studio
            .browser
            .find(&starting("heading", "<img src=x"))
            .await?;
        let failed = json!({"success": true, "data": {
            "id": "task-1", "status": "failed", "error": format!("{MARKUP}{CONTROLS}"),
        }});
        studio.service.answer("/v2/status", &failed);
        studio.send(MARKUP).await?;
        studio.wait_for_status("Failed").await?;
        studio.open("/tasks").await?;
        studio
            .browser
            .find(&containing("article", "<img src=x"))
            .await?;
        let foreign = studio
            .script("return document.querySelectorAll('img[src=x], main script').length")
            .await?;
        assert_eq!(foreign, 0, "markup became elements");
        Ok(())
    })
    .await;
}

/// Names that are special in scripts, paths or addresses are treated like other names.
#[tokio::test(flavor = "multi_thread")]
async fn special_names_of_models_are_sent_unchanged() {
    let name = "special_names_of_models_are_sent_unchanged";
    run_until_settled(name, async |studio| {
        let names = [
            ("__proto__", "constructor"),
            ("a/b?c#d", "%2e%2e%2f"),
            ("../../v2", "é ü\u{202e}"),
            ("tasks", "settings"),
        ];
        let models: Vec<Value> = names
            .iter()
            .enumerate()
            .map(|(n, (category, subcategory))| model(&format!("Odd {n}"), category, subcategory))
            .collect();
        studio.service.set_models(&models);
        for (n, (category, subcategory)) in names.iter().enumerate() {
            studio.open("/").await?;
            let name = format!("Odd {n}");
            studio.browser.press(&starting("link", &name)).await?;
            studio.browser.find(&by("heading", &name)).await?;
            studio.send("a prompt").await?;
            studio.wait_for_status("Completed").await?;
            let bodies = studio.service.bodies("/v2/generate");
            let body = bodies.last().ok_or("nothing was sent")?;
            assert_eq!(
                (&body["category"], &body["subcategory"]),
                (&json!(category), &json!(subcategory))
            );
        }
        let strays: Vec<String> = studio
            .service
            .calls()
            .into_iter()
            .map(|(path, _)| path)
            .filter(|path| path.starts_with("/api/schema/") && path.matches('/').count() != 4)
            .collect();
        assert!(
            strays.is_empty(),
            "a name was not escaped in the path: {strays:?}"
        );
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn parameters_named_like_object_properties_are_sent() {
    let name = "parameters_named_like_object_properties_are_sent";
    run_until_settled(name, async |studio| {
        let names = [
            "prompt",
            "__proto__",
            "constructor",
            "toString",
            "hasOwnProperty",
        ];
        let parameters: Vec<Value> = names
            .iter()
            .map(|name| json!({"name": name, "type": "string", "description": ""}))
            .collect();
        studio
            .service
            .answer("/api/schema/image/plain", &schema(&parameters, &[]));
        studio.open("/models/image/plain").await?;
        for name in &names[1..] {
            studio
                .browser
                .fill(&starting("textbox", name), &format!("of {name}"))
                .await?;
        }
        studio.send("a prompt").await?;
        studio.wait_for_status("Completed").await?;
        let bodies = studio.service.bodies("/v2/generate");
        for name in &names[1..] {
            assert_eq!(bodies[0][name], format!("of {name}"));
        }
        Ok(())
    })
    .await;
}

/// A form with a contradictory schema is shown, and sends the entered values.
#[tokio::test(flavor = "multi_thread")]
async fn a_form_with_a_contradictory_schema_can_be_sent() {
    let name = "a_form_with_a_contradictory_schema_can_be_sent";
    run_until_settled(name, async |studio| {
        let prompt = json!({"name": "prompt", "type": "string", "description": ""});
        let optional = [
            json!({"name": "twice", "type": "string", "description": "", "default": "a"}),
            json!({"name": "twice", "type": "integer", "description": "", "default": 1}),
            json!({"name": "bounds", "type": "integer", "description": "", "minimum": 10, "maximum": 1, "default": 5}),
            json!({"name": "beyond", "type": "integer", "description": "", "minimum": 0, "maximum": 5, "default": 9}),
            json!({"name": "none", "type": "enum", "description": "", "allowedValues": [], "default": "x"}),
            json!({"name": "alike", "type": "enum", "description": "", "allowedValues": ["a", "a", 1, "1", null, {"a": []}], "default": "z"}),
            json!({"name": "", "type": "string", "description": "", "default": "of no name"}),
            json!({"name": "uid", "type": "string", "description": "", "default": "another"}),
            json!({"name": "huge", "type": "integer", "description": "", "minimum": -1e308, "maximum": 1e308}),
            json!({"name": "text", "type": "integer", "description": "", "minimum": "0", "maximum": [], "default": "many"}),
            json!("no parameter"),
            json!(null),
        ];
        studio
            .service
            .answer("/api/schema/image/plain", &schema(&[prompt], &optional));
        studio.generate("a prompt").await?;
        studio.wait_for_status("Completed").await?;
        let bodies = studio.service.bodies("/v2/generate");
        assert_eq!(bodies[0]["prompt"], "a prompt");
        // A parameter must not overwrite the user id.
        assert_eq!(bodies[0]["uid"], "guest");
        Ok(())
    })
    .await;
}
