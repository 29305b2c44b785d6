//! Secret parameters: their values are sent to the service, and are never stored, shared or copied.

use atelier_end_to_end::Result;
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::find::{by, containing, starting};
use atelier_end_to_end::wait::{Seen, until};
use serde_json::{Value, json};
use std::io::{Cursor, Read};
use std::path::Path;

use crate::service::schema;
use crate::studio::{Studio, TIMEOUT, run_until_settled};

const SECRET: &str = "sk-CASE-SECRET-123";
const MARK: &str = "CASE-SECRET";
const TOKEN: &str = "hf_CASE_TOKEN_456";
const MODEL: &str = "/models/image/plain";

/// A script that returns the address and everything that the page has stored, as one text.
const STORED: &str = "
    const all = [location.href, JSON.stringify(history.state)];
    for (const store of [localStorage, sessionStorage]) all.push(JSON.stringify({ ...store }));
    const done = (request) => new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
    for (const { name } of await indexedDB.databases()) {
        const database = await done(indexedDB.open(name));
        for (const store of database.objectStoreNames) {
            const values = database.transaction(store).objectStore(store).getAll();
            all.push(name, store, JSON.stringify(await done(values)));
        }
        database.close();
    }
    for (const name of await caches.keys()) {
        const cache = await caches.open(name);
        for (const request of await cache.keys()) all.push(request.url);
    }
    return all.join('\\n');";

impl Studio<'_> {
    /// Checks that nothing stored contains the secret, and returns the stored text.
    async fn check_storage(&self, when: &str) -> Result<String> {
        let script = format!("return (async () => {{ {STORED} }})()");
        let stored = self.script(&script).await?;
        let stored = stored.as_str().unwrap_or_default().to_owned();
        assert!(!stored.contains(MARK), "{when}: {stored}");
        Ok(stored)
    }

    /// Presses the element with this role and name.
    pub async fn press(&self, role: &str, name: &str) -> Result<()> {
        self.browser.press(&by(role, name)).await
    }

    async fn enter_secret(&self) -> Result<()> {
        self.browser.fill(&by("textbox", "api_key"), SECRET).await
    }

    /// Waits until the service has received `count` calls to this path, and returns their bodies.
    pub async fn wait_for_calls(&self, path: &str, count: usize) -> Result<Vec<Value>> {
        until(format!("{count} calls of {path}"), TIMEOUT, async || {
            let bodies = self.service.bodies(path);
            Ok(match bodies.len() >= count {
                true => Seen::Yes(bodies),
                false => Seen::NotYet(format!("there are {}", bodies.len())),
            })
        })
        .await
    }
}

/// Checks that a downloaded file, or any file of an archive, does not contain the secret.
fn check_without_secret(file: &Path) -> Result<()> {
    let bytes = std::fs::read(file)?;
    let mut texts = vec![String::from_utf8_lossy(&bytes).into_owned()];
    if file.extension().is_some_and(|it| it == "zip") {
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes))?;
        for at in 0..archive.len() {
            let mut content = Vec::new();
            archive.by_index(at)?.read_to_end(&mut content)?;
            texts.push(String::from_utf8_lossy(&content).into_owned());
        }
    }
    let has_secret = texts.iter().any(|text| text.contains(MARK));
    assert!(!has_secret, "{}", file.display());
    Ok(())
}

/// Guards against a user's API key in the history, links, presets, files and copied code.
#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_sent_and_stored_nowhere() {
    run_until_settled("a_secret_is_sent_and_stored_nowhere", async |studio| {
        let browser = studio.browser;
        studio.service.answer(
            "/api/schema/image/plain",
            &schema(
                &[
                    json!({"name": "prompt", "type": "string", "description": "What to make."}),
                    json!({"name": "api_key", "type": "string", "description": "Your key at the provider.",
                           "format": "password", "x-cog-secret": true}),
                ],
                &[json!({"name": "huggingface_token", "type": "string", "description": "Not marked."})],
            ),
        );
        studio.open(MODEL).await?;
        let field = browser.find(&by("textbox", "api_key")).await?;
        assert_eq!(field.attr("type").await?.as_deref(), Some("password"));
        assert_eq!(field.attr("autocomplete").await?.as_deref(), Some("new-password"));
        studio.enter_secret().await?;
        studio.press("button", "Show api_key").await?;
        assert_eq!(field.attr("type").await?.as_deref(), Some("text"));
        studio.press("button", "Hide api_key").await?;
        assert_eq!(field.attr("type").await?.as_deref(), Some("password"));
        browser.fill(&by("textbox", "huggingface_token"), TOKEN).await?;
        studio.send("a heron").await?;
        let sent = studio.wait_for_calls("/v2/generate", 1).await?;
        assert_eq!(sent[0]["api_key"], SECRET);
        browser.find_with_limit(&by("button", "Run again"), TIMEOUT).await?;
        let stored = studio.check_storage("after a result").await?;
        assert!(stored.contains("a heron"), "the draft and the task are not stored: {stored}");

        // In this tab, Run again sends the same secret.
        studio.press("button", "Run again").await?;
        let sent = studio.wait_for_calls("/v2/generate", 2).await?;
        assert_eq!(sent[1]["api_key"], SECRET);

        // A parameter whose name looks like a secret gives a warning.
        let form = browser.find(&by("form", "Input")).await?;
        browser.press(&by("button", "Copy link").within(&form)).await?;
        let warning = "huggingface_token looks like a secret and is part of this link.";
        browser.wait_for_text(warning, TIMEOUT).await?;
        browser.press(&by("button", "Copy without").within(&form)).await?;
        let link = browser.clipboard().await?;
        assert!(link.contains("heron") && !link.contains(TOKEN) && !link.contains(MARK), "{link}");

        studio.press("button", "Presets").await?;
        browser.fill(&by("textbox", "Name of the preset"), "mine").await?;
        studio.press("button", "Save").await?;
        studio.press("button", "Export").await?;
        check_without_secret(&browser.wait_for_downloads(1, ".json").await?[0])?;
        let dialog = browser.find(&by("dialog", "Presets")).await?;
        browser.press(&by("button", "Close").within(&dialog)).await?;

        studio.press("radio", "Integrations").await?;
        let section = browser.find(&by("region", "Integrations")).await?;
        let scroll = "arguments[0].scrollIntoView()";
        browser.run(scroll, vec![browser.argument(&section)]).await?;
        for (language, variable) in [
            ("curl", "${API_KEY:?}"),
            ("Python", "os.environ[\"API_KEY\"]"),
            ("JavaScript", "process.env.API_KEY"),
            ("Rust", "env::var(\"API_KEY\")"),
        ] {
            studio.press("radio", language).await?;
            browser.wait_for_text(variable, TIMEOUT).await?;
            let shown = studio.script("return document.body.innerText").await?;
            assert!(!shown.as_str().unwrap_or_default().contains(MARK), "{language}");
        }

        // All items of a batch are sent with the secret, which is entered once.
        let entries: Vec<Value> = (0..3)
            .map(|index| {
                let data = json!({"id": format!("item-{index}"), "status": "starting"});
                json!({"index": index, "status": 200, "body": {"success": true, "data": data}})
            })
            .collect();
        let reply = json!({"success": true, "data": {"results": entries}});
        studio.service.answer("/v2/generate-batch", &reply);
        studio.open(&format!("{MODEL}?mode=batch")).await?;
        browser.fill(&by("textbox", "Prompts"), "one\ntwo\nthree").await?;
        // The secret was in the memory of the earlier page.
        studio.press("button", "Generate 3").await?;
        browser.wait_for_text("api_key is required", TIMEOUT).await?;
        studio.enter_secret().await?;
        studio.press("button", "Generate 3").await?;
        let sent = studio.wait_for_calls("/v2/generate-batch", 1).await?;
        let items = sent[0]["requests"].as_array().ok_or("no items")?;
        assert!(items.len() == 3 && items.iter().all(|item| item["api_key"] == SECRET), "{items:?}");
        browser.wait_for_text("3 completed", TIMEOUT).await?;
        studio.press("button", "Manifest JSON").await?;
        let manifests = browser.wait_for_downloads(2, ".json").await?;
        manifests.iter().try_for_each(|file| check_without_secret(file))?;
        studio.check_storage("after a batch").await?;

        // The table refuses a column with the secret.
        studio.press("radio", "Import").await?;
        let rows = format!("prompt,api_key\nfour,{SECRET}\n");
        browser.paste(&by("textbox", "Table"), &rows).await?;
        browser.wait_for_text("Left out, because tables are stored: api_key.", TIMEOUT).await?;
        studio.press("button", "Add 1 item").await?;
        studio.open("/settings").await?;
        studio.check_storage("after a table").await?;
        if browser.needs(Capability::StoredFiles).is_ok() {
            studio.press("button", "Export history").await?;
            check_without_secret(&browser.wait_for_downloads(1, ".zip").await?[0])?;
        }

        // Run again asks for the secret, and sends nothing before it is entered.
        let before = studio.service.bodies("/v2/generate").len();
        studio.open("/tasks").await?;
        browser.wait_for_text("a heron", TIMEOUT).await?;
        let task = browser.find_all(&containing("link", "a heron")).await?;
        task.first().ok_or("no task")?.click().await?;
        studio.press("button", "Run again").await?;
        browser.wait_for_text("Enter it again in the form.", TIMEOUT).await?;
        let field = browser.find(&by("textbox", "api_key")).await?;
        assert_eq!(field.prop("value").await?.as_deref(), Some(""));
        assert_eq!(studio.service.bodies("/v2/generate").len(), before);
        studio.enter_secret().await?;
        studio.press("button", "Generate").await?;
        let sent = studio.wait_for_calls("/v2/generate", before + 1).await?;
        assert_eq!(sent[before]["api_key"], SECRET);
        assert_eq!(sent[before]["huggingface_token"], TOKEN);
        studio.check_storage("at the end").await?;
        Ok(())
    })
    .await;
}

/// Guards against a task that is sent without its secret, or waits forever, after a reload.
#[tokio::test(flavor = "multi_thread")]
async fn a_queued_task_asks_for_its_secret_after_a_reload() {
    let name = "a_queued_task_asks_for_its_secret_after_a_reload";
    run_until_settled(name, async |studio| {
        let browser = studio.browser;
        studio.service.answer(
            "/api/schema/image/plain",
            &schema(
                &[
                    json!({"name": "prompt", "type": "string", "description": ""}),
                    json!({"name": "api_key", "type": "string", "description": "", "format": "password"}),
                ],
                &[],
            ),
        );
        // The service accepts nothing for now.
        let busy = json!({"success": false, "message": "later"}).to_string();
        studio.service.answer_raw("/v2/generate", 429, "application/json", busy);
        studio.open(MODEL).await?;
        studio.enter_secret().await?;
        studio.send("a crane").await?;
        studio.wait_for_calls("/v2/generate", 1).await?;
        studio.wait_for_status("Queued").await?;
        browser.reload().await?;
        let reason = "Not sent: api_key was stored only in the tab where you entered it.";
        browser.wait_for_text(reason, TIMEOUT).await?;
        let good = json!({"success": true, "data": {"id": "task-1", "status": "starting"}});
        studio.service.answer("/v2/generate", &good);
        let before = studio.service.bodies("/v2/generate").len();
        studio.press("button", "Retry").await?;
        browser.wait_for_text("Enter it again in the form.", TIMEOUT).await?;
        studio.enter_secret().await?;
        browser.find(&starting("textbox", "prompt")).await?;
        studio.press("button", "Generate").await?;
        let sent = studio.wait_for_calls("/v2/generate", before + 1).await?;
        assert_eq!(sent[before]["api_key"], SECRET);
        assert_eq!(sent[before]["prompt"], "a crane");
        let all = studio.service.bodies("/v2/generate");
        assert!(all.iter().all(|body| body["api_key"] == SECRET), "{all:?}");
        Ok(())
    })
    .await;
}
