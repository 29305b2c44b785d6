//! `/models/:category/:subcategory`: the form made from a schema.

use std::sync::Arc;

use atelier::Contexts;
use atelier::view::form::Fields;
use atelier_contract::{Draft, ModelId, Parameters, Schema};
use leptos::prelude::*;
use serde_json::{Value, json};
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::Element;

use crate::find::{self, until, value_of};
use crate::page::{Page, fill};
use crate::wire;

const CONTROLS: [&str; 6] = [
    "textbox",
    "spinbutton",
    "combobox",
    "radiogroup",
    "switch",
    "checkbox",
];

/// The one control of this name in the form.
fn control(page: &Page, name: &str) -> Option<Element> {
    let mut found: Vec<Element> = CONTROLS
        .iter()
        .filter_map(|role| find::one(page.root(), role, name))
        .collect();
    assert!(found.len() < 2, "{name} has several controls");
    found.pop()
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[wasm_bindgen_test]
async fn every_parameter_of_every_model_has_its_control() {
    Page::forget_all().await;
    let list = wire::get("/api/models").await;
    for model in list["data"].as_array().expect("models") {
        let model = format!(
            "{}/{}",
            text(&model["category"]),
            text(&model["subcategory"])
        );
        let schema = wire::get(&format!("/api/schema/{model}")).await;
        let page = Page::reopen(&format!("/models/{model}")).await;
        page.the("form", "Input").await;
        for (list, required) in [("required", true), ("optional", false)] {
            for parameter in schema["data"]["parameters"][list]
                .as_array()
                .expect("parameters")
            {
                let name = text(&parameter["name"]);
                let control = until(&format!("{name} of {model}"), || control(&page, &name)).await;
                let says_required = control.has_attribute("required")
                    || control.get_attribute("aria-required").as_deref() == Some("true");
                assert_eq!(says_required, required, "{name} of {model}");
                let description = find::description_of(&control);
                assert!(
                    description.contains(text(&parameter["description"]).trim()),
                    "{name} of {model} is described as: {description}"
                );
                for bound in ["minimum", "maximum"] {
                    let bound = text(&parameter[bound]).replace("null", "");
                    let bound = bound.strip_suffix(".0").unwrap_or(&bound);
                    assert!(
                        description.contains(bound),
                        "{bound} is not in: {description}"
                    );
                }
                let default = text(&parameter["default"]).replace("null", "");
                let shown = value_of(&control);
                // 0.0 may show as 0.
                let same_number = shown
                    .parse::<f64>()
                    .is_ok_and(|shown| default.parse::<f64>() == Ok(shown));
                let unset = default.is_empty() && shown == "Not set";
                assert!(
                    shown == default || same_number || unset,
                    "{name} of {model} shows “{shown}”, its default is “{default}”"
                );
            }
        }
    }
}

/// Parameters of kinds that the local service does not have.
fn odd_schema() -> Schema {
    let parameter = |value: Value| serde_json::from_value(value).expect("a parameter");
    Schema {
        model: ModelId::new("image", "odd"),
        secrets: Parameters::default(),
        parameters: Parameters {
            required: vec![
                parameter(json!({"name": "prompt", "type": "string", "description": ""})),
                parameter(
                    json!({"name": "size", "type": "enum", "description": "", "allowedValues": [1, "1", true, null]}),
                ),
            ],
            optional: vec![
                parameter(
                    json!({"name": "tensor", "type": "tensor<f16>", "description": "Of any shape."}),
                ),
                parameter(json!({"name": "weights", "type": "array", "description": ""})),
                parameter(
                    json!({"name": "zero", "type": "integer", "description": "", "default": 0}),
                ),
                parameter(
                    json!({"name": "off", "type": "boolean", "description": "", "default": false}),
                ),
                parameter(
                    json!({"name": "empty", "type": "string", "description": "", "default": ""}),
                ),
            ],
        },
    }
}

async fn mount_odd(draft: RwSignal<Draft>) -> Page {
    Page::forget_all().await;
    Page::mount("/", move || {
        Contexts::provide().runner.begin();
        view! {
            <form aria-label="Input">
                <Fields schema=Arc::new(odd_schema()) draft attempted=RwSignal::new(true) refused=Vec::new() />
            </form>
        }
        .into_any()
    })
    .await
}

#[wasm_bindgen_test]
async fn no_parameter_is_dropped_whatever_its_type_is() {
    let draft = RwSignal::new(Draft::default());
    let page = mount_odd(draft).await;
    for (name, shown) in [
        ("zero", "0"),
        ("off", "false"),
        ("empty", ""),
        ("tensor", ""),
        ("weights", ""),
    ] {
        let control = until(name, || control(&page, name)).await;
        until(name, || (value_of(&control) == shown).then_some(())).await;
    }
    page.fill("textbox", "prompt", "x").await;
    page.fill(
        "textbox",
        "tensor",
        r#"{"shape": [2, 3], "big": 18446744073709551615}"#,
    )
    .await;
    page.fill("textbox", "weights", "[1, 2.5]").await;
    let size = page.the("radiogroup", "size").await;
    // The texts are alike; the values are not.
    let choices = find::all(&size, "radio");
    for (at, expected) in [json!(1), json!("1"), json!(true)].into_iter().enumerate() {
        crate::page::click(&choices[at]);
        let input = odd_schema()
            .validate(&draft.get_untracked(), false)
            .expect("valid");
        assert_eq!(input.values()["size"], expected);
        assert_eq!(
            input.values()["tensor"].to_string(),
            r#"{"shape":[2,3],"big":18446744073709551615}"#
        );
        assert_eq!(input.values()["weights"], json!([1, 2.5]));
        // Untouched: left out.
        assert!(!input.values().contains_key("zero"));
    }
    page.fill("textbox", "weights", "[1,").await;
    let weights = page.the("textbox", "weights").await;
    until("a problem beside the field", || {
        find::description_of(&weights)
            .contains("weights must be JSON")
            .then_some(())
    })
    .await;
    assert_eq!(
        weights.get_attribute("aria-invalid").as_deref(),
        Some("true")
    );
}

#[wasm_bindgen_test]
async fn what_leaves_the_page_is_what_was_entered_to_the_last_digit() {
    let page = Page::open("/models/image/fluxfield").await;
    page.fill("textbox", "prompt", "gold and indigo").await;
    page.fill("spinbutton", "seed", "18446744073709551615")
        .await;
    page.fill("spinbutton", "strokes", "").await;
    page.choose("symmetry", "3").await;
    // So that nothing is drawn: this is about the request.
    wire::spoil(json!({"path": "/v2/generate", "fault": "status", "status": 422})).await;
    page.the("link", "Documentation").await;
    page.click("button", "Generate").await;
    page.says("Failed").await;
    let body = wire::last_body("/v2/generate");
    // A number that went through a float would be …616; a cleared field is left out, not 0 and not
    // its default; the 3 keeps its type; what was not touched is left out.
    assert!(body.contains(r#""seed":18446744073709551615"#), "{body}");
    assert!(body.contains(r#""symmetry":3"#), "{body}");
    let body: Value = serde_json::from_str(&body).expect("JSON");
    let mut names: Vec<&String> = body.as_object().expect("an object").keys().collect();
    names.sort();
    assert_eq!(
        names,
        [
            "category",
            "prompt",
            "seed",
            "subcategory",
            "symmetry",
            "uid"
        ]
    );
}

#[wasm_bindgen_test]
async fn what_was_typed_and_what_was_cleared_is_there_after_a_reload() {
    let page = Page::open("/models/image/fluxfield").await;
    page.fill("textbox", "prompt", "“quotes” and\nlines").await;
    page.fill("spinbutton", "strokes", "").await;
    page.fill("spinbutton", "seed", "9007199254740993").await;
    drop(page);
    let page = Page::reopen("/models/image/fluxfield").await;
    page.shows("textbox", "prompt", "“quotes” and\nlines").await;
    page.shows("spinbutton", "strokes", "").await;
    page.shows("spinbutton", "seed", "9007199254740993").await;
    // Another model's form is another form.
    drop(page);
    let page = Page::reopen("/models/image/strata").await;
    page.shows("textbox", "prompt", "").await;
}

#[wasm_bindgen_test]
async fn the_way_back_to_a_default_shows_the_default() {
    let page = Page::open("/models/image/fluxfield").await;
    page.fill("spinbutton", "strokes", "300").await;
    page.click("button", "Back to the default").await;
    let strokes = page.the("spinbutton", "strokes").await;
    until("the default", || {
        (value_of(&strokes) == "2400").then_some(())
    })
    .await;
}

#[wasm_bindgen_test]
async fn the_dice_draw_a_seed_within_its_bounds() {
    let page = Page::open("/models/image/fluxfield").await;
    let seed = page.the("spinbutton", "seed").await;
    assert_eq!(value_of(&seed), "");
    page.click("button", "Roll the dice").await;
    until("a seed", || value_of(&seed).parse::<u64>().ok()).await;
}

#[wasm_bindgen_test]
async fn nothing_is_sent_while_invalid_and_the_summary_takes_the_focus() {
    let page = Page::open("/models/image/fluxfield").await;
    let strokes = page.the("spinbutton", "strokes").await;
    fill(&strokes, "9000");
    page.click("button", "Generate").await;
    let alert = until("the summary", || {
        let active = document().active_element()?;
        (active.get_attribute("role").as_deref() == Some("alert")).then_some(active)
    })
    .await;
    let text = find::text_of(&alert);
    for words in [
        "2 things need a look",
        "prompt is required",
        "strokes must be between 200 and 8000",
    ] {
        assert!(text.contains(words), "{text}");
    }
    assert!(find::description_of(&strokes).contains("must be between 200 and 8000"));
    assert_eq!(
        strokes.get_attribute("aria-invalid").as_deref(),
        Some("true")
    );

    let line = find::all(&alert, "link");
    let line = line
        .iter()
        .find(|link| find::name_of(link).contains("strokes"))
        .expect("a link to the field");
    crate::page::click(line);
    assert_eq!(
        document().active_element().map(|element| element.id()),
        Some(strokes.id())
    );

    fill(&strokes, "900");
    page.fill("textbox", "prompt", "x").await;
    until("no problem at the fields", || {
        (!find::description_of(&strokes).contains("must be")).then_some(())
    })
    .await;
    assert_eq!(wire::calls_to("/v2/generate").await, 0);
    assert_eq!(value_of(&strokes), "900");
}

#[wasm_bindgen_test]
async fn a_schema_that_cannot_be_had_is_said_and_tried_again() {
    Page::forget_all().await;
    wire::spoil(json!({"path": "/api/schema/*", "fault": "status", "status": 500, "times": 1}))
        .await;
    let page = Page::reopen("/models/image/strata").await;
    page.says("The input form could not be loaded").await;
    page.click("button", "Try again").await;
    page.the("textbox", "prompt").await;
}

/// Guards against an input that is one thing in the form and another in its JSON.
#[wasm_bindgen_test]
async fn form_and_json_are_kept_in_step_and_what_is_no_json_is_not_sent() {
    let page = Page::open("/models/image/fluxfield").await;
    page.fill("textbox", "prompt", "gold").await;
    page.fill("spinbutton", "strokes", "900").await;
    page.click("radio", "JSON").await;
    page.shows(
        "textbox",
        "Input as JSON",
        "{\n  \"prompt\": \"gold\",\n  \"strokes\": 900\n}",
    )
    .await;
    page.fill(
        "textbox",
        "Input as JSON",
        r#"{"prompt": "indigo", "seed": 9007199254740993}"#,
    )
    .await;
    page.fill("textbox", "Input as JSON", r#"{"prompt": "indi"#)
        .await;
    page.says("Invalid JSON").await;
    page.click("button", "Generate").await;
    page.says("The JSON needs a look").await;
    assert_eq!(wire::calls_to("/v2/generate").await, 0);

    // The form holds what could be read last, and says so. None of it is sent.
    page.click("radio", "Form").await;
    page.says("The JSON could not be read, so the form shows the last values that could.")
        .await;
    page.click("button", "Generate").await;
    page.says("The JSON needs a look").await;
    assert_eq!(wire::calls_to("/v2/generate").await, 0);
    page.shows("textbox", "prompt", "indigo").await;
    page.shows("spinbutton", "seed", "9007199254740993").await;
    page.shows("spinbutton", "strokes", "2400").await;
}

/// Guards against presets that are gone after a reload, and against a form that one overwrites for good.
#[wasm_bindgen_test]
async fn a_preset_is_put_into_the_form_and_what_stood_there_comes_back() {
    let page = Page::open("/models/image/fluxfield").await;
    page.fill("textbox", "prompt", "gold and indigo").await;
    page.fill("spinbutton", "strokes", "900").await;
    page.click("button", "Presets").await;
    page.fill("textbox", "Name of the preset", "Fine").await;
    page.click("button", "Save").await;
    page.the("button", "Apply Fine").await;
    drop(page);

    let page = Page::reopen("/models/image/fluxfield").await;
    page.fill("textbox", "prompt", "something else").await;
    page.click("button", "Presets").await;
    page.click("button", "Apply Fine").await;
    page.shows("textbox", "prompt", "gold and indigo").await;
    page.shows("spinbutton", "strokes", "900").await;
    page.says("Changed in the form: prompt").await;
    page.click("button", "Restore previous input").await;
    page.shows("textbox", "prompt", "something else").await;
    page.click("button", "Presets").await;
    page.click("button", "Remove Fine").await;
    until("no preset", || {
        (!page.has("button", "Apply Fine")).then_some(())
    })
    .await;
}

/// Guards against words of a service that are shown as anything but marks and offers.
#[wasm_bindgen_test]
async fn a_word_that_is_begun_is_completed_and_marked() {
    let page = Page::open("/models/image/tessera").await;
    let prompt = page.the("textbox", "prompt").await;
    page.fill("textbox", "prompt", "a window in ros").await;
    page.click("button", "rose").await;
    page.shows("textbox", "prompt", "a window in rose").await;
    // Not for who hears the page: the text itself is in the field.
    let field = prompt.parent_element().expect("what stands around it");
    let marked = || field.query_selector("mark").ok().flatten();
    let marked = until("a mark", marked).await;
    assert_eq!(marked.text_content().as_deref(), Some("rose"));
}
