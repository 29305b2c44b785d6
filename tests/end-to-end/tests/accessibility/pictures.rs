//! The dialogs for files and pictures of the user's own, and a list of media.

use std::fs;

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::models_file::ModelsFile;
use atelier_end_to_end::service::Service;
use atelier_end_to_end::site::repository;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::wait_for_value;

use super::{Examination, TIMEOUT, emulate_phone, find_small_targets};

const MODELS: &str = r#"
[[model]]
category = "image"
subcategory = "inpaint"
name = "Inpaint"
description = "Changes a part of a picture."
makes = "image"

[model.command]
program = "./draw.sh"

[[model.parameter]]
name = "image"
type = "string"
description = "The picture"

[[model.parameter]]
name = "mask"
type = "string"
description = "White is what changes"

[[model.parameter]]
name = "images"
type = "array"
"#;

const PAGE: &str = "/models/image/inpaint";

/// Describes the items of the list in the replies that the page gets: model files can't.
const ITEMS: &str = "
    const fetched = window.fetch;
    window.fetch = async (...all) => {
        const reply = await fetched(...all);
        if (!reply.url.includes('/api/schema/image/inpaint')) return reply;
        const body = await reply.json();
        Object.assign(body.data.parameters.optional.find(it => it.name === 'images'),
            { items: { type: 'string', format: 'uri' } });
        return new Response(JSON.stringify(body), { status: 200, headers: { 'Content-Type': 'application/json' } });
    };";

/// Helpers that make pictures and choose them in a field. The names are long words.
const FILES: &str = "
    const picture = async name => {
        const canvas = Object.assign(document.createElement('canvas'), { width: 400, height: 200 });
        const context = canvas.getContext('2d');
        context.fillStyle = 'teal';
        context.fillRect(0, 0, 400, 200);
        const content = await new Promise(done => canvas.toBlob(done, 'image/png'));
        return new File([content], `${name.repeat(30)}.png`, { type: 'image/png' });
    };
    const transfer = files => {
        const data = new DataTransfer();
        files.forEach(file => data.items.add(file));
        return data;
    };
    const choose = (field, files) => {
        const input = document.querySelectorAll('.own-file input[type=file]')[field];
        input.files = transfer(files).files;
        input.dispatchEvent(new Event('change', { bubbles: true }));
    };
    // A picture with the parameters that Stable Diffusion web UI writes.
    const generated = async () => {
        const crc = bytes => {
            let sum = -1;
            for (const byte of bytes) {
                sum ^= byte;
                for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
            }
            return (sum ^ -1) >>> 0;
        };
        const number = value => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];
        const file = await picture('fox');
        const bytes = [...new Uint8Array(await file.arrayBuffer())];
        const parameters = `${'fox'.repeat(99)}\\nNegative prompt: blurry\\nSteps: 20, Sampler: Euler a, Seed: 4711, Model: foxes`;
        const chunk = [...new TextEncoder().encode(`iTXtparameters\\0\\0\\0\\0\\0${parameters}`)];
        const length = number(chunk.length - 4);
        // After the signature and the header.
        const all = [...bytes.slice(0, 33), ...length, ...chunk, ...number(crc(chunk)), ...bytes.slice(33)];
        return new File([new Uint8Array(all)], file.name, { type: 'image/png' });
    };";

/// Returns how much the dialog in front is wider than its visible part.
const DIALOG_TOO_WIDE: &str = "
    const dialog = document.querySelector('dialog:modal');
    return dialog ? Math.max(0, dialog.scrollWidth - dialog.clientWidth) : 0";

/// Scrolls to the end of the page, and returns the distance between the form and the bottom of the screen.
const FORM_ABOVE_BOTTOM: &str = "
    scrollTo(0, document.documentElement.scrollHeight);
    const form = document.querySelector('form[aria-label=Input]').getBoundingClientRect();
    return Math.floor(innerHeight - form.bottom)";

/// Starts the service with the model.
async fn start() -> Result<(ModelsFile, Service)> {
    let models = ModelsFile::new(MODELS)?;
    let service = Service::start_with_site(&["--speed", "0", "--models", models.path()]).await?;
    Ok((models, service))
}

async fn run_script(browser: &Browser, script: &str) -> Result<()> {
    let script = format!("{FILES} return (async () => {{ {script} }})()");
    browser.run(&script, vec![]).await?;
    Ok(())
}

/// Makes an output, and leaves the form: on a phone, its sheet has an entry in the history.
async fn create_output(browser: &Browser, address: &str) -> Result<()> {
    // The whole form is visible: axe ignores labels that are scrolled out of view.
    browser.set_size(1280, 2000).await?;
    browser
        .open(&format!("{address}/models/image/strata"))
        .await?;
    browser.fill(&starting("textbox", "prompt"), "lake").await?;
    browser.press(&by("button", "Generate")).await?;
    browser.wait_for_text("Completed", TIMEOUT).await?;
    browser.open(&format!("{address}/tasks")).await?;
    browser.find(&by("list", "Tasks")).await?;
    Ok(())
}

/// Goes through the states, and calls `check` with the name of each.
async fn visit(
    browser: &Browser,
    address: &str,
    mut check: impl AsyncFnMut(&str) -> Result<()>,
) -> Result<()> {
    browser.before_each_page(ITEMS).await?;
    browser.open(&format!("{address}{PAGE}")).await?;
    browser.find(&by("form", "Input")).await?;
    // On a phone, the fields are folded.
    run_script(
        browser,
        "document.querySelector('.more-fields')?.setAttribute('open', '')",
    )
    .await?;
    browser.find(&by("group", "images")).await?;
    run_script(
        browser,
        "choose(0, [await picture('lake')]);
        choose(2, [await picture('hill'), await picture('wood'), new File(['words'], 'words.png', { type: 'image/png' })])",
    )
    .await?;
    let done = "return document.querySelectorAll('.media-item').length === 3
        && document.querySelectorAll('.media-item .problem:not(:empty)').length === 1
        && !document.querySelector('.own-file progress')
        && document.querySelector('.media-field > input[type=text]').value.includes('/outputs/')";
    wait_for_value(browser, "two uploaded items and a failed one", done, true).await?;
    check("a list of media").await?;

    browser.press(&by("button", "Draw mask")).await?;
    browser.find(&by("dialog", "Mask")).await?;
    browser.wait_for_text(" painted.", TIMEOUT).await?;
    browser.press(&by("button", "Done")).await?;
    browser
        .wait_for_text("Nothing is painted.", TIMEOUT)
        .await?;
    check("Mask").await?;
    browser.press(&by("button", "Cancel")).await?;
    browser.wait_until_gone(&by("dialog", "Mask")).await?;

    browser.press(&by("button", "Edit")).await?;
    browser.find(&by("dialog", "Edit picture")).await?;
    browser.wait_for_text("Result: ", TIMEOUT).await?;
    check("Edit picture").await?;
    browser.press(&by("button", "Cancel")).await?;
    browser
        .wait_until_gone(&by("dialog", "Edit picture"))
        .await?;

    let images = browser.find(&by("group", "images")).await?;
    browser
        .press(&by("button", "From gallery").within(&images))
        .await?;
    browser.press(&starting("option", "Image: lake")).await?;
    browser.find(&by("button", "Add 1 item")).await?;
    check("From gallery").await?;
    browser.press(&by("button", "Close")).await?;
    browser
        .wait_until_gone(&by("dialog", "From gallery"))
        .await?;

    run_script(
        browser,
        "document.body.dispatchEvent(new DragEvent('drop', {
            dataTransfer: transfer([await generated()]), bubbles: true, cancelable: true }))",
    )
    .await?;
    browser
        .find_with_limit(&by("dialog", "Open file"), TIMEOUT)
        .await?;
    browser.find(&starting("button", "Open in ")).await?;
    check("Open file").await?;
    run_script(
        browser,
        "document.querySelector('dialog.open-file').dispatchEvent(new DragEvent('drop', {
            dataTransfer: transfer([await picture('plain')]), bubbles: true, cancelable: true }))",
    )
    .await?;
    browser.find(&by("button", "Inpaint · image")).await?;
    check("Open file, without a recipe").await
}

/// Guards against missing accessible names and insufficient contrast in the dialogs.
#[tokio::test(flavor = "multi_thread")]
async fn axe_finds_nothing_in_dialogs_for_own_pictures() {
    drive(
        "axe_finds_nothing_in_dialogs_for_own_pictures",
        async |browser| {
            let (_folder, service) = start().await?;
            let address = service.address();
            let axe = repository().join(".tools/npm/node_modules/axe-core/axe.min.js");
            let mut examination = Examination {
                browser,
                address: address.clone(),
                axe: fs::read_to_string(axe)?,
                found: Vec::new(),
            };
            create_output(browser, &address).await?;
            visit(browser, &address, async |state| {
                examination.examine(state).await
            })
            .await?;
            let found = examination.found.join("\n");
            assert!(found.is_empty(), "{found}");
            Ok(())
        },
    )
    .await;
}

/// Guards against dialogs that scroll sideways on a phone, such as with a prompt that is one long word, against a form that
/// leaves the bottom of the screen because its hidden elements make the page longer, and against touch targets that are too
/// small.
#[tokio::test(flavor = "multi_thread")]
async fn dialogs_for_own_pictures_fit_phone_width_and_touch_target_size() {
    drive(
        "dialogs_for_own_pictures_fit_phone_width",
        async |browser| {
            let (_folder, service) = start().await?;
            create_output(browser, &service.address()).await?;
            emulate_phone(browser, 320).await?;
            let mut found = Vec::new();
            visit(browser, &service.address(), async |state| {
                found.extend(find_small_targets(browser, state, 320).await?);
                let above = browser.run(FORM_ABOVE_BOTTOM, vec![]).await?;
                if above != 0 {
                    found.push(format!("{state}: the form is {above} px above the bottom"));
                }
                let wide = browser.run(DIALOG_TOO_WIDE, vec![]).await?;
                if wide != 0 {
                    found.push(format!("{state}: the dialog is {wide} px too wide"));
                }
                Ok(())
            })
            .await?;
            assert!(found.is_empty(), "{}", found.join("\n"));
            Ok(())
        },
    )
    .await;
}
