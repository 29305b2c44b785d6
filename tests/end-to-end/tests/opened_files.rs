//! Recipes in files: files that the user opens, and files that the page writes.

use std::io::{Cursor, Read};
use std::path::Path;
use std::time::Duration;

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, until, wait_for_value};
use serde_json::{Value, json};

const TIMEOUT: Duration = Duration::from_secs(60);

/// Helpers that make PNG files with chunks, and drop and paste files.
const FILES: &str = "
    const crc = bytes => {
        let sum = -1;
        for (const byte of bytes) {
            sum ^= byte;
            for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
        }
        return (sum ^ -1) >>> 0;
    };
    const number = value => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];
    const chunk = (kind, data) => {
        const content = [...new TextEncoder().encode(kind), ...data];
        return [...number(data.length), ...content, ...number(crc(content))];
    };
    const text = (name, value) => chunk('iTXt', [...new TextEncoder().encode(`${name}\\0\\0\\0\\0\\0${value}`)]);
    const png = async chunks => {
        const canvas = Object.assign(document.createElement('canvas'), { width: 64, height: 48 });
        canvas.getContext('2d').fillRect(8, 8, 32, 32);
        const blob = await new Promise(done => canvas.toBlob(done, 'image/png'));
        const bytes = [...new Uint8Array(await blob.arrayBuffer())];
        // After the signature and the header.
        return new Uint8Array([...bytes.slice(0, 33), ...chunks.flat(), ...bytes.slice(33)]);
    };
    const transfer = file => {
        const data = new DataTransfer();
        data.items.add(file);
        return data;
    };
    const drop = (file, at = document.body) => {
        const event = new DragEvent('drop', { dataTransfer: transfer(file), bubbles: true, cancelable: true });
        return at.dispatchEvent(event);
    };
    const pictureFile = (bytes, name) => new File([bytes], name, { type: 'image/png' });
";

/// Content Credentials in a PNG.
const CREDENTIALS: &str = "chunk('caBX', [0, 0, 0, 16, ...new TextEncoder().encode('jumb'), 0, 0, 0, 8, \
                           ...new TextEncoder().encode('jumd')])";

const A1111: &str = "a red fox, in snow\\nNegative prompt: blurry\\nSteps: 20, Sampler: Euler a, CFG scale: 7, Seed: 4711, \
                     Size: 512x768, Model: foxes_v2";

const STORED_TASKS: &str = "
    return new Promise((done, failed) => {
        const opened = indexedDB.open('atelier');
        opened.onerror = failed;
        opened.onsuccess = () => {
            const count = opened.result.transaction('tasks').objectStore('tasks').count();
            count.onsuccess = () => { opened.result.close(); done(count.result); };
        };
    })";

struct Studio<'a> {
    browser: &'a Browser,
    service: Service,
}

impl Studio<'_> {
    async fn open(&self, path: &str) -> Result<()> {
        let address = format!("{}{path}", self.service.address());
        self.browser.open(&address).await
    }

    async fn run(&self, script: &str) -> Result<Value> {
        let script = format!("{FILES} return (async () => {{ {script} }})()");
        self.browser.run(&script, vec![]).await
    }

    /// Stores a completed task for each of these scripts, which return the bytes of its output.
    async fn store(&self, outputs: &[&str]) -> Result<()> {
        let outputs = outputs.join(", ");
        let script = format!(
            "const outputs = await Promise.all([{outputs}]);
            const model = {{ category: 'image', subcategory: 'tessera' }};
            const task = (bytes, n) => ({{
                key: `made-${{n}}`, account: {{ address: '', uid: 'guest' }}, model, model_name: 'Tessera',
                input: {{ model, values: {{ prompt: 'a quiet harbour', seed: 5, api_key: 'sk-4f1d' }} }},
                created: 1700000000000 + n, finished: 1700000005000 + n, watching: true,
                state: {{ state: 'ready', id: `t${{n}}`,
                    outputs: ['data:image/png;base64,' + btoa(String.fromCharCode(...bytes))] }},
            }});
            return new Promise((done, failed) => {{
                const opened = indexedDB.open('atelier');
                opened.onerror = failed;
                opened.onsuccess = () => {{
                    const transaction = opened.result.transaction('tasks', 'readwrite');
                    const store = transaction.objectStore('tasks');
                    outputs.forEach((bytes, n) => store.put(JSON.stringify(task(bytes, n)), `made-${{n}}`));
                    transaction.oncomplete = () => {{ opened.result.close(); done(true); }};
                    transaction.onabort = failed;
                }};
            }});"
        );
        self.open("/gallery").await?;
        self.browser
            .wait_for_text("No outputs yet.", TIMEOUT)
            .await?;
        self.run(&script).await?;
        self.open("/gallery").await
    }
}

async fn run_steps(name: &str, steps: impl AsyncFnOnce(&Studio<'_>) -> Result<()>) {
    drive(name, async |browser| {
        let service = Service::start_with_site(&["--speed", "0"]).await?;
        let studio = Studio { browser, service };
        browser.set_size(1280, 1400).await?;
        steps(&studio).await
    })
    .await;
}

/// A picture of another program must fill the form, keep what was typed, and submit nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_a1111_picture_fills_a_form() {
    run_steps("a_dropped_a1111_picture_fills_a_form", async |studio| {
        let browser = studio.browser;
        studio.open("/models/image/tessera").await?;
        browser
            .fill(&starting("textbox", "prompt"), "typed before")
            .await?;
        let dropped = format!(
            "return drop(pictureFile(await png([text('parameters', '{A1111}')]), 'fox.png'))"
        );
        let is_left_to_browser = studio.run(&dropped).await?;
        assert_eq!(
            is_left_to_browser,
            json!(false),
            "the browser would leave the page"
        );
        let dialog = browser
            .find_with_limit(&by("dialog", "Open file"), TIMEOUT)
            .await?;
        browser
            .wait_for_text(
                "Generated with Stable Diffusion web UI, with the model foxes_v2.",
                TIMEOUT,
            )
            .await?;
        browser
            .wait_for_text("This model has no negative_prompt", TIMEOUT)
            .await?;
        browser
            .find(&by("list", "What does not fit").within(&dialog))
            .await?;
        browser
            .find(&by("combobox", "Model").within(&dialog))
            .await?;
        browser.press(&starting("button", "Open in ")).await?;
        browser.wait_until_gone(&by("dialog", "Open file")).await?;
        let prompt = "return document.querySelector('form[aria-label=Input] textarea')?.value";
        wait_for_value(browser, "the prompt", prompt, "a red fox, in snow").await?;
        browser.wait_for_text("Seed 4711 fixed", TIMEOUT).await?;
        let tasks = studio.browser.run(STORED_TASKS, vec![]).await?;
        assert_eq!(tasks, json!(0), "it was submitted");
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn opening_a_file_keeps_what_was_typed() {
    run_steps("opening_a_file_keeps_what_was_typed", async |studio| {
        let browser = studio.browser;
        studio.open("/models/image/tessera").await?;
        browser
            .fill(&starting("textbox", "prompt"), "typed before")
            .await?;
        let own = "{\"model\":\"image/tessera\",\"inputs\":{\"prompt\":\"from the file\"}}";
        studio
            .run(&format!(
                "drop(pictureFile(await png([text('atelier', '{own}')]), 'own.png'))"
            ))
            .await?;
        browser
            .wait_for_text("Everything fits Tessera.", TIMEOUT)
            .await?;
        browser.press(&by("button", "Open in Tessera")).await?;
        let prompt = "return document.querySelector('form[aria-label=Input] textarea')?.value";
        wait_for_value(browser, "the prompt", prompt, "from the file").await?;
        browser
            .press(&by("button", "Restore previous input"))
            .await?;
        wait_for_value(browser, "the prompt", prompt, "typed before").await
    })
    .await;
}

/// The file has a workflow and Content Credentials.
#[tokio::test(flavor = "multi_thread")]
async fn a_chosen_comfyui_picture_is_opened() {
    run_steps("a_chosen_comfyui_picture_is_opened", async |studio| {
        let browser = studio.browser;
        let workflow = json!({
            "3": {"class_type": "KSampler", "inputs": {"seed": 77, "steps": 20, "cfg": 8, "sampler_name": "euler",
                "positive": ["6", 0], "model": ["4", 0], "latent_image": ["5", 0]}},
            "4": {"class_type": "CheckpointLoaderSimple", "inputs": {"ckpt_name": "foxes.safetensors"}},
            "5": {"class_type": "EmptyLatentImage", "inputs": {"width": 512, "height": 512}},
            "6": {"class_type": "CLIPTextEncode", "inputs": {"text": "a fox of glass"}}
        });
        studio.open("/gallery").await?;
        browser.press(&by("button", "Open file")).await?;
        let bytes = studio
            .run(&format!("return [...await png([text('prompt', '{workflow}'), {CREDENTIALS}])]"))
            .await?;
        let bytes: Vec<u8> = serde_json::from_value(bytes)?;
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("comfy.png");
        std::fs::write(&file, bytes)?;
        browser.choose_file(&by("button", "Choose file"), &file).await?;
        browser
            .wait_for_text("Generated with ComfyUI, with the model foxes.", TIMEOUT)
            .await?;
        browser
            .wait_for_text("This file carries Content Credentials", TIMEOUT)
            .await?;
        browser.press(&starting("button", "Open in ")).await?;
        let prompt = "return document.querySelector('form[aria-label=Input] textarea')?.value";
        wait_for_value(browser, "the prompt", prompt, "a fox of glass").await
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_without_a_recipe_can_be_used_as_an_input() {
    run_steps("a_file_without_a_recipe", async |studio| {
        let browser = studio.browser;
        studio.open("/").await?;
        browser.find(&by("link", "Gallery")).await?;
        browser.wait_until_started().await?;
        studio.run("drop(new File(['words'], 'notes.bin'))").await?;
        browser
            .wait_for_text("the file does not say how it was generated", TIMEOUT)
            .await?;
        studio
            .run("drop(pictureFile(await png([]), 'plain.png'), document.querySelector('dialog.open-file'))")
            .await?;
        browser.wait_for_text("plain.png", TIMEOUT).await?;
        browser.press(&starting("button", "Repaint")).await?;
        browser.wait_for_text("plain.png, 64 × 48 px", TIMEOUT).await
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_several_dropped_files_is_opened() {
    run_steps("one_of_several_dropped_files", async |studio| {
        let browser = studio.browser;
        studio.open("/").await?;
        browser.find(&by("link", "Gallery")).await?;
        browser.wait_until_started().await?;
        studio
            .run(
                "const dataTransfer = transfer(pictureFile(await png([]), 'first.png'));
                dataTransfer.items.add(pictureFile(await png([]), 'second.png'));
                document.body.dispatchEvent(
                    new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));",
            )
            .await?;
        browser
            .wait_for_text("Only one of 2 files is opened: first.png.", TIMEOUT)
            .await?;
        let focused = "return document.activeElement.getAttribute('aria-label')";
        wait_for_value(browser, "the focus", focused, "Choose file").await
    })
    .await;
}

async fn download(studio: &Studio<'_>, count: usize) -> Result<Vec<Vec<u8>>> {
    let paths = studio.browser.wait_for_downloads(count, ".png").await?;
    paths.iter().map(|path| Ok(std::fs::read(path)?)).collect()
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|part| part == text.as_bytes())
}

/// A change would invalidate the credentials.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_with_content_credentials_is_downloaded_unchanged() {
    run_steps("a_file_with_content_credentials", async |studio| {
        let browser = studio.browser;
        let script = format!("png([{CREDENTIALS}])");
        let original = studio_bytes(studio, &script).await?;
        studio.store(&[&script]).await?;
        open_largest(studio).await?;
        browser
            .wait_for_text("This file carries Content Credentials", TIMEOUT)
            .await?;
        press_download(studio).await?;
        assert_eq!(download(studio, 1).await?[0], original);
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn downloaded_files_contain_the_inputs_without_secrets() {
    run_steps("downloaded_files_contain_the_inputs", async |studio| {
        let script = "png([])";
        let original = studio_bytes(studio, script).await?;
        studio.store(&[script]).await?;
        open_largest(studio).await?;
        press_download(studio).await?;
        let changed = download(studio, 1).await?.remove(0);
        assert!(contains(&changed, "a quiet harbour") && contains(&changed, "image/tessera"));
        assert!(!contains(&changed, "sk-4f1d"), "it contains a secret");
        studio.open("/settings").await?;
        studio
            .browser
            .press(&by("checkbox", "Write inputs into downloaded files"))
            .await?;
        studio.open("/gallery").await?;
        open_largest(studio).await?;
        press_download(studio).await?;
        // Chromium may replace the first file, because both have the same name.
        until("the unchanged file", TIMEOUT, async || {
            let mut files = std::fs::read_dir(studio.browser.downloads())?;
            let is_unchanged = files.any(|file| {
                let bytes = file.and_then(|file| std::fs::read(file.path()));
                bytes.is_ok_and(|bytes| bytes == original)
            });
            Ok(match is_unchanged {
                true => Seen::Yes(()),
                false => Seen::NotYet("no file is the unchanged one".into()),
            })
        })
        .await?;
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_in_an_archive_are_named_by_the_pattern() {
    run_steps(
        "files_in_an_archive_are_named_by_the_pattern",
        async |studio| {
            let browser = studio.browser;
            studio.store(&["png([])", "png([])"]).await?;
            studio.open("/settings").await?;
            browser
                .press(&by("checkbox", "Name files by a pattern"))
                .await?;
            let pattern = by("textbox", "File name pattern");
            browser.fill(&pattern, "{model} {sed}").await?;
            browser
                .wait_for_text("Unknown placeholder {sed}: use {date}", TIMEOUT)
                .await?;
            browser.fill(&pattern, "{model} {prompt} ({seed})").await?;
            browser
                .wait_for_text("Example: tessera a-lighthouse-at-dusk (42).png", TIMEOUT)
                .await?;
            studio.open("/gallery").await?;
            browser.wait_for_text("2 outputs", TIMEOUT).await?;
            let focus = "document.querySelector('[data-output]').focus()";
            browser.run(focus, vec![]).await?;
            let focused = browser.client.active_element().await?;
            focused.send_keys("\u{e009}a").await?;
            let bar = browser.find(&by("region", "Selection")).await?;
            browser
                .press(&by("button", "Download").within(&bar))
                .await?;
            let saved = browser.wait_for_downloads(1, ".zip").await?.remove(0);
            let files = unzip(&saved)?;
            let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
            let expected = [
                "tessera a-quiet-harbour (5).png",
                "tessera a-quiet-harbour (5)-2.png",
                "recipes.json",
            ];
            assert_eq!(names, expected);
            assert!(contains(&files[0].1, "image/tessera"), "it has no inputs");
            Ok(())
        },
    )
    .await;
}

fn unzip(path: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    let mut archive = zip::ZipArchive::new(Cursor::new(std::fs::read(path)?))?;
    let mut files = Vec::new();
    for at in 0..archive.len() {
        let mut file = archive.by_index(at)?;
        let mut content = Vec::new();
        file.read_to_end(&mut content)?;
        files.push((file.name()?.into_owned(), content));
    }
    Ok(files)
}

async fn studio_bytes(studio: &Studio<'_>, script: &str) -> Result<Vec<u8>> {
    studio.open("/gallery").await?;
    let bytes = studio.run(&format!("return [...await {script}]")).await?;
    Ok(serde_json::from_value(bytes)?)
}

/// Opens the first output in the lightbox.
async fn open_largest(studio: &Studio<'_>) -> Result<()> {
    let browser = studio.browser;
    let tile = "return document.querySelectorAll('[data-output]').length";
    wait_for_value(browser, "the output", tile, 1).await?;
    browser
        .run("document.querySelector('[data-output]').focus()", vec![])
        .await?;
    let focused = browser.client.active_element().await?;
    focused.send_keys("\u{e007}").await?;
    browser
        .find_with_limit(&by("complementary", "About this output"), TIMEOUT)
        .await?;
    Ok(())
}

async fn press_download(studio: &Studio<'_>) -> Result<()> {
    let panel = by("complementary", "About this output");
    let panel = studio.browser.find(&panel).await?;
    let button = by("button", "Download").within(&panel);
    studio.browser.press(&button).await
}
