//! `/models/:category/:subcategory`: the form of a schema.

use std::sync::Arc;

use atelier::Contexts;
use atelier::view::form::Fields;
use atelier_contract::{Draft, ModelId, Parameters, Schema};
use leptos::prelude::*;
use serde_json::{Value, json};
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::Element;

use crate::find::{self, until, value_of};
use crate::page::{Page, click, fill};
use crate::wire;

const CONTROLS: [&str; 6] = [
    "textbox",
    "spinbutton",
    "combobox",
    "radiogroup",
    "switch",
    "checkbox",
];

/// Returns the control of this name in the form.
///
/// # Panics
///
/// There are several.
fn control(page: &Page, name: &str) -> Option<Element> {
    // A media field is a group, whose textbox has a longer name.
    let address = find::one(page.root(), "textbox", &format!("{name} Address"));
    let mut found: Vec<Element> = CONTROLS
        .iter()
        .filter_map(|role| find::one(page.root(), role, name))
        .chain(address)
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
async fn every_parameter_of_every_model_has_a_control() {
    Page::reset_all().await;
    let list = wire::get("/api/models").await;
    for model in list["data"].as_array().expect("models") {
        let model = format!(
            "{}/{}",
            text(&model["category"]),
            text(&model["subcategory"])
        );
        let schema = wire::get(&format!("/api/schema/{model}")).await;
        let page = Page::reopen(&format!("/models/{model}")).await;
        page.find("form", "Input").await;
        for (list, required) in [("required", true), ("optional", false)] {
            for parameter in schema["data"]["parameters"][list]
                .as_array()
                .expect("parameters")
            {
                let name = text(&parameter["name"]);
                let control = until(&format!("{name} of {model}"), || control(&page, &name)).await;
                let is_marked = control.has_attribute("required")
                    || control.get_attribute("aria-required").as_deref() == Some("true");
                assert_eq!(is_marked, required, "{name} of {model}");
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
                // 0.0 may be shown as 0.
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

/// Returns a schema with kinds of parameters that the local service does not have.
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
    Page::reset_all().await;
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
async fn parameters_of_unknown_types_are_shown_and_sent() {
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
    let size = page.find("radiogroup", "size").await;
    // The labels are equal, the values differ.
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
        // Unchanged parameters are omitted.
        assert!(!input.values().contains_key("zero"));
    }
    page.fill("textbox", "weights", "[1,").await;
    let weights = page.find("textbox", "weights").await;
    until("an error at the field", || {
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
async fn entered_values_are_sent_exactly() {
    let page = Page::open("/models/image/fluxfield").await;
    page.fill("textbox", "prompt", "gold and indigo").await;
    page.fill("spinbutton", "seed", "18446744073709551615")
        .await;
    page.fill("spinbutton", "strokes", "").await;
    page.choose("symmetry", "3").await;
    // The fault prevents the generation, since only the request is checked.
    wire::add_fault(json!({"path": "/v2/generate", "fault": "status", "status": 422})).await;
    page.find("link", "Documentation").await;
    page.click("button", "Generate").await;
    page.wait_for_text("Failed").await;
    let body = wire::last_body("/v2/generate");
    // A number that was converted to a float would end in 616. Cleared and unchanged fields are omitted, and the 3 keeps its
    // type.
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
async fn typed_and_cleared_fields_survive_a_reload() {
    let page = Page::open("/models/image/fluxfield").await;
    page.fill("textbox", "prompt", "“quotes” and\nlines").await;
    page.fill("spinbutton", "strokes", "").await;
    page.fill("spinbutton", "seed", "9007199254740993").await;
    drop(page);
    let page = Page::reopen("/models/image/fluxfield").await;
    page.see_value("textbox", "prompt", "“quotes” and\nlines")
        .await;
    page.see_value("spinbutton", "strokes", "").await;
    page.see_value("spinbutton", "seed", "9007199254740993")
        .await;
    // Another model has its own draft.
    drop(page);
    let page = Page::reopen("/models/image/strata").await;
    page.see_value("textbox", "prompt", "").await;
}

#[wasm_bindgen_test]
async fn back_to_the_default_shows_the_default() {
    let page = Page::open("/models/image/fluxfield").await;
    page.fill("spinbutton", "strokes", "300").await;
    page.click("button", "Back to the default").await;
    let strokes = page.find("spinbutton", "strokes").await;
    until("the default", || {
        (value_of(&strokes) == "2400").then_some(())
    })
    .await;
}

#[wasm_bindgen_test]
async fn roll_the_dice_sets_a_seed() {
    let page = Page::open("/models/image/fluxfield").await;
    let seed = page.find("spinbutton", "seed").await;
    assert_eq!(value_of(&seed), "");
    page.click("button", "Roll the dice").await;
    until("a seed", || value_of(&seed).parse::<u64>().ok()).await;
}

#[wasm_bindgen_test]
async fn an_invalid_form_is_not_sent_and_its_summary_gets_the_focus() {
    let page = Page::open("/models/image/fluxfield").await;
    let strokes = page.find("spinbutton", "strokes").await;
    fill(&strokes, "9000");
    page.click("button", "Generate").await;
    let alert = until("the summary", || {
        let active = document().active_element()?;
        (active.get_attribute("role").as_deref() == Some("alert")).then_some(active)
    })
    .await;
    let text = find::text_of(&alert);
    for problem in [
        "2 things need a look",
        "prompt is required",
        "strokes must be between 200 and 8000",
    ] {
        assert!(text.contains(problem), "{text}");
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
    until("no error at the fields", || {
        (!find::description_of(&strokes).contains("must be")).then_some(())
    })
    .await;
    assert_eq!(wire::calls_to("/v2/generate").await, 0);
    assert_eq!(value_of(&strokes), "900");
}

#[wasm_bindgen_test]
async fn a_schema_that_fails_to_load_can_be_retried() {
    Page::reset_all().await;
    wire::add_fault(json!({"path": "/api/schema/*", "fault": "status", "status": 500, "times": 1}))
        .await;
    let page = Page::reopen("/models/image/strata").await;
    page.wait_for_text("The input form could not be loaded")
        .await;
    page.click("button", "Try again").await;
    page.find("textbox", "prompt").await;
}

/// Guards against an input that differs between the form and its JSON.
#[wasm_bindgen_test]
async fn form_and_json_are_synchronized_and_invalid_json_is_not_sent() {
    let page = Page::open("/models/image/fluxfield").await;
    page.fill("textbox", "prompt", "gold").await;
    page.fill("spinbutton", "strokes", "900").await;
    page.click("radio", "JSON").await;
    page.see_value(
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
    page.wait_for_text("Invalid JSON").await;
    page.click("button", "Generate").await;
    page.wait_for_text("The JSON needs a look").await;
    assert_eq!(wire::calls_to("/v2/generate").await, 0);

    // The form shows the last valid values and says so. Nothing is sent.
    page.click("radio", "Form").await;
    page.wait_for_text("The JSON is invalid, so the form shows the last valid values.")
        .await;
    page.click("button", "Generate").await;
    page.wait_for_text("The JSON needs a look").await;
    assert_eq!(wire::calls_to("/v2/generate").await, 0);
    page.see_value("textbox", "prompt", "indigo").await;
    page.see_value("spinbutton", "seed", "9007199254740993")
        .await;
    page.see_value("spinbutton", "strokes", "2400").await;
}

/// Guards against presets that are lost after a reload, and against previous input that a preset overwrites for good.
#[wasm_bindgen_test]
async fn a_preset_fills_the_form_and_the_previous_input_can_be_restored() {
    let page = Page::open("/models/image/fluxfield").await;
    page.fill("textbox", "prompt", "gold and indigo").await;
    page.fill("spinbutton", "strokes", "900").await;
    page.click("button", "Presets").await;
    page.fill("textbox", "Name of the preset", "Fine").await;
    page.click("button", "Save").await;
    page.find("button", "Apply Fine").await;
    drop(page);

    let page = Page::reopen("/models/image/fluxfield").await;
    page.fill("textbox", "prompt", "something else").await;
    page.click("button", "Presets").await;
    page.click("button", "Apply Fine").await;
    page.see_value("textbox", "prompt", "gold and indigo").await;
    page.see_value("spinbutton", "strokes", "900").await;
    page.wait_for_text("Changed in the form: prompt").await;
    page.click("button", "Restore previous input").await;
    page.see_value("textbox", "prompt", "something else").await;
    page.click("button", "Presets").await;
    page.click("button", "Remove Fine").await;
    until("no preset", || {
        (!page.has("button", "Apply Fine")).then_some(())
    })
    .await;
}

/// Guards against presets that are closed again because the browser goes back a moment after their earlier closing.
#[wasm_bindgen_test]
async fn presets_that_are_opened_right_after_closing_stay_open() {
    const NAME: &str = "Name of the preset";
    let page = Page::open("/models/image/fluxfield").await;
    let is_in_url = || {
        let query = window().location().search().expect("a query");
        query.contains("presets=open").then_some(())
    };
    let close = async || {
        let dialog = page.find("dialog", "Presets").await;
        click(&find::one(&dialog, "button", "Close").expect("a button"));
    };
    page.click("button", "Presets").await;
    until("the entry of the history", is_in_url).await;
    // Keeps the browser from going back until the presets are open again.
    wire::run("history.back = () => { window.atelierBacks = (window.atelierBacks ?? 0) + 1; }");
    close().await;
    until("closed presets", || {
        (!page.has("textbox", NAME)).then_some(())
    })
    .await;
    page.click("button", "Presets").await;
    page.find("textbox", NAME).await;
    wire::run(
        "delete history.back;
        window.atelierPops = 0;
        addEventListener('popstate', () => { window.atelierPops++; }, { once: true });
        for (; window.atelierBacks > 0; window.atelierBacks--) history.back();",
    );
    let pops = || wire::run("return window.atelierPops").as_f64();
    until("the browser to go back", || {
        (pops() == Some(1.0)).then_some(())
    })
    .await;
    until("a new entry", is_in_url).await;
    page.find("textbox", NAME).await;
    close().await;
    until("no entry", || is_in_url().is_none().then_some(())).await;
    assert!(!page.has("textbox", NAME), "the presets are open");
}

/// Checks that a suggested word of the service completes the typed text and is highlighted.
#[wasm_bindgen_test]
async fn a_partial_word_can_be_completed_and_is_highlighted() {
    let page = Page::open("/models/image/tessera").await;
    let prompt = page.find("textbox", "prompt").await;
    page.fill("textbox", "prompt", "a window in ros").await;
    page.click("button", "rose").await;
    page.see_value("textbox", "prompt", "a window in rose")
        .await;
    // The highlight is hidden from screen readers, which read the text in the field.
    let field = prompt.parent_element().expect("a parent");
    let marked = || field.query_selector("mark").ok().flatten();
    let marked = until("a mark", marked).await;
    assert_eq!(marked.text_content().as_deref(), Some("rose"));
}
