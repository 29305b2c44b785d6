//! The Integrations panel of a model's page: Python files, the JSON schema of the function, and the form as code.

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

/// Records copied texts and saved files, since a test can't read the clipboard or a downloaded file.
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

/// Opens the page of a model, scrolled to its integrations.
async fn open() -> Page {
    let page = Page::open("/models/image/tessera").await;
    open_integrations(&page).await;
    page
}

/// Opens the Integrations panel and scrolls to it.
async fn open_integrations(page: &Page) {
    wire::run(NOTES);
    page.find("form", "Input").await;
    page.click("radio", "Integrations").await;
    page.find("region", "Integrations").await.scroll_into_view();
}

/// Returns the file at a path of the service.
async fn file_of_service(path: &str) -> String {
    let answer = Request::get(&format!("{}{path}", wire::SERVICE)).send();
    answer
        .await
        .expect("an answer")
        .text()
        .await
        .expect("a text")
}

/// Returns the code in the region of this name.
async fn code(page: &Page, name: &str) -> String {
    code_in(&page.find("region", name).await)
}

fn code_in(region: &Element) -> String {
    let code = region.query_selector("code").expect("a selector");
    code.and_then(|code| code.text_content())
        .unwrap_or_default()
}

/// Waits for a copied text and returns it.
async fn copied_text() -> String {
    until("a copied text", || {
        wire::run("const text = window.atelierCopied; window.atelierCopied = null; return text")
            .as_string()
    })
    .await
}

/// Waits for a saved file and returns its name and text.
async fn saved_file() -> Value {
    until("a saved file", || {
        let saved = wire::run("return JSON.stringify(window.atelierSaved.shift() ?? null)");
        let saved: Value = serde_json::from_str(&saved.as_string()?).ok()?;
        (!saved.is_null()).then_some(saved)
    })
    .await
}

#[wasm_bindgen_test]
async fn shown_copied_and_saved_files_are_those_of_the_service() {
    let page = Page::open("/models/image/tessera").await;
    page.find("form", "Input").await;
    page.find("button", "Download OpenAI function").await;
    // The files are not requested before the panel is opened.
    wire::run(
        "return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))",
    );
    assert_eq!(wire::calls_to(FUNCTION).await, 0);
    open_integrations(&page).await;

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
        let region = page.find("region", name).await;
        assert_eq!(region.get_attribute("tabindex").as_deref(), Some("0"));
        let file = file_of_service(path).await;
        until("all of the file", || {
            (code_in(&region) == file).then_some(())
        })
        .await;
        let keywords = until("syntax highlighting of the whole file", || {
            let keywords = find::select(&region, ".code-keyword");
            let last = keywords.last().map(find::text_of);
            // Both files end with a function and a call of it.
            (keywords.len() > 100 && last.as_deref() != Some("import")).then_some(keywords)
        })
        .await;
        assert!(keywords.iter().all(|it| it.child_element_count() == 0));
        assert!(keywords.iter().any(|it| find::text_of(it) == "return"));
        let group = page.find("group", group).await;
        let lines = file.lines().count();
        assert!(find::text_of(&group).contains(&format!("{lines} lines")));
        click(&find::one(&group, "button", "Copy").expect("Copy"));
        assert_eq!(copied_text().await, file);
        page.click("button", label).await;
        assert_eq!(saved_file().await, json!([name, file]));
        // One call by the page and one by this test.
        assert_eq!(wire::calls_to(path).await, 2);
        page.click("button", &format!("Show all {lines} lines"))
            .await;
        let less = until("Show less", || find::one(&group, "button", "Show less")).await;
        assert_eq!(less.get_attribute("aria-expanded").as_deref(), Some("true"));
        click(&less);
    }
    // The file and the page contain the same name.
    assert!(
        file_of_service(NODE)
            .await
            .contains("ComfyUI/custom_nodes/image_tessera_node.py")
    );
    page.wait_for_text("ComfyUI/custom_nodes/image_tessera_node.py")
        .await;
}

/// Optional integrations are offered only if the service announces them, since their buttons would fail otherwise.
#[wasm_bindgen_test]
async fn optional_integrations_are_offered_if_the_service_has_them() {
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
        assert_eq!(
            saved_file().await,
            json!([name, file_of_service(path).await])
        );
    }
    page.click("button", "Download all ComfyUI nodes").await;
    page.wait_for_text("atelier-nodes.zip saved.").await;
    drop(page);

    // A service that does not announce them.
    Page::reset_all().await;
    wire::add_fault(json!({"path": "/api/models", "fault": "hide_field", "field": "integrations"}))
        .await;
    let page = Page::reopen("/models/image/tessera").await;
    open_integrations(&page).await;
    page.find("button", "Download ComfyUI node").await;
    assert!(!page.has("button", "Download MCP server"));
    assert!(!page.has("button", "Download all ComfyUI nodes"));
    wire::clear_faults().await;
}

#[wasm_bindgen_test]
async fn the_functions_schema_is_copied_on_its_own() {
    let page = open().await;
    page.click("button", "Copy JSON schema").await;
    let text = copied_text().await;
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
async fn a_file_that_fails_to_load_can_be_retried() {
    Page::reset_all().await;
    wire::add_fault(json!({"path": FUNCTION, "fault": "status", "status": 500})).await;
    let page = Page::reopen("/models/image/tessera").await;
    open_integrations(&page).await;
    page.wait_for_text("The OpenAI function file could not be loaded")
        .await;
    // The other file is not affected, nor is the schema of the function, which is created from that of the model.
    page.find("region", "image_tessera_node.py").await;
    page.find("button", "Copy JSON schema").await;
    wire::clear_faults().await;
    page.click("button", "Try again").await;
    page.find("region", "image_tessera.py").await;
    let file = file_of_service(FUNCTION).await;
    assert_eq!(code(&page, "image_tessera.py").await, file);
}

#[wasm_bindgen_test]
async fn the_form_is_copied_as_code_without_credentials() {
    Page::reset_all().await;
    let settings = json!({"address": wire::SERVICE, "uid": UID}).to_string();
    local_storage()
        .set_item("atelier.settings", &settings)
        .expect("localStorage");
    session_storage()
        .set_item("atelier.token", TOKEN)
        .expect("sessionStorage");
    let page = Page::reopen("/models/image/tessera").await;
    open_integrations(&page).await;
    // An empty form is shown, with a note that the service would refuse it.
    page.find("region", "The form as curl").await;
    page.wait_for_text("The form is incomplete").await;

    page.click("radio", "One").await;
    page.fill("textbox", "prompt", "it's \"blue\"").await;
    page.click("radio", "Integrations").await;
    page.wait_for_text("As the form would be sent now.").await;
    for (language, prompt) in [
        ("curl", r#""prompt": "it'\''s \"blue\"""#),
        ("Python", r#""prompt": "it's \"blue\"""#),
        ("JavaScript", r#"'"prompt": "it\'s \\"blue\\""'"#),
        ("Rust", r#""prompt": "it's \"blue\"""#),
    ] {
        page.click("radio", language).await;
        page.click("button", &format!("Copy as {language}")).await;
        let program = copied_text().await;
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
    // The code follows changes of the form.
    page.click("radio", "One").await;
    page.fill("spinbutton", "seed", "18446744073709551615")
        .await;
    page.click("radio", "Integrations").await;
    let region = page.find("region", "The form as Rust").await;
    until("the seed in the code", || {
        code_in(&region)
            .contains(r#""seed": 18446744073709551615"#)
            .then_some(())
    })
    .await;
    page.click("radio", "One").await;
    page.click("button", "Clear form").await;
    page.click("radio", "Integrations").await;
    let region = page.find("region", "The form as Rust").await;
    until("no prompt in the code", || {
        (!code_in(&region).contains("prompt")).then_some(())
    })
    .await;
    drop(page);

    // The panel uses the language that was chosen last.
    let page = Page::reopen("/models/image/strata").await;
    open_integrations(&page).await;
    page.find("region", "The form as Rust").await;
}
