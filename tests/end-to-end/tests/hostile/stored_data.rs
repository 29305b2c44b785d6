//! Outputs that come as data in their address.

use atelier_end_to_end::Result;
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::{Seen, until};
use serde_json::{Value, json};

use crate::service::schema;
use crate::studio::{Studio, TIMEOUT, play};

/// A picture of three by two pixels, followed by what a decoder takes no notice of.
fn picture() -> String {
    const GIF: &str = "R0lGODlhAwACAIAAAP8AAAAAACwAAAAAAwACAAACAoRfADs";
    format!("data:image/gif;base64,{GIF}A{}", "AAAA".repeat(400_000))
}

/// The keys of the stored tasks, how long their records are together, and the keys of the stored files.
async fn stored(studio: &Studio<'_>) -> Result<Value> {
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

/// Waits until there are so many tasks, without their data, and so many files.
async fn is_stored(studio: &Studio<'_>, tasks: usize, files: usize) -> Result<Value> {
    until(
        format!("{tasks} tasks and {files} files"),
        TIMEOUT,
        async || {
            let found = stored(studio).await?;
            let count = |name: &str| found[name].as_array().map(Vec::len);
            let is_short = found["characters"].as_u64() < Some(20_000);
            let is_so = count("tasks") == Some(tasks) && count("files") == Some(files);
            Ok(match is_so && is_short {
                true => Seen::Yes(found),
                false => Seen::NotYet(found.to_string()),
            })
        },
    )
    .await
}

/// Two tasks with the same picture.
async fn generate_two(studio: &Studio<'_>) -> Result<()> {
    studio.service.has_outputs(&[picture()]);
    studio.open("/models/image/plain").await?;
    let browser = studio.browser;
    browser.press(&by("radio", "Batch")).await?;
    browser
        .paste(&by("textbox", "Prompts"), "dusk\ndawn")
        .await?;
    browser.press(&by("button", "Generate 2")).await
}

/// Waits until a picture of these pixels is shown.
async fn is_shown(studio: &Studio<'_>) -> Result<()> {
    until("the picture", TIMEOUT, async || {
        let script = "return [...document.querySelectorAll('main img')].map(it => [it.naturalWidth, it.naturalHeight])";
        let sizes = studio.script(script).await?;
        let is_there = sizes.as_array().is_some_and(|sizes| sizes.contains(&json!([3, 2])));
        Ok(match is_there {
            true => Seen::Yes(()),
            false => Seen::NotYet(sizes.to_string()),
        })
    })
    .await
}

/// Guards against megabytes of text in each task's record, which are read at every start and sent to every tab, and against a
/// reference that is taken for the output itself: saved empty, or sent to a service, and paid for, in the place of a picture.
#[tokio::test(flavor = "multi_thread")]
async fn data_is_stored_once_as_a_file_and_goes_wherever_the_output_goes() {
    let name = "data_is_stored_once_as_a_file_and_goes_wherever_the_output_goes";
    play(name, async |studio| {
        let browser = studio.browser;
        browser.needs(Capability::StoredFiles)?;
        let prompt = json!({"name": "prompt", "type": "string", "description": "A text."});
        let image = json!({"name": "image", "type": "string", "description": "URL of an image."});
        let parameters = schema(&[prompt], &[image]);
        studio.service.answer("/api/schema/image/plain", &parameters);
        generate_two(studio).await?;
        let found = is_stored(studio, 2, 1).await?;
        is_shown(studio).await?;
        // All views show the file, and none has asked the service once more.
        let asked = |path: &str| studio.service.bodies(path).len();
        let before = (asked("/v2/response-batch"), asked("/v2/response"));
        for path in ["/tasks", "/gallery", "/models/image/plain"] {
            studio.open(path).await?;
            is_shown(studio).await?;
        }
        let after = (asked("/v2/response-batch"), asked("/v2/response"));
        assert_eq!(after, before);

        let task = found["tasks"][0].as_str().ok_or("no task")?;
        studio.open(&format!("/tasks/{task}")).await?;
        browser.press(&by("button", "Download")).await?;
        let file = browser.downloaded(1, ".gif").await?.remove(0);
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
        assert!(sent.contains(&picture()), "the data itself was not sent: {sent:.500}");
        // It is known for what it was made from: two tasks have the picture.
        until("its origin", TIMEOUT, async || {
            let source = |task: &Value| {
                let task = task.as_str().unwrap_or_default();
                format!("\"sources\":[{{\"parameter\":\"image\",\"output\":\"{task}/0\"}}]")
            };
            let sources = [source(&found["tasks"][0]), source(&found["tasks"][1])];
            let texts = stored(studio).await?["starts"].to_string().replace('\\', "");
            Ok(match sources.iter().any(|source| texts.contains(source)) {
                true => Seen::Yes(()),
                false => Seen::NotYet(texts.chars().take(3_000).collect::<String>()),
            })
        })
        .await
    })
    .await;
}

/// Guards against the megabytes that records of earlier releases have, and against files that stay once their tasks are gone.
#[tokio::test(flavor = "multi_thread")]
async fn data_in_earlier_records_becomes_a_file_that_goes_with_its_last_task() {
    let name = "data_in_earlier_records_becomes_a_file_that_goes_with_its_last_task";
    play(name, async |studio| {
        let browser = studio.browser;
        browser.needs(Capability::StoredFiles)?;
        generate_two(studio).await?;
        is_stored(studio, 2, 1).await?;
        // As an earlier release had written it; no page of ours is open meanwhile.
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
            picture()
        );
        studio.script(&put_back).await?;
        let before = stored(studio).await?;
        assert!(before["characters"].as_u64() > Some(3_000_000), "{before}");
        studio.open("/tasks").await?;
        is_stored(studio, 2, 1).await?;
        is_shown(studio).await?;

        for left in [1, 0] {
            let found = stored(studio).await?;
            let task = found["tasks"][0].as_str().ok_or("no task")?;
            studio.open(&format!("/tasks/{task}")).await?;
            browser.press_in_menu(&by("button", "Remove")).await?;
            is_stored(studio, left, left).await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against an exported history without the outputs that only its browser had, and against one that carries the same
/// data once for each task.
#[tokio::test(flavor = "multi_thread")]
async fn data_is_exported_once_and_comes_back_with_the_history() {
    let name = "data_is_exported_once_and_comes_back_with_the_history";
    play(name, async |studio| {
        let browser = studio.browser;
        browser.needs(Capability::StoredFiles)?;
        generate_two(studio).await?;
        is_stored(studio, 2, 1).await?;
        studio.open("/settings").await?;
        browser.press(&by("button", "Export history")).await?;
        let file = browser.downloaded(1, ".zip").await?.remove(0);
        let bytes = std::fs::metadata(&file)?.len();
        assert!((1_200_036..1_300_000).contains(&bytes), "{bytes} bytes");

        // No page of ours is open meanwhile: it would write its tasks anew, as it should.
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
        is_stored(studio, 2, 1).await?;
        studio.open("/gallery").await?;
        is_shown(studio).await
    })
    .await;
}

/// Guards against a small picture that is asked for again and again, because it was said once more that there is no copy.
#[tokio::test(flavor = "multi_thread")]
async fn a_small_picture_that_is_gone_is_not_asked_for_again_and_again() {
    let name = "a_small_picture_that_is_gone_is_not_asked_for_again_and_again";
    play(name, async |studio| {
        let address = studio.service.address();
        studio.service.has_outputs(&[format!("{address}/gone.png")]);
        studio.service.answer_raw("/gone.png", 404, "text/plain", "gone".into());
        studio.generate("dusk").await?;
        studio.state("Completed").await?;
        studio.open("/gallery").await?;
        let count = "return (async () => {
            const asked = () => performance.getEntriesByType('resource').filter(it => it.name.endsWith('/gone.png')).length;
            while (!document.querySelector('main .tile .media-gone')) await new Promise(requestAnimationFrame);
            // A page that asks again and again has done so by then.
            for (let turn = 0; turn < 100; turn += 1) await fetch('/outputs/1.svg?' + turn);
            return asked();
        })()";
        let asked = studio.script(count).await?;
        assert!(
            asked.as_u64().is_some_and(|asked| (1..10).contains(&asked)),
            "asked for {asked} times"
        );
        Ok(())
    })
    .await;
}
