//! Outputs that are data URIs.

use atelier_end_to_end::Result;
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::{Seen, until};
use serde_json::{Value, json};

use crate::service::schema;
use crate::studio::{Studio, TIMEOUT, run_until_settled};

/// Returns an image of 3 × 2 pixels as a data URI, with padding that decoders ignore.
fn padded_image() -> String {
    const GIF: &str = "R0lGODlhAwACAIAAAP8AAAAAACwAAAAAAwACAAACAoRfADs";
    format!("data:image/gif;base64,{GIF}A{}", "AAAA".repeat(400_000))
}

/// Returns the keys of the stored tasks, the total length of their records, the records without the data, and the keys of the
/// stored files.
async fn stored_state(studio: &Studio<'_>) -> Result<Value> {
    let script = "return (async () => {
        const done = request => new Promise((good, bad) => {
            [request.onsuccess, request.onerror] = [() => good(request.result), bad];
        });
        const database = await done(indexedDB.open('atelier'));
        const store = name => database.transaction(name).objectStore(name);
        const found = {
            tasks: await done(store('tasks').getAllKeys()),
            characters: (await done(store('tasks').getAll())).join('').length,
            starts: (await done(store('tasks').getAll())).map(it => it.replace(/base64,[A-Za-z0-9]*/g, '')),
            files: await done(store('outputs').getAllKeys()),
        };
        database.close();
        return found;
    })()";
    studio.script(script).await
}

/// Waits until this number of tasks, whose records do not contain the data, and of files are stored.
async fn wait_until_stored(studio: &Studio<'_>, tasks: usize, files: usize) -> Result<Value> {
    until(
        format!("{tasks} tasks and {files} files"),
        TIMEOUT,
        async || {
            let found = stored_state(studio).await?;
            let count = |name: &str| found[name].as_array().map(Vec::len);
            let is_short = found["characters"].as_u64() < Some(20_000);
            let has_counts = count("tasks") == Some(tasks) && count("files") == Some(files);
            Ok(match has_counts && is_short {
                true => Seen::Yes(found),
                false => Seen::NotYet(found.to_string()),
            })
        },
    )
    .await
}

/// Submits two tasks that have the same image as their output.
async fn generate_two(studio: &Studio<'_>) -> Result<()> {
    studio.service.set_outputs(&[padded_image()]);
    studio.open("/models/image/plain").await?;
    let browser = studio.browser;
    browser.press(&by("radio", "Batch")).await?;
    browser
        .paste(&by("textbox", "Prompts"), "dusk\ndawn")
        .await?;
    browser.press(&by("button", "Generate 2")).await
}

/// Waits until the page shows an image of 3 × 2 pixels.
async fn wait_until_shown(studio: &Studio<'_>) -> Result<()> {
    until("the image", TIMEOUT, async || {
        let script = "return [...document.querySelectorAll('main img')].map(it => [it.naturalWidth, it.naturalHeight])";
        let sizes = studio.script(script).await?;
        let wait_until_shown = sizes.as_array().is_some_and(|sizes| sizes.contains(&json!([3, 2])));
        Ok(match wait_until_shown {
            true => Seen::Yes(()),
            false => Seen::NotYet(sizes.to_string()),
        })
    })
    .await
}

/// Guards against megabytes of data in each task's record, which are read at every start and sent to every tab. Also
/// guards against saving a reference to the file instead of the image, or sending the reference to a service, which
/// then bills a useless task.
#[tokio::test(flavor = "multi_thread")]
async fn data_uris_are_stored_once_as_a_file_and_used_wherever_the_output_is() {
    let name = "data_uris_are_stored_once_as_a_file_and_used_wherever_the_output_is";
    run_until_settled(name, async |studio| {
        let browser = studio.browser;
        browser.needs(Capability::StoredFiles)?;
        let prompt = json!({"name": "prompt", "type": "string", "description": "A text."});
        let image = json!({"name": "image", "type": "string", "description": "URL of an image."});
        let parameters = schema(&[prompt], &[image]);
        studio.service.answer("/api/schema/image/plain", &parameters);
        generate_two(studio).await?;
        let found = wait_until_stored(studio, 2, 1).await?;
        wait_until_shown(studio).await?;
        // All views show the file, and none requests it from the service again.
        let count = |path: &str| studio.service.bodies(path).len();
        let before = (count("/v2/response-batch"), count("/v2/response"));
        for path in ["/tasks", "/gallery", "/models/image/plain"] {
            studio.open(path).await?;
            wait_until_shown(studio).await?;
        }
        let after = (count("/v2/response-batch"), count("/v2/response"));
        assert_eq!(after, before);

        let task = found["tasks"][0].as_str().ok_or("no task")?;
        studio.open(&format!("/tasks/{task}")).await?;
        browser.press(&by("button", "Download")).await?;
        let file = browser.wait_for_downloads(1, ".gif").await?.remove(0);
        assert_eq!(std::fs::metadata(file)?.len(), 1_200_036);

        let form = format!("/models/image/plain?output={task}/0&into=image");
        studio.open(&form).await?;
        until("the field to be filled", TIMEOUT, async || {
            let script = "return Math.max(...[...document.querySelectorAll('form input')].map(it => it.value.length))";
            let longest = studio.script(script).await?;
            Ok(match longest.as_u64() > Some(1_000_000) {
                true => Seen::Yes(()),
                false => Seen::NotYet(longest.to_string()),
            })
        })
        .await?;
        let third = json!({"success": true, "data": {"id": "task-3", "status": "starting"}});
        studio.service.answer("/v2/generate", &third);
        studio.send("noon").await?;
        let sent = until("the third task", TIMEOUT, async || {
            Ok(match studio.service.bodies("/v2/generate").pop() {
                Some(body) => Seen::Yes(body.to_string()),
                None => Seen::NotYet("nothing was sent".into()),
            })
        })
        .await?;
        assert!(sent.contains(&padded_image()), "the data itself was not sent: {sent:.500}");
        // The new task records the source of its image, which may be either of the two tasks with that image.
        until("the source of the image", TIMEOUT, async || {
            let source = |task: &Value| {
                let task = task.as_str().unwrap_or_default();
                format!("\"sources\":[{{\"parameter\":\"image\",\"output\":\"{task}/0\"}}]")
            };
            let sources = [source(&found["tasks"][0]), source(&found["tasks"][1])];
            let texts = stored_state(studio).await?["starts"].to_string().replace('\\', "");
            Ok(match sources.iter().any(|source| texts.contains(source)) {
                true => Seen::Yes(()),
                false => Seen::NotYet(texts.chars().take(3_000).collect::<String>()),
            })
        })
        .await
    })
    .await;
}

/// Guards against megabytes of data in the records of earlier releases, and against files that are not deleted with their
/// tasks.
#[tokio::test(flavor = "multi_thread")]
async fn data_in_earlier_records_becomes_a_file_that_is_deleted_with_its_last_task() {
    let name = "data_in_earlier_records_becomes_a_file_that_is_deleted_with_its_last_task";
    run_until_settled(name, async |studio| {
        let browser = studio.browser;
        browser.needs(Capability::StoredFiles)?;
        generate_two(studio).await?;
        wait_until_stored(studio, 2, 1).await?;
        // Writes the records of an earlier release, while no page of Atelier is open.
        studio.open("/outputs/1.svg").await?;
        let put_back = format!(
            "return (async () => {{
                const done = request => new Promise((good, bad) => {{
                    [request.onsuccess, request.onerror] = [() => good(request.result), bad];
                }});
                const database = await done(indexedDB.open('atelier'));
                const change = database.transaction(['tasks', 'outputs'], 'readwrite');
                const tasks = change.objectStore('tasks');
                for (const key of await done(tasks.getAllKeys())) {{
                    const text = await done(tasks.get(key));
                    await done(tasks.put(text.replace(/data:image.gif;stored=[^,]*,/, '{}'), key));
                }}
                await done(change.objectStore('outputs').clear());
                database.close();
            }})()",
            padded_image()
        );
        studio.script(&put_back).await?;
        let before = stored_state(studio).await?;
        assert!(before["characters"].as_u64() > Some(3_000_000), "{before}");
        studio.open("/tasks").await?;
        wait_until_stored(studio, 2, 1).await?;
        wait_until_shown(studio).await?;

        for left in [1, 0] {
            let found = stored_state(studio).await?;
            let task = found["tasks"][0].as_str().ok_or("no task")?;
            studio.open(&format!("/tasks/{task}")).await?;
            browser.press_in_menu(&by("button", "Remove")).await?;
            wait_until_stored(studio, left, left).await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against an exported history that lacks the outputs that only the browser has, or that contains the same data once
/// for each task.
#[tokio::test(flavor = "multi_thread")]
async fn data_is_exported_once_and_imported_with_the_history() {
    let name = "data_is_exported_once_and_imported_with_the_history";
    run_until_settled(name, async |studio| {
        let browser = studio.browser;
        browser.needs(Capability::StoredFiles)?;
        generate_two(studio).await?;
        wait_until_stored(studio, 2, 1).await?;
        studio.open("/settings").await?;
        browser.press(&by("button", "Export history")).await?;
        let file = browser.wait_for_downloads(1, ".zip").await?.remove(0);
        let bytes = std::fs::metadata(&file)?.len();
        assert!((1_200_036..1_300_000).contains(&bytes), "{bytes} bytes");

        // No page of Atelier is open meanwhile, since it would store its tasks again.
        studio.open("/outputs/1.svg").await?;
        let delete = "return new Promise((done, failed) => {
            const request = indexedDB.deleteDatabase('atelier');
            [request.onsuccess, request.onerror] = [() => done(true), failed];
        })";
        studio.script(delete).await?;
        let refusal = json!({"success": false, "message": "gone"});
        for path in ["/v2/response", "/v2/response-batch"] {
            let refusal = refusal.to_string();
            studio
                .service
                .answer_raw(path, 404, "application/json", refusal);
        }
        studio.open("/settings").await?;
        browser
            .choose_file(&starting("button", "Import history"), &file)
            .await?;
        wait_until_stored(studio, 2, 1).await?;
        studio.open("/gallery").await?;
        wait_until_shown(studio).await
    })
    .await;
}

/// Guards against a lost thumbnail that is requested again each time the page notices that it has no copy.
#[tokio::test(flavor = "multi_thread")]
async fn a_lost_thumbnail_is_not_requested_repeatedly() {
    let name = "a_lost_thumbnail_is_not_requested_repeatedly";
    run_until_settled(name, async |studio| {
        let address = studio.service.address();
        studio.service.set_outputs(&[format!("{address}/gone.png")]);
        studio.service.answer_raw("/gone.png", 404, "text/plain", "gone".into());
        studio.generate("dusk").await?;
        studio.wait_for_status("Completed").await?;
        studio.open("/gallery").await?;
        let count = "return (async () => {
            const count = () => performance.getEntriesByType('resource').filter(it => it.name.endsWith('/gone.png')).length;
            while (!document.querySelector('main .tile .media-gone')) await new Promise(requestAnimationFrame);
            // Enough time for a page that requests it repeatedly.
            for (let n = 0; n < 100; n += 1) await fetch('/outputs/1.svg?' + n);
            return count();
        })()";
        let requests = studio.script(count).await?;
        assert!(
            requests.as_u64().is_some_and(|requests| (1..10).contains(&requests)),
            "requested {requests} times"
        );
        Ok(())
    })
    .await;
}
