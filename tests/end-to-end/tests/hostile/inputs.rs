//! Schemas with kinds of parameters that the local service does not have, and with invalid defaults.

use atelier_end_to_end::Result;
use atelier_end_to_end::find::by;
use fantoccini::key::Key;
use serde_json::{Value, json};

use crate::service::schema;
use crate::studio::{Studio, run_until_settled};

const MODEL: &str = "/models/image/plain";

impl Studio<'_> {
    /// Opens the page of a model with a prompt and these optional parameters.
    async fn open_with(&self, optional: &[Value]) -> Result<()> {
        let prompt = json!({"name": "prompt", "type": "string", "description": ""});
        let schema = schema(&[prompt], optional);
        self.service.answer("/api/schema/image/plain", &schema);
        self.open(MODEL).await?;
        self.script("for (const it of document.querySelectorAll('details')) it.open = true")
            .await?;
        Ok(())
    }
}

/// Guards against a list parameter for which only one of the allowed values can be chosen, and which is sent as a
/// single value instead of a list.
#[tokio::test(flavor = "multi_thread")]
async fn several_allowed_values_can_be_chosen_and_are_sent_as_a_list() {
    let name = "several_allowed_values_can_be_chosen_and_are_sent_as_a_list";
    run_until_settled(name, async |studio| {
        let browser = studio.browser;
        let objects = json!({
            "name": "objects", "type": "array", "description": "", "default": ["bird", "car"],
            "allowedValues": ["bird", "car", "person", "text, logo"],
        });
        let tags = json!({
            "name": "tags", "type": "array", "description": "",
            "items": {"type": "string", "enum": ["a", "b"]},
        });
        studio.open_with(&[objects, tags]).await?;
        browser.find(&by("group", "objects")).await?;
        let is_chosen = async |name: &str| -> Result<bool> {
            Ok(browser
                .find(&by("checkbox", name))
                .await?
                .is_selected()
                .await?)
        };
        assert!(is_chosen("bird").await? && is_chosen("car").await?);
        assert!(!is_chosen("text, logo").await? && !is_chosen("a").await?);
        studio.send("untouched").await?;
        let sent = studio.wait_for_calls("/v2/generate", 1).await?;
        assert_eq!((sent[0].get("objects"), sent[0].get("tags")), (None, None));

        for name in ["car", "text, logo", "a"] {
            browser.press(&by("checkbox", name)).await?;
        }
        studio.send("chosen").await?;
        let sent = studio.wait_for_calls("/v2/generate", 2).await?;
        let last = &sent[1];
        assert_eq!(
            (&last["objects"], &last["tags"]),
            (&json!(["bird", "text, logo"]), &json!(["a"]))
        );

        browser.press(&by("button", "Back to the default")).await?;
        browser.press(&by("checkbox", "a")).await?;
        studio.send("put back").await?;
        let sent = studio.wait_for_calls("/v2/generate", 3).await?;
        assert_eq!((sent[2].get("objects"), sent[2].get("tags")), (None, None));
        Ok(())
    })
    .await;
}

/// Guards against an arrow key that changes 0.000075 to 0 and 0.9997 to 1, and against a decimal comma that can't be typed.
#[tokio::test(flavor = "multi_thread")]
async fn numbers_are_stepped_within_their_bounds_and_accept_a_decimal_comma() {
    let name = "numbers_are_stepped_within_their_bounds_and_accept_a_decimal_comma";
    run_until_settled(name, async |studio| {
        let browser = studio.browser;
        let number = |name: &str, default: f64, bounds: Value| {
            let mut number =
                json!({"name": name, "type": "number", "description": "", "default": default});
            let fields = bounds.as_object().cloned().unwrap_or_default();
            number
                .as_object_mut()
                .into_iter()
                .for_each(|it| it.extend(fields.clone()));
            number
        };
        studio
            .open_with(&[
                number("rate", 7.5e-5, json!({"minimum": 1e-7, "maximum": 1})),
                number("threshold", 0.9997, json!({"minimum": 0.9, "maximum": 1.0})),
                number(
                    "eta",
                    0.35,
                    json!({"minimum": 0, "maximum": 1, "multipleOf": 0.05}),
                ),
                number("guidance", 7.5, json!({"minimum": 0, "maximum": 20})),
            ])
            .await?;
        let press = async |name: &str, key: Key| -> Result<()> {
            let field = browser.find(&by("spinbutton", name)).await?;
            let key: char = key.into();
            Ok(field.send_keys(&key.to_string()).await?)
        };
        press("rate", Key::Down).await?;
        press("threshold", Key::Up).await?;
        press("eta", Key::Up).await?;
        browser.fill(&by("spinbutton", "guidance"), "3,5").await?;
        studio.send("stepped").await?;
        let sent = studio.wait_for_calls("/v2/generate", 1).await?;
        let values = ["rate", "threshold", "eta", "guidance"].map(|name| sent[0][name].clone());
        assert_eq!(
            values,
            [json!(0.000074), json!(0.9998), json!(0.4), json!(3.5)]
        );

        browser
            .fill(&by("spinbutton", "guidance"), "1.234,5")
            .await?;
        studio.press("button", "Generate").await?;
        let message = "guidance must be a number without thousands separators";
        browser
            .wait_for_text(message, crate::studio::TIMEOUT)
            .await?;
        assert_eq!(studio.service.bodies("/v2/generate").len(), 1);
        Ok(())
    })
    .await;
}

/// Guards against a Generate button that does nothing, without a message, because a default violates its own schema.
#[tokio::test(flavor = "multi_thread")]
async fn a_default_outside_its_bounds_does_not_prevent_sending() {
    let name = "a_default_outside_its_bounds_does_not_prevent_sending";
    run_until_settled(name, async |studio| {
        let browser = studio.browser;
        studio.open("/settings").await?;
        browser.press(&by("checkbox", "Always send every setting")).await?;
        let steps = json!({"name": "steps", "type": "integer", "description": "", "maximum": 50, "default": 99});
        let scale = json!({"name": "scale", "type": "number", "description": "", "minimum": 1, "default": 0.5});
        let size = json!({"name": "size", "type": "integer", "description": "", "default": 8});
        studio.open_with(&[steps, scale, size]).await?;
        studio.send("a heron").await?;
        let sent = studio.wait_for_calls("/v2/generate", 1).await?;
        let values = ["steps", "scale", "size"].map(|name| sent[0].get(name).cloned());
        assert_eq!(values, [None, None, Some(json!(8))]);
        Ok(())
    })
    .await;
}

/// Guards against a sweep that can't compare a text with an empty one, or a value with the service's default.
#[tokio::test(flavor = "multi_thread")]
async fn an_axis_can_contain_an_empty_text_and_a_missing_value() {
    let name = "an_axis_can_contain_an_empty_text_and_a_missing_value";
    run_until_settled(name, async |studio| {
        let browser = studio.browser;
        let negative =
            json!({"name": "negative", "type": "string", "description": "", "default": "blurry"});
        studio.open_with(&[negative]).await?;
        browser.fill(&by("textbox", "prompt"), "a heron").await?;
        studio.press("radio", "Batch").await?;
        studio.press("radio", "Sweep").await?;
        let axis = browser.find(&by("combobox", "Axis")).await?;
        axis.select_by_value("negative").await?;
        browser
            .find(&by("textbox", "Values"))
            .await?
            .send_keys("ugly")
            .await?;
        studio.press("checkbox", "Empty").await?;
        studio.press("checkbox", "Left out").await?;
        studio.press("button", "Generate 3").await?;
        let sent = studio.wait_for_calls("/v2/generate-batch", 1).await?;
        let rows = sent[0]["requests"].as_array().into_iter().flatten();
        let values: Vec<Option<Value>> = rows.map(|row| row.get("negative").cloned()).collect();
        assert_eq!(values, [Some(json!("ugly")), Some(json!("")), None]);
        Ok(())
    })
    .await;
}
