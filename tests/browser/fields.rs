//! The fields of a form, which are inserted into the page as HTML.

use std::iter::successors;
use std::sync::Arc;

use atelier::Contexts;
use atelier::view::form::Fields;
use atelier_contract::{Draft, Entry, ModelId, Parameters, Schema};
use leptos::prelude::*;
use serde_json::{Value, json};
use wasm_bindgen::JsCast;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{Element, HtmlElement, HtmlInputElement};

use crate::find::{self, until, value_of};
use crate::page::{Page, click, press, undo};

/// A text that would end an attribute and create an element if it were parsed as HTML.
const MARKUP: &str = r#"a"'><img src="x" alt="&amp;"></textarea></option>"#;

fn schema(model: &str, optional: impl IntoIterator<Item = Value>) -> Schema {
    let parameter = |value: Value| serde_json::from_value(value).expect("a parameter");
    Schema {
        model: ModelId::new("image", model),
        secrets: Parameters::default(),
        parameters: Parameters {
            required: Vec::new(),
            optional: optional.into_iter().map(parameter).collect(),
        },
    }
}

async fn mount(schema: Schema, draft: RwSignal<Draft>) -> Page {
    mount_after(schema, draft, false).await
}

/// Mounts the fields of a schema. With `attempted`, the user has tried to send the form.
async fn mount_after(schema: Schema, draft: RwSignal<Draft>, attempted: bool) -> Page {
    Page::reset_all().await;
    Page::mount("/", move || {
        Contexts::provide().runner.begin();
        view! {
            <form aria-label="Input">
                <Fields
                    schema=Arc::new(schema)
                    draft
                    attempted=RwSignal::new(attempted)
                    refused=Vec::new()
                />
            </form>
        }
        .into_any()
    })
    .await
}

/// Guards against texts of a service that are inserted as HTML.
#[wasm_bindgen_test]
async fn texts_of_a_schema_are_not_parsed_as_html() {
    let with_markup = |name: &str, more: Value| {
        let mut parameter = json!({"name": format!("{name} {MARKUP}"), "description": MARKUP});
        let fields = parameter.as_object_mut().expect("an object");
        fields.extend(more.as_object().expect("an object").clone());
        parameter
    };
    let schema = schema(
        "markup",
        [
            with_markup("line", json!({"type": "string", "default": MARKUP})),
            with_markup(
                "prompt",
                json!({"type": "string", "default": format!("\n{MARKUP}\n"), "maxLength": 5000}),
            ),
            with_markup(
                "few",
                json!({"type": "enum", "allowedValues": ["<b>", "&amp;"], "default": "<b>"}),
            ),
            with_markup(
                "many",
                json!({"type": "enum", "allowedValues": [MARKUP, "b", "c", "d", "e", "f", "g"], "default": MARKUP}),
            ),
            with_markup("odd", json!({"type": MARKUP, "default": [MARKUP]})),
        ],
    );
    let page = mount(schema, RwSignal::new(Draft::default())).await;
    let odd = page.find("textbox", &format!("odd {MARKUP}")).await;
    assert_eq!(find::select(page.root(), "img").len(), 0);
    assert!(find::description_of(&odd).contains(MARKUP));
    assert_eq!(
        serde_json::from_str::<Value>(&value_of(&odd)).ok(),
        Some(json!([MARKUP]))
    );
    for (role, name, value) in [
        // A field for an image, because its name contains the word "img".
        (
            "textbox",
            format!("line {MARKUP} Address"),
            MARKUP.to_owned(),
        ),
        (
            "textbox",
            format!("prompt {MARKUP}"),
            format!("\n{MARKUP}\n"),
        ),
        ("combobox", format!("many {MARKUP}"), MARKUP.to_owned()),
    ] {
        page.see_value(role, &name, &value).await;
    }
    let few = page.find("radiogroup", &format!("few {MARKUP}")).await;
    assert_eq!(find::text_of(&few), "<b> &amp;");
}

/// Guards against fields with so many nodes that the form opens several times more slowly than its controls need.
#[wasm_bindgen_test]
async fn a_field_consists_of_few_nodes() {
    let kinds = |n: usize| match n % 6 {
        0 => json!({"type": "string", "default": ""}),
        1 => json!({"type": "integer", "default": 20, "minimum": 1, "maximum": 50}),
        2 => {
            json!({"type": "enum", "default": "a", "allowedValues": ["a", "film", "comic", "sketch", "oil", "ink", "clay"]})
        }
        3 => json!({"type": "number", "default": 0.5, "minimum": 0, "maximum": 1}),
        4 => json!({"type": "enum", "default": "1:1", "allowedValues": ["1:1", "16:9", "9:16"]}),
        _ => json!({"type": "boolean", "default": false}),
    };
    let parameters = (0..60).map(|n| {
        let mut parameter = kinds(n);
        parameter["name"] = format!("parameter_{n}").into();
        parameter["description"] = "What it does.".into();
        parameter
    });
    let page = mount(schema("many", parameters), RwSignal::new(Draft::default())).await;
    let fields = until("all fields", || {
        let fields = find::select(page.root(), ".field");
        (fields.len() == 60).then_some(fields)
    })
    .await;
    fn count(node: &web_sys::Node) -> u32 {
        let children = successors(node.first_child(), web_sys::Node::next_sibling);
        1 + children.map(|child| count(&child)).sum::<u32>()
    }
    let nodes: u32 = fields.iter().map(|field| count(field)).sum();
    assert!(nodes <= 20 * 60, "{nodes} nodes in 60 fields");
}

/// Guards against a control that does not show the value of its field.
#[wasm_bindgen_test]
async fn every_kind_of_control_shows_changes_of_the_draft() {
    let draft = RwSignal::new(Draft::default());
    let schema = schema(
        "all",
        [
            json!({"name": "line", "type": "string", "description": ""}),
            json!({"name": "prompt", "type": "string", "description": ""}),
            json!({"name": "steps", "type": "integer", "description": "", "minimum": 1, "maximum": 50, "default": 20}),
            json!({"name": "seed", "type": "integer", "description": ""}),
            json!({"name": "many", "type": "enum", "description": "", "default": "a", "allowedValues": ["a", "b", "c", "d", "e", "f", "g"]}),
            json!({"name": "few", "type": "enum", "description": "", "default": 1, "allowedValues": [1, 2]}),
            json!({"name": "tiled", "type": "boolean", "description": "", "default": false}),
            json!({"name": "shape", "type": "object", "description": ""}),
        ],
    );
    let page = mount(schema, draft).await;
    let put = |values: Value| {
        let entries = json!({"entries": values});
        draft.set(Draft::from_value(entries).expect("a draft"));
    };
    put(json!({
        "line": {"text": "one"}, "prompt": {"text": "two\nlines"}, "steps": {"value": 33}, "seed": {"text": "7"},
        "many": {"value": "c"}, "few": {"value": 2}, "tiled": {"value": true}, "shape": {"value": {"a": 1}},
    }));
    for (role, name, value) in [
        ("textbox", "line", "one"),
        ("textbox", "prompt", "two\nlines"),
        ("spinbutton", "steps", "33"),
        ("spinbutton", "seed", "7"),
        ("combobox", "many", "c"),
        ("switch", "tiled", "true"),
    ] {
        page.see_value(role, name, value).await;
    }
    // The slider is hidden from assistive technology, and therefore from `find`.
    let slider = page.root().query_selector("input[type=range]");
    let slider: Vec<HtmlInputElement> = cast(slider.ok().flatten().into_iter().collect());
    assert_eq!(slider[0].value(), "33");
    let few: Vec<HtmlInputElement> = cast(find::select(page.root(), "input[type=radio]"));
    assert!(!few[0].checked() && few[1].checked());
    let count_resets = || find::select(page.root(), "[aria-label='Back to the default']").len();
    assert_eq!(count_resets(), 4);
    put(json!({}));
    page.see_value("textbox", "prompt", "").await;
    page.see_value("spinbutton", "steps", "20").await;
    page.see_value("combobox", "many", "a").await;
    assert!(few[0].checked() && !few[1].checked());
    assert_eq!(count_resets(), 0);
}

/// Guards against a field that shows an error when the form opens but is not marked as invalid.
#[wasm_bindgen_test]
async fn a_field_that_is_invalid_when_the_form_opens_is_marked() {
    let draft = RwSignal::new(Draft::default());
    draft.update(|draft| draft.set("steps", Entry::Text("99".into())));
    let line = |n: usize| json!({"name": format!("line_{n}"), "type": "string", "description": ""});
    let steps =
        json!({"name": "steps", "type": "integer", "description": "", "minimum": 1, "maximum": 50});
    // The field is not among those that are rendered first.
    let parameters = (0..20).map(line).chain([steps]);
    let page = mount_after(schema("wrong", parameters), draft, true).await;
    let steps = page.find("spinbutton", "steps").await;
    assert!(find::description_of(&steps).contains("must be between 1 and 50"));
    assert_eq!(steps.get_attribute("aria-invalid").as_deref(), Some("true"));
    let first = page.find("textbox", "line_0").await;
    assert!(!first.has_attribute("aria-invalid"));
}

/// Guards against a multiple choice that shows no value as chosen, and loses all of them, if one of the chosen values
/// is not allowed.
#[wasm_bindgen_test]
async fn allowed_values_stay_chosen_next_to_a_value_that_is_not_allowed() {
    let draft = RwSignal::new(Draft::default());
    draft.update(|draft| draft.set("objects", Entry::Value(json!(["bird", "zebra"]))));
    let objects = json!({
        "name": "objects", "type": "array", "description": "", "allowedValues": ["bird", "car", "tree"]
    });
    let page = mount_after(schema("several", [objects]), draft, true).await;
    page.wait_for_text("must be one of bird, car, tree, not “zebra”")
        .await;
    let boxes = ["bird", "car", "tree"];
    let chosen = async || {
        let mut chosen = Vec::new();
        for name in boxes {
            let input: HtmlInputElement = page.find("checkbox", name).await.unchecked_into();
            chosen.push(input.checked());
        }
        chosen
    };
    assert_eq!(chosen().await, [true, false, false]);
    page.click("checkbox", "tree").await;
    assert_eq!(chosen().await, [true, false, true]);
    let now = draft.with_untracked(|draft| draft.get("objects").cloned());
    assert_eq!(now, Some(Entry::Value(json!(["bird", "tree"]))));
}

/// Guards against Ctrl+Z that does nothing after an arrow key or the dice button has set a number.
#[wasm_bindgen_test]
async fn a_number_set_by_the_form_can_be_undone() {
    let draft = RwSignal::new(Draft::default());
    let parameters = [
        json!({"name": "steps", "type": "integer", "description": "", "default": 20, "minimum": 1, "maximum": 50}),
        json!({"name": "seed", "type": "integer", "description": ""}),
    ];
    let page = mount(schema("undone", parameters), draft).await;
    let steps = page.find("spinbutton", "steps").await;
    steps
        .unchecked_ref::<HtmlElement>()
        .focus()
        .expect("a field");
    press(&steps, "ArrowUp", false);
    page.see_value("spinbutton", "steps", "21").await;
    press(&steps, "ArrowUp", false);
    page.see_value("spinbutton", "steps", "22").await;
    undo();
    page.see_value("spinbutton", "steps", "21").await;
    let dice = page.find("button", "Roll the dice").await;
    // In Safari, pressing a button does not move the focus.
    click(&dice);
    let seed = page.find("spinbutton", "seed").await;
    until("a seed", || (!value_of(&seed).is_empty()).then_some(())).await;
    assert_eq!(
        document().active_element(),
        Some(dice),
        "the button has the focus, so that it can be pressed again"
    );
    seed.unchecked_ref::<HtmlElement>()
        .focus()
        .expect("a field");
    undo();
    page.see_value("spinbutton", "seed", "").await;
}

/// Guards against text that the HTML parser changes, and against image data that is in the page twice.
#[wasm_bindgen_test]
async fn fields_show_the_exact_text_of_the_draft() {
    let draft = RwSignal::new(Draft::default());
    let (odd, image) = ("a\0b", "data:image/png;base64,iVBORw0KGgo=");
    draft.update(|draft| {
        draft.set("line", Entry::Text(odd.into()));
        draft.set("image_url", Entry::Text(image.into()));
    });
    let parameters = [
        json!({"name": "line", "type": "string", "description": "", "default": ""}),
        json!({"name": "image_url", "type": "string", "description": ""}),
    ];
    let page = mount(schema("odd-text", parameters), draft).await;
    for (name, value) in [("line", odd), ("image_url Address", image)] {
        let found = find::select(page.root(), "input").into_iter();
        let found: Vec<Element> = found.filter(|it| find::name_of(it) == name).collect();
        assert_eq!(value_of(&found[0]), value, "{name}");
    }
    page.find("group", "image_url").await;
    let image = page.find("textbox", "image_url Address").await;
    assert!(!image.has_attribute("value"));
}

fn cast<E: JsCast>(found: Vec<Element>) -> Vec<E> {
    let cast = |element: Element| {
        element
            .dyn_into()
            .unwrap_or_else(|_| panic!("an element of another type"))
    };
    found.into_iter().map(cast).collect()
}
