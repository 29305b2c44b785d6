//! Files of the user's own as the input of a model.

use crate::studio::{Studio, TIMEOUT, run_steps};
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::{Call, Fault, Rule};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::models_file::{ModelsFile, PICTURES};
use atelier_end_to_end::site;
use atelier_end_to_end::wait::{wait_for_match, wait_for_value};
use serde_json::Value;

pub(crate) const PAGE: &str = "/models/image/repaint";
pub(crate) const UPLOADS: &str = "/v2/uploads";

/// Helpers that make files and give them to the field, as a file dialog, a drop and a paste do.
const FILES: &str = "
    const picture = async name => {
        const canvas = Object.assign(document.createElement('canvas'), { width: 64, height: 48 });
        const context = canvas.getContext('2d');
        context.fillStyle = `hsl(${[...name].reduce((sum, it) => sum + it.charCodeAt(0), 0)} 80% 50%)`;
        context.fillRect(8, 8, 32, 32);
        const content = await new Promise(done => canvas.toBlob(done, 'image/png'));
        return new File([content], name, { type: 'image/png' });
    };
    // It can hardly be compressed.
    const noise = async name => {
        const canvas = Object.assign(document.createElement('canvas'), { width: 1200, height: 900 });
        const context = canvas.getContext('2d');
        const pixels = context.createImageData(1200, 900);
        pixels.data.forEach((_, at) => (pixels.data[at] = at % 4 === 3 ? 255 : Math.random() * 256));
        context.putImageData(pixels, 0, 0);
        const content = await new Promise(done => canvas.toBlob(done, 'image/png'));
        return new File([content], name, { type: 'image/png' });
    };
    const transfer = files => {
        const data = new DataTransfer();
        files.forEach(file => data.items.add(file));
        return data;
    };
    const choose = file => {
        const input = document.querySelector('.own-file input');
        input.files = transfer([file]).files;
        input.dispatchEvent(new Event('change', { bubbles: true }));
    };
    const drag = (type, files) => document.querySelector('.media-field').dispatchEvent(
        new DragEvent(type, { dataTransfer: transfer(files), bubbles: true, cancelable: true }));
    const dropLink = address => {
        const dataTransfer = new DataTransfer();
        dataTransfer.setData('text/uri-list', address);
        document.querySelector('.media-field').dispatchEvent(
            new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
    };
    const paste = files => document.body.dispatchEvent(
        new ClipboardEvent('paste', { clipboardData: transfer(files), bubbles: true, cancelable: true }));
";

pub(crate) const VALUE: &str = "
    const group = [...document.querySelectorAll('[role=group]')].find(it => it.matches('.media-field'));
    return group?.querySelector('input[type=text]').value";

/// The width of the picture in the field.
const COPY_WIDTH: &str = "
    const image = new Image();
    image.src = document.querySelector('.media-field input[type=text]').value;
    return image.decode().then(() => image.naturalWidth)";

pub(crate) const CANCEL: &str = "Cancel upload";

/// Opens the page of a model that takes an image.
pub(crate) async fn open(studio: &Studio<'_>) -> Result<()> {
    let browser = studio.browser;
    browser.open(&studio.address(PAGE)).await?;
    browser.find(&by("heading", "Repaint")).await?;
    browser.find(&by("group", "image_url")).await?;
    Ok(())
}

pub(crate) async fn hand(studio: &Studio<'_>, script: &str) -> Result<Value> {
    studio.run_script(&format!("{FILES} {script}")).await
}

/// Chooses a picture of this name.
pub(crate) async fn choose(studio: &Studio<'_>, name: &str) -> Result<()> {
    hand(studio, &format!("choose(await picture('{name}'))")).await?;
    Ok(())
}

pub(crate) fn count(studio: &Studio<'_>) -> usize {
    studio.proxy.calls_to(UPLOADS).len()
}

/// Waits until the field has the address of an upload, and returns it.
pub(crate) async fn uploaded(studio: &Studio<'_>) -> Result<Value> {
    let is_upload = |value: &Value| value.as_str().is_some_and(|it| it.contains("/outputs/"));
    wait_for_match(studio.browser, "an upload in the field", VALUE, is_upload).await?;
    studio.browser.run(VALUE, vec![]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chosen_file_is_uploaded_once_and_used() {
    run_steps("a_chosen_file", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        open(studio).await?;
        let file = site::repository()
            .join("public/icon-192.png")
            .canonicalize()?;
        browser
            .choose_file(&by("button", "Choose file"), &file)
            .await?;
        let address = uploaded(studio).await?;
        browser
            .wait_for_text("icon-192.png, 192 × 192 px", TIMEOUT)
            .await?;
        studio.type_prompt("a brass lamp").await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .find_with_limit(&by("button", "Run again"), TIMEOUT)
            .await?;
        let sent = "
            return new Promise((done, failed) => {
                const opened = indexedDB.open('atelier');
                opened.onerror = failed;
                opened.onsuccess = () => {
                    const all = opened.result.transaction('tasks').objectStore('tasks').getAll();
                    all.onsuccess = () => {
                        opened.result.close();
                        const text = JSON.stringify(all.result).replaceAll('\\\\', '');
                        done(/\"image_url\":\"([^\"]*)\"/.exec(text)?.[1] ?? text);
                    };
                };
            })";
        wait_for_value(browser, "the submitted address", sent, address.clone()).await?;

        browser.press(&by("button", "Remove")).await?;
        wait_for_value(browser, "the removed address", VALUE, "").await?;
        browser
            .choose_file(&by("button", "Choose file"), &file)
            .await?;
        assert_eq!(uploaded(studio).await?, address);
        browser.find(&by("button", "Replace")).await?;
        assert_eq!(count(studio), 1, "the same file was sent again");
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dropped_and_pasted_files_are_uploaded() {
    run_steps("dropped_and_pasted", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        open(studio).await?;
        let over = "return document.querySelectorAll('.dragged-over').length";
        hand(studio, "drag('dragover', [await picture('a.png')])").await?;
        wait_for_value(browser, "the highlight", over, 1).await?;
        hand(
            studio,
            "drag('drop', [await picture('a.png'), await picture('b.png')])",
        )
        .await?;
        wait_for_value(browser, "no highlight", over, 0).await?;
        let first = uploaded(studio).await?;
        browser.wait_for_text("a.png, 64 × 48 px", TIMEOUT).await?;
        browser
            .wait_for_text("Only one of 2 files is used: a.png.", TIMEOUT)
            .await?;
        browser.press(&by("button", "Remove")).await?;
        wait_for_value(browser, "the removed address", VALUE, "").await?;
        hand(
            studio,
            "document.activeElement.blur(); paste([await picture('c.png')])",
        )
        .await?;
        assert_ne!(uploaded(studio).await?, first);
        browser.wait_for_text("c.png, 64 × 48 px", TIMEOUT).await?;
        assert_eq!(count(studio), 2);
        let link = "https://files.example/link.png";
        hand(studio, &format!("dropLink('{link}')")).await?;
        wait_for_value(browser, "the dropped link", VALUE, link).await?;
        // The first file that fits is used.
        hand(studio, "drag('drop', [new File(['words'], 'b.txt', { type: 'text/plain' }), await picture('d.png')])").await?;
        browser.wait_for_text("Only one of 2 files is used: d.png.", TIMEOUT).await?;
        uploaded(studio).await?;
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_file_is_explained_and_the_address_stays() {
    run_steps("a_refused_file", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        open(studio).await?;
        let typed = "https://files.example/cat.png";
        browser.fill(&starting("textbox", "image_url"), typed).await?;
        hand(studio, "choose(new File(['words'], 'notes.txt', { type: 'text/plain' }))").await?;
        let message = "notes.txt is text/plain, but image_url takes an image. Choose an image, or enter an address.";
        browser.wait_for_text(message, TIMEOUT).await?;
        assert_eq!(count(studio), 0, "it was sent");
        // Only the service reads the content.
        hand(studio, "choose(new File(['words'], 'words.png', { type: 'image/png' }))").await?;
        browser.wait_for_text("Accepted types", TIMEOUT).await?;
        assert!(browser.find_all(&by("button", "Try again")).await?.is_empty());
        assert_eq!(count(studio), 1);
        wait_for_value(browser, "the address", VALUE, typed).await
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_is_lost_twice_is_retried() {
    run_steps(
        "an_upload_that_is_lost",
        &["--speed", "0"],
        async |studio| {
            open(studio).await?;
            studio.proxy.add(Rule::next(1, UPLOADS, Fault::DropBefore));
            studio.proxy.add(Rule::next(1, UPLOADS, Fault::DropAfter));
            choose(studio, "cat.png").await?;
            uploaded(studio).await?;
            assert_eq!(count(studio), 3);
            Ok(())
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_canceled_upload_leaves_the_address() {
    run_steps("a_canceled_upload", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        open(studio).await?;
        browser.run(COUNT_CALLS, vec![]).await?;
        let typed = "https://files.example/cat.png";
        browser
            .fill(&starting("textbox", "image_url"), typed)
            .await?;
        studio.proxy.add(Rule::every(UPLOADS, Fault::Hold));
        choose(studio, "dog.png").await?;
        browser
            .find(&by("progressbar", "Upload of dog.png"))
            .await?;
        browser.press(&by("button", CANCEL)).await?;
        browser
            .wait_for_text("The upload of dog.png was canceled.", TIMEOUT)
            .await?;
        release(studio).await?;
        wait_for_value(browser, "the address", VALUE, typed).await?;
        // What the user types counts more than an upload that is running.
        studio.proxy.add(Rule::every(UPLOADS, Fault::Hold));
        choose(studio, "bird.png").await?;
        browser.find(&by("button", CANCEL)).await?;
        let other = "https://files.example/bird.png";
        browser
            .fill(&starting("textbox", "image_url"), other)
            .await?;
        browser.wait_until_gone(&by("button", CANCEL)).await?;
        release(studio).await?;
        wait_for_value(browser, "the address", VALUE, other).await
    })
    .await;
}

/// Counts the uploads that have neither a reply nor been aborted.
pub(crate) const COUNT_CALLS: &str = "
    window.callsInFlight = 0;
    const send = XMLHttpRequest.prototype.send;
    XMLHttpRequest.prototype.send = function (...body) {
        window.callsInFlight += 1;
        this.addEventListener('loadend', () => (window.callsInFlight -= 1));
        return send.apply(this, body);
    };";

/// Releases the held uploads, and waits until each has ended, so that a late reply can't be missed.
pub(crate) async fn release(studio: &Studio<'_>) -> Result<()> {
    studio.proxy.clear();
    let in_flight = "return window.callsInFlight";
    wait_for_value(studio.browser, "the end of the uploads", in_flight, 0).await
}

#[tokio::test(flavor = "multi_thread")]
async fn generate_waits_for_an_upload_and_submits_once() {
    run_steps(
        "generate_waits_for_an_upload",
        &["--speed", "0"],
        async |studio| {
            let browser = studio.browser;
            open(studio).await?;
            studio.type_prompt("once").await?;
            let wait = async |name: &str, file: &str| -> Result<()> {
                studio.proxy.add(Rule::every(UPLOADS, Fault::Hold));
                hand(studio, &format!("choose({file})")).await?;
                browser.find(&by("button", CANCEL)).await?;
                browser.press(&by("button", "Generate")).await?;
                let message = format!("Waiting for the upload of {name}. Generate follows.");
                browser.wait_for_text(&message, TIMEOUT).await
            };
            wait("cat.png", "await picture('cat.png')").await?;
            browser.press(&by("button", "Generate")).await?;
            assert!(studio.sent_prompts().is_empty(), "it did not wait");
            studio.proxy.clear();
            studio.wait_for_sent(1).await?;
            browser
                .find_with_limit(&by("button", "Run again"), TIMEOUT)
                .await?;

            wait("dog.png", "await picture('dog.png')").await?;
            let form = browser.find(&by("form", "Input")).await?;
            browser.press(&by("button", "Cancel").within(&form)).await?;
            studio.proxy.clear();
            browser
                .wait_for_text("dog.png, 64 × 48 px", TIMEOUT)
                .await?;

            // Guards against an input that is submitted although Generate was pressed for another one.
            wait("owl.png", "await picture('owl.png')").await?;
            studio.type_prompt("changed").await?;
            studio.proxy.clear();
            browser
                .wait_for_text("Not sent: the input or the account changed", TIMEOUT)
                .await?;

            // Guards against a task that is paid for with the file from before.
            wait("emu.png", "await picture('emu.png')").await?;
            hand(
                studio,
                "choose(new File([], 'zero.png', { type: 'image/png' }))",
            )
            .await?;
            browser
                .wait_for_text(
                    "Not sent: zero.png could not be uploaded. zero.png is empty",
                    TIMEOUT,
                )
                .await?;
            studio.proxy.clear();

            // Guards against an empty form that is submitted after "Clear form".
            wait("ant.png", "await picture('ant.png')").await?;
            browser.press(&by("button", "Clear form")).await?;
            browser.wait_until_gone(&by("button", CANCEL)).await?;
            studio.proxy.clear();
            studio.type_prompt("broken").await?;

            let broken = "new File(['words'], 'words.png', { type: 'image/png' })";
            wait("words.png", broken).await?;
            studio.proxy.clear();
            browser
                .wait_for_text("Not sent: words.png could not be uploaded.", TIMEOUT)
                .await?;
            assert_eq!(studio.sent_prompts(), ["once"]);
            assert_eq!(studio.stored_tasks().await?, 1);
            Ok(())
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_continues_while_another_page_is_shown() {
    run_steps("an_upload_continues", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        open(studio).await?;
        studio.proxy.add(Rule::every(UPLOADS, Fault::Hold));
        choose(studio, "cat.png").await?;
        browser.find(&by("button", CANCEL)).await?;
        browser.press(&starting("link", "Tasks")).await?;
        browser.find(&by("heading", "Tasks")).await?;
        studio.proxy.clear();
        let is_done = |calls: &[Call]| {
            calls
                .iter()
                .any(|call| call.path == UPLOADS && call.status == Some(200))
        };
        studio.sees("the upload's reply", is_done).await?;
        browser.run("history.back()", vec![]).await?;
        uploaded(studio).await?;
        assert_eq!(count(studio), 1);
        Ok(())
    })
    .await;
}

/// The choice of the size of copies.
const SIDE: &str = "Longest side of copies";

#[tokio::test(flavor = "multi_thread")]
async fn a_service_without_uploads_takes_addresses_only() {
    let models = ModelsFile::new(PICTURES).expect("written");
    let arguments = [
        "--speed",
        "0",
        "--upload-limit",
        "off",
        "--models",
        models.path(),
    ];
    run_steps("a_service_without_uploads", &arguments, async |studio| {
        let browser = studio.browser;
        let embed = by("button", "Put a smaller copy into the request");
        open(studio).await?;
        choose(studio, "cat.png").await?;
        browser
            .wait_for_text("This service takes addresses only", TIMEOUT)
            .await?;
        wait_for_value(browser, "the field", VALUE, "").await?;
        // The parameter is too short for a picture.
        assert!(browser.find_all(&embed).await?.is_empty());

        studio.open("/models/image/frame").await?;
        browser.find(&by("group", "image_url")).await?;
        hand(
            studio,
            "choose(new File(['x'], 'a.mp4', { type: 'video/mp4' }))",
        )
        .await?;
        browser
            .wait_for_text("a.mp4 is video/mp4, but image_url takes an image.", TIMEOUT)
            .await?;
        assert!(browser.find_all(&embed).await?.is_empty());
        choose(studio, "cat.png").await?;
        browser.press(&embed).await?;
        browser
            .wait_for_text("cat.png, 64 × 48 px", TIMEOUT)
            .await?;
        let is_data = |value: &Value| {
            value
                .as_str()
                .is_some_and(|it| it.starts_with("data:image/png;base64,"))
        };
        wait_for_match(browser, "the picture in the field", VALUE, is_data).await?;

        hand(studio, "choose(await noise('noise.png'))").await?;
        browser.press(&embed).await?;
        browser.wait_for_text("noise.png, ", TIMEOUT).await?;
        let is_smaller = |value: &Value| {
            let length = value.as_str().map_or(0, str::len);
            (10_000..=700_000).contains(&length)
        };
        wait_for_match(browser, "a copy that fits", VALUE, is_smaller).await?;

        // Guards against copies whose size the user can't choose.
        hand(studio, "choose(await noise('small.png'))").await?;
        let side = browser.find(&by("combobox", SIDE)).await?;
        assert_eq!(side.prop("value").await?.as_deref(), Some(""));
        side.select_by_value("512").await?;
        browser.press(&embed).await?;
        browser
            .wait_for_text("small.png, 512 × 384 px", TIMEOUT)
            .await?;
        wait_for_value(browser, "the width of the copy", COPY_WIDTH, 512).await?;
        browser.reload().await?;
        studio.wait_until_open().await?;
        hand(studio, "choose(await noise('again.png'))").await?;
        browser.find(&embed).await?;
        let side = browser.find(&by("combobox", SIDE)).await?;
        assert_eq!(side.prop("value").await?.as_deref(), Some("512"));

        browser
            .open(&studio.address("/models/image/collage"))
            .await?;
        browser.find(&by("group", "images")).await?;
        hand(studio, "choose(await noise('item.png'))").await?;
        // Each model has its own choice.
        let side = browser.find(&by("combobox", SIDE)).await?;
        assert_eq!(side.prop("value").await?.as_deref(), Some(""));
        side.select_by_value("768").await?;
        browser.press(&embed).await?;
        browser.wait_for_text("768 × 576 px", TIMEOUT).await?;
        assert_eq!(count(studio), 0);

        // Guards against copies that each fit into a request, but not together: the service refuses it.
        hand(
            studio,
            "drag('drop', [await noise('second.png'), await noise('third.png')])",
        )
        .await?;
        let press_all = "
            const buttons = [...document.querySelectorAll('button')];
            const embed = buttons.filter(it => it.textContent.includes('Put a smaller copy into the request'));
            if (embed.length === 2) embed.forEach(it => it.click());
            return embed.length";
        wait_for_value(browser, "the offers of both items", press_all, 2).await?;
        let sizes = r"return (document.body.innerText.match(/ × \d+ px/g) ?? []).length";
        wait_for_value(browser, "the copies in the list", sizes, 3).await?;
        browser.press(&by("button", "Generate")).await?;
        let is_accepted = |calls: &[Call]| {
            let mut calls = calls.iter();
            calls.any(|call| call.path == "/v2/generate" && call.status == Some(200))
        };
        studio.sees("the accepted task", is_accepted).await
    })
    .await;
}
