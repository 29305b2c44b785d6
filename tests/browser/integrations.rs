//! The Python files, the function's JSON schema and the form as code, on a model's page.

use gloo_net::http::Request;
use serde_json::{Value, json};
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::Element;

use crate::find::{self, until};
use crate::page::{Page, click, local_storage, session_storage};
use crate::wire;

const FUNCTION: &str = "/api/openai-function/image/tessera";
const NODE: &str = "/api/comfyui-node/image/tessera";
const TOKEN: &str = "secret-token-of-a-test";
const UID: &str = "uid-of-a-test";

/// Notes what is copied and saved: a test may not read the clipboard, and a download leaves the page.
const NOTES: &str = "
    if (window.atelierSaved) return;
    window.atelierCopied = null;
    window.atelierSaved = [];
    navigator.clipboard.writeText = async text => { window.atelierCopied = text; };
    const blobs = new Map();
    const url = URL.createObjectURL.bind(URL);
    URL.createObjectURL = blob => {
        const address = url(blob);
        blobs.set(address, blob);
        return address;
    };
    HTMLAnchorElement.prototype.click = async function () {
        if (!this.download) return HTMLElement.prototype.click.call(this);
        window.atelierSaved.push([this.download, await blobs.get(this.href).text()]);
    };
";

/// The page of a model, scrolled to its integrations.
async fn open() -> Page {
    let page = Page::open("/models/image/tessera").await;
    near(&page).await;
    page
}

async fn near(page: &Page) {
    wire::run(NOTES);
    page.the("form", "Input").await;
    page.click("radio", "Integrations").await;
    page.the("region", "Integrations").await.scroll_into_view();
}

/// The text of the service's, byte for byte.
async fn served(path: &str) -> String {
    let answer = Request::get(&format!("{}{path}", wire::SERVICE)).send();
    answer
        .await
        .expect("an answer")
        .text()
        .await
        .expect("a text")
}

/// The text of the code in the box of this name.
async fn code(page: &Page, name: &str) -> String {
    code_in(&page.the("region", name).await)
}

fn code_in(region: &Element) -> String {
    let code = region.query_selector("code").expect("a selector");
    code.and_then(|code| code.text_content())
        .unwrap_or_default()
}

async fn copied() -> String {
    until("a text that is copied", || {
        wire::run("const text = window.atelierCopied; window.atelierCopied = null; return text")
            .as_string()
    })
    .await
}

#[wasm_bindgen_test]
async fn what_is_shown_copied_and_saved_is_what_the_service_has() {
    let page = Page::open("/models/image/tessera").await;
    page.the("form", "Input").await;
    page.the("button", "Download OpenAI function").await;
    // It is one press away; nothing of it is needed yet.
    wire::run(
        "return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))",
    );
    assert_eq!(wire::calls_to(FUNCTION).await, 0);
    near(&page).await;

    for (path, group, name, label) in [
        (
            FUNCTION,
            "OpenAI function file",
            "image_tessera.py",
            "Download OpenAI function",
        ),
        (
            NODE,
            "ComfyUI node file",
            "image_tessera_node.py",
            "Download ComfyUI node",
        ),
    ] {
        let region = page.the("region", name).await;
        assert_eq!(region.get_attribute("tabindex").as_deref(), Some("0"));
        let file = served(path).await;
        until("all of the file", || {
            (code_in(&region) == file).then_some(())
        })
        .await;
        let words = until("its last word in colours", || {
            let words = find::select(&region, ".code-keyword");
            let last = words.last().map(find::text_of);
            // Both files end with a function and what calls it.
            (words.len() > 100 && last.as_deref() != Some("import")).then_some(words)
        })
        .await;
        assert!(words.iter().all(|word| word.child_element_count() == 0));
        assert!(words.iter().any(|word| find::text_of(word) == "return"));
        let group = page.the("group", group).await;
        let lines = file.lines().count();
        assert!(find::text_of(&group).contains(&format!("{lines} lines")));
        click(&find::one(&group, "button", "Copy").expect("Copy"));
        assert_eq!(copied().await, file);
        page.click("button", label).await;
        let saved = until("a file that is saved", || {
            let saved = wire::run("return JSON.stringify(window.atelierSaved.shift() ?? null)");
            let saved: Value = serde_json::from_str(&saved.as_string()?).ok()?;
            (!saved.is_null()).then_some(saved)
        })
        .await;
        assert_eq!(saved, json!([name, file]));
        // Once by the page, once by this test.
        assert_eq!(wire::calls_to(path).await, 2);
        page.click("button", &format!("Show all {lines} lines"))
            .await;
        let less = until("Show less", || find::one(&group, "button", "Show less")).await;
        assert_eq!(less.get_attribute("aria-expanded").as_deref(), Some("true"));
        click(&less);
    }
    // Files and page say the same name.
    assert!(
        served(NODE)
            .await
            .contains("ComfyUI/custom_nodes/image_tessera_node.py")
    );
    page.says("ComfyUI/custom_nodes/image_tessera_node.py")
        .await;
}

/// What is additional is offered where the service says that it has it, and only there: elsewhere the
/// buttons would lead to nothing.
#[wasm_bindgen_test]
async fn what_is_additional_is_offered_where_the_service_has_it() {
    let page = open().await;
    for (path, label, name) in [
        (
            "/api/mcp/image/tessera",
            "Download MCP server",
            "image_tessera_mcp.py",
        ),
        (
            "/api/mcp",
            "Download MCP server of all models",
            "atelier_mcp.py",
        ),
        (
            "/api/openai-functions",
            "Download all OpenAI functions",
            "atelier_functions.py",
        ),
    ] {
        page.click("button", label).await;
        let saved = until("a file that is saved", || {
            let saved = wire::run("return JSON.stringify(window.atelierSaved.shift() ?? null)");
            let saved: Value = serde_json::from_str(&saved.as_string()?).ok()?;
            (!saved.is_null()).then_some(saved)
        })
        .await;
        assert_eq!(saved, json!([name, served(path).await]));
    }
    page.click("button", "Download all ComfyUI nodes").await;
    page.says("atelier-nodes.zip saved.").await;
    drop(page);

    // A service that says nothing of them.
    Page::forget_all().await;
    wire::spoil(json!({"path": "/api/models", "fault": "hide_field", "field": "integrations"}))
        .await;
    let page = Page::reopen("/models/image/tessera").await;
    near(&page).await;
    page.the("button", "Download ComfyUI node").await;
    assert!(!page.has("button", "Download MCP server"));
    assert!(!page.has("button", "Download all ComfyUI nodes"));
    wire::spoil_nothing().await;
}

#[wasm_bindgen_test]
async fn the_functions_schema_is_copied_on_its_own() {
    let page = open().await;
    page.click("button", "Copy JSON schema").await;
    let text = copied().await;
    let schema: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(schema["name"], "image_tessera");
    let of_model = wire::get("/api/schema/image/tessera").await;
    let parameters = &of_model["data"]["parameters"];
    let lists = ["required", "optional"].map(|list| parameters[list].as_array().expect("a list"));
    let names: Vec<&Value> = lists.into_iter().flatten().map(|p| &p["name"]).collect();
    let properties = schema["parameters"]["properties"]
        .as_object()
        .expect("properties");
    assert_eq!(json!(names), json!(properties.keys().collect::<Vec<_>>()));
    assert_eq!(code(&page, "JSON schema of the function").await, text);
}

#[wasm_bindgen_test]
async fn a_file_that_does_not_come_is_asked_for_again() {
    Page::forget_all().await;
    wire::spoil(json!({"path": FUNCTION, "fault": "status", "status": 500})).await;
    let page = Page::reopen("/models/image/tessera").await;
    near(&page).await;
    page.says("The OpenAI function file could not be loaded")
        .await;
    // The other one is not held up, nor is the function's schema, which is made of the model's.
    page.the("region", "image_tessera_node.py").await;
    page.the("button", "Copy JSON schema").await;
    wire::spoil_nothing().await;
    page.click("button", "Try again").await;
    page.the("region", "image_tessera.py").await;
    let file = served(FUNCTION).await;
    assert_eq!(code(&page, "image_tessera.py").await, file);
}

#[wasm_bindgen_test]
async fn the_form_is_copied_as_it_stands_without_credentials() {
    Page::forget_all().await;
    let settings = json!({"address": wire::SERVICE, "uid": UID}).to_string();
    local_storage()
        .set_item("atelier.settings", &settings)
        .expect("localStorage");
    session_storage()
        .set_item("atelier.token", TOKEN)
        .expect("sessionStorage");
    let page = Page::reopen("/models/image/tessera").await;
    near(&page).await;
    // An empty form is shown, and is said to be none that the service takes.
    page.the("region", "The form as curl").await;
    page.says("The form is not complete yet").await;

    page.click("radio", "One").await;
    page.fill("textbox", "prompt", "it's \"blue\"").await;
    page.click("radio", "Integrations").await;
    page.says("As the form would be sent now.").await;
    for (language, prompt) in [
        ("curl", r#""prompt": "it'\''s \"blue\"""#),
        ("Python", r#""prompt": "it's \"blue\"""#),
        ("JavaScript", r#"'"prompt": "it\'s \\"blue\\""'"#),
        ("Rust", r#""prompt": "it's \"blue\"""#),
    ] {
        page.click("radio", language).await;
        page.click("button", &format!("Copy as {language}")).await;
        let program = copied().await;
        assert!(program.contains(prompt), "{program}");
        assert!(
            !program.contains(TOKEN) && !program.contains(UID),
            "{program}"
        );
        assert!(program.contains("SERVICE_TOKEN") && program.contains("SERVICE_UID"));
        assert!(program.contains(wire::SERVICE), "{program}");
        assert_eq!(
            code(&page, &format!("The form as {language}")).await,
            program
        );
    }
    // It is the form as it now stands.
    page.click("radio", "One").await;
    page.fill("spinbutton", "seed", "18446744073709551615")
        .await;
    page.click("radio", "Integrations").await;
    let region = page.the("region", "The form as Rust").await;
    until("the seed in the code", || {
        code_in(&region)
            .contains(r#""seed": 18446744073709551615"#)
            .then_some(())
    })
    .await;
    page.click("radio", "One").await;
    page.click("button", "Clear form").await;
    page.click("radio", "Integrations").await;
    let region = page.the("region", "The form as Rust").await;
    until("no prompt in the code", || {
        (!code_in(&region).contains("prompt")).then_some(())
    })
    .await;
    drop(page);

    // The language is the one chosen last.
    let page = Page::reopen("/models/image/strata").await;
    near(&page).await;
    page.the("region", "The form as Rust").await;
}
