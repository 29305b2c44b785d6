//! Lists of files as the input of a model, and the choice of outputs from the gallery.

use crate::studio::{MODEL, Studio, TIMEOUT, run_steps};
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::models_file::ModelsFile;
use atelier_end_to_end::wait::{wait_for_match, wait_for_value};
use serde_json::{Value, json};

const UPLOADS: &str = "/v2/uploads";
pub const PAGE: &str = "/models/image/collage";

/// A model with a list of at most three files.
const MODELS: &str = r#"
[[model]]
category = "image"
subcategory = "collage"
name = "Collage"
description = "Puts pictures together."
makes = "image"

[model.command]
program = "./draw.sh"

[[model.parameter]]
name = "prompt"
type = "string"
required = true

[[model.parameter]]
name = "images"
type = "files"
max_items = 3
"#;

const PROGRAM: &str = "#!/bin/sh\ncat > out.json\n";

/// Helpers that make pictures, whose width tells them apart, and give them to the field.
const FILES: &str = "
    const picture = async (name, width) => {
        const canvas = Object.assign(document.createElement('canvas'), { width, height: 20 });
        canvas.getContext('2d').fillRect(2, 2, 9, 9);
        const content = await new Promise(done => canvas.toBlob(done, 'image/png'));
        return new File([content], name, { type: 'image/png' });
    };
    const transfer = files => {
        const data = new DataTransfer();
        files.forEach(file => data.items.add(file));
        return data;
    };
    const choose = files => {
        const input = document.querySelector('.media-list input[type=file]');
        if (!input.multiple) throw new Error('it takes one file only');
        input.files = transfer(files).files;
        input.dispatchEvent(new Event('change', { bubbles: true }));
    };
    const drop = files => document.querySelector('.media-list').dispatchEvent(
        new DragEvent('drop', { dataTransfer: transfer(files), bubbles: true, cancelable: true }));
";

const NAMES: &str =
    "return [...document.querySelectorAll('.media-item .media-name')].map(it => it.textContent)";

/// Whether the list accepts nothing.
const IS_CLOSED: &str = "
    const list = document.querySelector('.media-list');
    const closed = list.querySelectorAll('.row :is(button, input):disabled, .media-address button:disabled');
    return closed.length === 4";

/// The number of items whose upload is running.
const RUNNING: &str = "return document.querySelectorAll('.media-item progress').length";

/// The addresses in the list of the last stored task.
const SENT: &str = r#"
    const opened = await new Promise((done, failed) => {
        const opening = indexedDB.open('atelier');
        opening.onerror = failed;
        opening.onsuccess = () => done(opening.result);
    });
    const all = opened.transaction('tasks').objectStore('tasks').getAll();
    await new Promise(done => (all.onsuccess = done));
    opened.close();
    const text = JSON.stringify(all.result).replaceAll('\\', '');
    const sent = JSON.parse(/"images":(\[[^\]]*\])/.exec(text)[1]);
"#;

const FOCUSED: &str = "return document.activeElement.getAttribute('aria-label')";

pub fn models() -> ModelsFile {
    ModelsFile::with_program(MODELS, PROGRAM).expect("the models file can be written")
}

pub async fn run_with_list(name: &str, steps: impl AsyncFnOnce(&Studio<'_>) -> Result<()>) {
    let models = models();
    run_steps(name, &["--models", models.path()], async |studio| {
        studio.browser.open(&studio.address(PAGE)).await?;
        studio.browser.find(&by("group", "images")).await?;
        steps(studio).await
    })
    .await;
}

/// Guards against a file that a list never receives.
#[tokio::test(flavor = "multi_thread")]
async fn an_opened_file_is_added_to_a_list() {
    run_with_list("an_opened_file_is_added_to_a_list", async |studio| {
        let browser = studio.browser;
        let drop = "
            const data = transfer([await picture('lake.png', 40)]);
            document.body.dispatchEvent(
                new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));";
        hand(studio, drop).await?;
        browser.find(&by("dialog", "Open file")).await?;
        browser.press(&by("button", "Collage · images")).await?;
        browser.wait_until_gone(&by("dialog", "Open file")).await?;
        wait_for_value(browser, "the item", NAMES, json!(["lake.png"])).await?;
        wait_for_value(browser, "the running uploads", RUNNING, 0).await
    })
    .await;
}

pub async fn hand(studio: &Studio<'_>, script: &str) -> Result<Value> {
    studio.run_script(&format!("{FILES} {script}")).await
}

/// Returns the addresses in the list of the last task.
async fn sent_addresses(studio: &Studio<'_>) -> Result<Value> {
    hand(studio, &format!("{SENT} return sent;")).await
}

/// Returns the widths of the pictures in the list of the last task.
pub async fn sent_widths(studio: &Studio<'_>) -> Result<Value> {
    let script = "
        const width = async url => (await createImageBitmap(await (await fetch(url)).blob())).width;
        return Promise.all(sent.map(width));";
    hand(studio, &format!("{SENT} {script}")).await
}

pub async fn wait_for_names(studio: &Studio<'_>, names: &[&str]) -> Result<()> {
    wait_for_value(
        studio.browser,
        "the names of the items",
        NAMES,
        json!(names),
    )
    .await
}

/// Presses a button with the keyboard, and expects that the focus stays on it.
async fn press_by_key(studio: &Studio<'_>, name: &str) -> Result<()> {
    let button = studio.browser.find(&by("button", name)).await?;
    button.send_keys("\u{e007}").await?;
    wait_for_value(studio.browser, "the focus", FOCUSED, name).await
}

/// Guards against an order by the ends of the uploads, a focus that is lost when an item moves, and a submission in another
/// order than the shown one.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_three_is_reordered_by_keyboard_and_submitted_in_that_order() {
    run_with_list("a_list_of_three_is_reordered", async |studio| {
        let browser = studio.browser;
        studio.proxy.add(Rule::next(1, UPLOADS, Fault::Hold));
        hand(
            studio,
            "choose([await picture('a.png', 41), await picture('b.png', 42), await picture('c.png', 43)])",
        )
        .await?;
        wait_for_names(studio, &["a.png", "b.png", "c.png"]).await?;
        wait_for_value(browser, "one upload to be held", RUNNING, 1).await?;
        studio.type_prompt("three harbours").await?;
        browser.press(&by("button", "Generate")).await?;
        browser.wait_for_text("Waiting for the upload of ", TIMEOUT).await?;
        let form = browser.find(&by("form", "Input")).await?;
        browser.press(&by("button", "Cancel").within(&form)).await?;
        studio.proxy.clear();
        wait_for_value(browser, "no running upload", RUNNING, 0).await?;
        wait_for_names(studio, &["a.png", "b.png", "c.png"]).await?;
        browser.wait_for_text("43 × 20 px", TIMEOUT).await?;

        press_by_key(studio, "Move c.png earlier").await?;
        wait_for_names(studio, &["a.png", "c.png", "b.png"]).await?;
        press_by_key(studio, "Move c.png earlier").await?;
        wait_for_names(studio, &["c.png", "a.png", "b.png"]).await?;
        browser.wait_for_text("c.png is now 1 of 3.", TIMEOUT).await?;
        press_by_key(studio, "Move a.png later").await?;
        wait_for_names(studio, &["c.png", "b.png", "a.png"]).await?;

        browser.press(&by("button", "Generate")).await?;
        browser
            .find_with_limit(&by("button", "Run again"), TIMEOUT)
            .await?;
        assert_eq!(sent_widths(studio).await?, json!([43, 42, 41]));
        Ok(())
    })
    .await;
}

/// Guards against more items than the model takes, against a file that is silently left out, and against a removal that
/// loses the focus.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_keeps_its_bounds_and_shows_failed_files() {
    run_with_list("a_list_keeps_its_bounds", async |studio| {
        let browser = studio.browser;
        browser
            .fill(&by("textbox", "images Address"), "https://files.example/x.png")
            .await?;
        browser.press(&by("button", "Add")).await?;
        wait_for_names(studio, &["x.png"]).await?;
        hand(
            studio,
            "drop([await picture('a.png', 41), new File(['words'], 'words.png', { type: 'image/png' }),
                await picture('c.png', 43)])",
        )
        .await?;
        browser
            .wait_for_text("only the first 2 of 3 files are added.", TIMEOUT)
            .await?;
        wait_for_names(studio, &["x.png", "a.png", "words.png"]).await?;
        browser.wait_for_text("Accepted types", TIMEOUT).await?;
        wait_for_value(browser, "no running upload", RUNNING, 0).await?;
        // The failed file can be chosen again.
        wait_for_value(browser, "an open list", IS_CLOSED, false).await?;
        studio.type_prompt("a harbour").await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .wait_for_text("Not sent: words.png is not uploaded.", TIMEOUT)
            .await?;
        assert!(studio.sent_prompts().is_empty());

        let remove = browser.find(&by("button", "Remove x.png")).await?;
        remove.send_keys("\u{e007}").await?;
        wait_for_value(browser, "the focus", FOCUSED, "Remove a.png").await?;
        browser.press(&by("button", "Remove words.png")).await?;
        wait_for_names(studio, &["a.png"]).await?;
        // The value is a plain list for everything else, such as undo.
        browser
            .find(&by("button", "Remove a.png"))
            .await?
            .send_keys("\u{e009}z")
            .await?;
        wait_for_names(studio, &["x.png", "a.png"]).await?;

        hand(studio, "choose([await picture('d.png', 44)])").await?;
        wait_for_names(studio, &["x.png", "a.png", "d.png"]).await?;
        browser.wait_for_text("The list is full.", TIMEOUT).await?;
        wait_for_value(browser, "a closed list", IS_CLOSED, true).await?;
        browser.press(&by("button", "Remove a.png")).await?;
        wait_for_value(browser, "an open list", IS_CLOSED, false).await
    })
    .await;
}

/// Guards against a task without a picture whose address was typed, but not added.
#[tokio::test(flavor = "multi_thread")]
async fn a_typed_address_is_added_when_generate_is_pressed() {
    run_with_list("a_typed_address", async |studio| {
        let browser = studio.browser;
        studio.type_prompt("a harbour").await?;
        let address = "https://files.example/x.png";
        browser
            .fill(&by("textbox", "images Address"), address)
            .await?;
        browser.press(&by("button", "Generate")).await?;
        wait_for_names(studio, &["x.png"]).await?;
        studio.wait_for_sent(1).await?;
        assert_eq!(sent_addresses(studio).await?, json!([address]));

        // A press on "Add" leaves the text field, too.
        browser
            .fill(
                &by("textbox", "images Address"),
                "https://files.example/y.png",
            )
            .await?;
        browser.press(&by("button", "Add")).await?;
        wait_for_names(studio, &["x.png", "y.png"]).await?;
        // A text that is not an address is not ignored either.
        let sent = studio.sent_prompts().len();
        browser
            .fill(&by("textbox", "images Address"), "cat")
            .await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .wait_for_text("“cat” is not an address.", TIMEOUT)
            .await?;
        assert_eq!(studio.sent_prompts().len(), sent);
        Ok(())
    })
    .await;
}

/// Guards against a picture that can't be found among many, a focus that is lost with the dialog, and a value that is not
/// the chosen picture.
#[tokio::test(flavor = "multi_thread")]
async fn an_output_is_chosen_from_the_gallery_by_search() {
    let models = models();
    let arguments = ["--speed", "0", "--models", models.path()];
    run_steps("from_the_gallery", &arguments, async |studio| {
        let browser = studio.browser;
        for prompt in ["a red harbour", "a blue fox"] {
            studio.open(MODEL).await?;
            studio.type_prompt(prompt).await?;
            browser.press(&by("button", "Generate")).await?;
            browser
                .find_with_limit(&by("button", "Run again"), TIMEOUT)
                .await?;
        }
        browser
            .open(&studio.address("/models/image/repaint"))
            .await?;
        browser.press(&by("button", "From gallery")).await?;
        let dialog = browser.find(&by("dialog", "From gallery")).await?;
        browser.wait_for_text("2 pictures", TIMEOUT).await?;
        let search = by("searchbox", "Search outputs");
        browser.fill(&search, "harbour").await?;
        browser.wait_for_text("1 picture", TIMEOUT).await?;
        let list = browser
            .find(&by("listbox", "Outputs").within(&dialog))
            .await?;
        browser
            .press(&starting("option", "Image: a red harbour").within(&list))
            .await?;
        browser
            .wait_until_gone(&by("dialog", "From gallery"))
            .await?;
        wait_for_value(browser, "the focus", FOCUSED, "From gallery").await?;
        let value = "return document.querySelector('.media-field input[type=text]').value";
        let is_output = |value: &Value| value.as_str().is_some_and(|it| it.contains("/outputs/"));
        wait_for_match(browser, "the chosen output", value, is_output).await?;
        assert!(studio.proxy.calls_to(UPLOADS).is_empty(), "it was uploaded");

        // Several outputs of a list are chosen with the keyboard, in the order of the choice.
        browser.open(&studio.address(PAGE)).await?;
        browser.press(&by("button", "From gallery")).await?;
        let dialog = browser.find(&by("dialog", "From gallery")).await?;
        let list = by("listbox", "Outputs").within(&dialog);
        let first = starting("option", "Image: a blue fox").within(&dialog);
        browser.find(&first).await?;
        let keys = browser.find(&list).await?;
        keys.send_keys("\u{e014} \u{e012} ").await?;
        browser.press(&by("button", "Add 2 items")).await?;
        browser
            .wait_until_gone(&by("dialog", "From gallery"))
            .await?;
        let items = "return document.querySelectorAll('.media-item').length";
        wait_for_value(browser, "two items", items, 2).await
    })
    .await;
}
