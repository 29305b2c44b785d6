//! Masks that are drawn over a picture of the same form.

use crate::studio::{Studio, TIMEOUT};
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::models_file::ModelsFile;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::studio as start;
use atelier_end_to_end::wait::{wait_for_match, wait_for_value};
use atelier_end_to_end::{Result, site};
use serde_json::{Value, json};

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
"#;

/// Puts a picture of 400 × 200 px into the field `image`.
pub(crate) const CHOOSE: &str = "
    const canvas = Object.assign(document.createElement('canvas'), { width: 400, height: 200 });
    const context = canvas.getContext('2d');
    context.fillStyle = 'teal';
    context.fillRect(0, 0, 400, 200);
    const content = await new Promise(done => canvas.toBlob(done, 'image/png'));
    const data = new DataTransfer();
    data.items.add(new File([content], 'lake.png', { type: 'image/png' }));
    const input = document.querySelectorAll('.own-file input')[0];
    input.files = data.files;
    input.dispatchEvent(new Event('change', { bubbles: true }));
";

/// Stores a completed task of another service, whose output is a picture of 192 × 192 px at the path PICTURE.
pub(crate) const STORE: &str = "
    const model = { category: 'image', subcategory: 'tessera' };
    const task = {
        key: 'made', account: { address: 'https://other.example', uid: 'me' }, model, model_name: 'Tessera',
        input: { model, values: { prompt: 'a stored lake' } },
        created: 1700000000000, finished: 1700000005000, watching: true,
        state: { state: 'ready', id: 't', outputs: [`${location.origin}PICTURE`] },
    };
    await new Promise((done, failed) => {
        const opened = indexedDB.open('atelier');
        opened.onerror = failed;
        opened.onsuccess = () => {
            const transaction = opened.result.transaction('tasks', 'readwrite');
            transaction.objectStore('tasks').put(JSON.stringify(task), 'made');
            transaction.oncomplete = () => { opened.result.close(); done(true); };
            transaction.onabort = failed;
        };
    });
";

/// Returns the values of the two fields.
pub(crate) const VALUES: &str =
    "return [...document.querySelectorAll('.media-field > input[type=text]')].map(it => it.value)";

/// Returns the picture of the mask that was drawn last.
const OWN_PICTURE: &str =
    "return JSON.parse(localStorage.getItem('atelier.mask-pictures')).at(-1).picture";

/// Returns the warning about a mask of another picture.
const WARNING: &str = "return document.querySelectorAll('.media-field')[1].querySelector('.problem[role=status]').textContent";

/// Returns the place of the picture in the dialog.
const PLACE: &str = "
    const { left, top, width, height } = document.querySelector('.picture-shown img').getBoundingClientRect();
    return [left, top, width, height]";

/// Returns size, kind of pixels, and the values at some points of the uploaded mask.
const MASK: &str = "
    const address = document.querySelectorAll('.media-field > input[type=text]')[1].value;
    const bytes = new Uint8Array(await (await fetch(address)).arrayBuffer());
    const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const canvas = Object.assign(document.createElement('canvas'), { width: bitmap.width, height: bitmap.height });
    const context = canvas.getContext('2d');
    context.drawImage(bitmap, 0, 0);
    const pixels = context.getImageData(0, 0, bitmap.width, bitmap.height).data;
    const values = new Set();
    pixels.forEach((value, at) => at % 4 < 3 && values.add(value));
    const at = (x, y) => pixels[(y * bitmap.width + x) * 4];
    const count = [...pixels].filter((value, at) => at % 4 === 0 && value === 255).length;
    return {
        // The bit depth and the color type of the PNG: 8 bits of gray.
        format: [...bytes.slice(24, 26)],
        size: [bitmap.width, bitmap.height],
        values: [...values].sort((a, b) => a - b),
        at: POINTS.map(([x, y]) => at(x, y)),
        count,
    }";

pub(crate) async fn run(name: &str, steps: impl AsyncFnOnce(&Studio<'_>) -> Result<()>) {
    run_with(name, MODELS, steps).await;
}

/// Like [`run`], with these models.
async fn run_with(
    name: &str,
    models_file: &str,
    steps: impl AsyncFnOnce(&Studio<'_>) -> Result<()>,
) {
    drive(name, async |browser| {
        let models = ModelsFile::new(models_file)?;
        let arguments = ["--speed", "0", "--models", models.path()];
        let studio = start::Studio::start(browser, &arguments).await?;
        browser.set_size(1280, 1000).await?;
        browser
            .open(&studio.address("/models/image/inpaint"))
            .await?;
        browser.find(&by("heading", "Inpaint")).await?;
        steps(&Studio::from(studio)).await
    })
    .await;
}

/// Chooses the picture and opens the dialog.
async fn open_dialog(studio: &Studio<'_>) -> Result<[f64; 4]> {
    let browser = studio.browser;
    studio.run_script(CHOOSE).await?;
    let is_uploaded = |values: &Value| {
        let first = values[0].as_str();
        first.is_some_and(|it| it.contains("/outputs/"))
    };
    wait_for_match(browser, "the uploaded picture", VALUES, is_uploaded).await?;
    open_again(studio).await
}

/// Opens the dialog, and returns the place of the picture in it.
async fn open_again(studio: &Studio<'_>) -> Result<[f64; 4]> {
    let browser = studio.browser;
    browser.press(&by("button", "Draw mask")).await?;
    browser.find(&by("dialog", "Mask")).await?;
    let size = "return document.querySelector('.picture-shown img')?.naturalWidth ?? 0";
    wait_for_value(browser, "the picture in the dialog", size, 400).await?;
    browser.wait_for_text(" painted.", TIMEOUT).await?;
    browser.wait_until_settled().await?;
    let place = browser.run(PLACE, vec![]).await?;
    let number = |at: usize| place[at].as_f64().ok_or("no position");
    Ok([number(0)?, number(1)?, number(2)?, number(3)?])
}

/// Presses the mouse at the first point of the picture, and moves it to the others.
async fn drag(studio: &Studio<'_>, place: [f64; 4], points: &[(f64, f64)]) -> Result<()> {
    let [left, top, width, _] = place;
    let scale = width / 400.0;
    let send = async |kind: &str, (x, y): (f64, f64), buttons: u32| {
        let params = json!({
            "type": kind, "x": left + x * scale, "y": top + y * scale,
            "button": "left", "buttons": buttons, "clickCount": 1,
        });
        studio
            .browser
            .devtools("Input.dispatchMouseEvent", params)
            .await
    };
    send("mousePressed", points[0], 1).await?;
    for point in points {
        send("mouseMoved", *point, 1).await?;
    }
    send("mouseReleased", points[points.len() - 1], 0).await?;
    Ok(())
}

/// Waits until the mask is uploaded, and returns its properties. `points`: where to read it.
async fn uploaded_mask(studio: &Studio<'_>, before: &str, points: &Value) -> Result<Value> {
    let is_uploaded = |values: &Value| {
        let mask = values[1].as_str();
        mask.is_some_and(|it| it.contains("/outputs/") && it != before)
    };
    wait_for_match(studio.browser, "the uploaded mask", VALUES, is_uploaded).await?;
    let script = MASK.replace("POINTS", &points.to_string());
    studio.run_script(&script).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mask_drawn_with_the_pointer_is_uploaded_in_black_and_white() {
    run("a_mask_drawn_with_the_pointer", async |studio| {
        let browser = studio.browser;
        browser.press(&by("button", "Draw mask")).await?;
        let message = "A mask is drawn over a picture. Fill image first.";
        browser.wait_for_text(message, TIMEOUT).await?;

        let place = open_dialog(studio).await?;
        browser.press(&by("button", "Done")).await?;
        browser
            .wait_for_text("Nothing is painted.", TIMEOUT)
            .await?;
        drag(studio, place, &[(50.0, 100.0), (150.0, 100.0)]).await?;
        browser.press(&by("button", "Rectangle")).await?;
        drag(
            studio,
            place,
            &[(300.0, 20.0), (350.0, 60.0), (380.0, 80.0)],
        )
        .await?;
        browser.press(&by("button", "Eraser")).await?;
        drag(studio, place, &[(340.0, 50.0), (340.0, 50.0)]).await?;
        browser.press(&by("button", "Done")).await?;
        let points = json!([
            [50, 100],
            [100, 100],
            [150, 100],
            [310, 30],
            [340, 50],
            [200, 30],
            [399, 199]
        ]);
        let mask = uploaded_mask(studio, "", &points).await?;
        assert_eq!(mask["format"], json!([8, 0]));
        assert_eq!(mask["size"], json!([400, 200]));
        assert_eq!(mask["values"], json!([0, 255]));
        assert_eq!(mask["at"], json!([255, 255, 255, 255, 0, 0, 0]));
        browser
            .wait_for_text("lake-mask.png, 400 × 200 px", TIMEOUT)
            .await?;

        // Drawing continues where it ended, and white can mean the opposite.
        let first = browser.run(VALUES, vec![]).await?[1]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        open_again(studio).await?;
        browser
            .press(&by("radio", "White marks what stays"))
            .await?;
        browser.press(&by("button", "Done")).await?;
        let inverted = uploaded_mask(studio, &first, &points).await?;
        assert_eq!(inverted["at"], json!([0, 0, 0, 0, 255, 255, 255]));
        let sum = mask["count"].as_u64().unwrap_or(0) + inverted["count"].as_u64().unwrap_or(0);
        assert_eq!(sum, 400 * 200);
        open_again(studio).await?;
        let checked = "return document.querySelectorAll('.mask-meaning input')[1].checked";
        wait_for_value(browser, "the remembered meaning", checked, true).await?;
        browser.press(&by("button", "Cancel")).await?;

        // Guards against a generation with the mask of another picture.
        let other = "https://files.example/other.png";
        browser.fill(&starting("textbox", "image"), other).await?;
        let message = "This mask was drawn over another picture.";
        browser.wait_for_text(message, TIMEOUT).await?;
        browser.reload().await?;
        browser.wait_for_text(message, TIMEOUT).await?;
        // A picture that is about to be replaced is another one as well.
        let own = browser.run(OWN_PICTURE, vec![]).await?;
        let own = own.as_str().ok_or("no picture was stored")?;
        browser.fill(&starting("textbox", "image"), own).await?;
        wait_for_value(browser, "no warning", WARNING, "").await?;
        studio.proxy.add(Rule::every("/v2/uploads", Fault::Hold));
        studio.run_script(CHOOSE).await?;
        browser
            .find(&by("progressbar", "Upload of lake.png"))
            .await?;
        browser.wait_for_text(message, TIMEOUT).await
    })
    .await;
}

/// Guards against strokes that are lost with Esc, and against a dialog that needs a pointer.
#[tokio::test(flavor = "multi_thread")]
async fn a_mask_is_drawn_with_the_keyboard() {
    const RIGHT: &str = "\u{e014}";
    const ESCAPE: &str = "\u{e00c}";
    run("a_mask_drawn_with_the_keyboard", async |studio| {
        let browser = studio.browser;
        open_dialog(studio).await?;
        let focused = "return document.activeElement.getAttribute('role')";
        wait_for_value(browser, "the focus on the picture", focused, "application").await?;
        let stage = browser.find(&by("application", "Picture with mask")).await?;
        stage.send_keys(&RIGHT.repeat(3)).await?;
        stage.send_keys(" ").await?;
        browser.wait_for_text("of the picture is painted.", TIMEOUT).await?;
        let undo = by("button", "Undo");
        let undone = "return [...document.querySelectorAll('.picture-tools button')].find(it => it.textContent.trim() === 'Undo')
            .getAttribute('aria-disabled')";
        wait_for_value(browser, "a change", undone, "false").await?;
        stage.send_keys(ESCAPE).await?;
        browser.find(&by("dialog", "Discard the changes?")).await?;
        browser.press(&by("button", "Keep drawing")).await?;
        browser.press(&undo).await?;
        wait_for_value(browser, "no change", undone, "true").await?;
        browser.press(&by("button", "Redo")).await?;
        wait_for_value(browser, "the change again", undone, "false").await?;
        browser.press(&by("button", "Done")).await?;
        let mask = uploaded_mask(studio, "", &json!([[0, 0], [399, 199]])).await?;
        assert_eq!(mask["values"], json!([0, 255]));
        assert_eq!(mask["at"], json!([0, 0]));
        // The brush has a diameter of 20 px.
        let count = mask["count"].as_u64().unwrap_or(0);
        assert!((280..350).contains(&count), "{count} pixels");
        let focused = "return document.activeElement.textContent.trim()";
        wait_for_value(browser, "the focus", focused, "Draw mask").await
    })
    .await;
}

/// Generates a picture and opens it in the lightbox.
async fn generate_and_enlarge(studio: &Studio<'_>) -> Result<()> {
    let browser = studio.browser;
    studio.open("/models/image/tessera").await?;
    studio.type_prompt("a quiet harbour").await?;
    browser.press(&by("button", "Generate")).await?;
    browser
        .find_with_limit(&by("button", "Run again"), TIMEOUT)
        .await?;
    browser.press(&by("button", "Show large")).await?;
    browser.find(&by("dialog", "Output")).await?;
    Ok(())
}

/// Waits until the dialog shows a picture that is also in the form.
async fn wait_for_mask_of_output(studio: &Studio<'_>) -> Result<()> {
    let browser = studio.browser;
    browser
        .find_with_limit(&by("dialog", "Mask"), TIMEOUT)
        .await?;
    browser
        .wait_for_text("Nothing is painted.", TIMEOUT)
        .await?;
    let has_output = |values: &Value| {
        let first = values[0].as_str();
        first.is_some_and(|it| it.contains("/outputs/"))
    };
    wait_for_match(browser, "the picture in the form", VALUES, has_output).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_output_is_edited_with_a_mask() {
    run("an_output_is_edited_with_a_mask", async |studio| {
        generate_and_enlarge(studio).await?;
        let browser = studio.browser;
        browser.press(&by("link", "Edit with mask")).await?;
        wait_for_mask_of_output(studio).await?;
        // The dialog covers the form.
        browser.press(&by("button", "Cancel")).await?;
        browser.wait_until_gone(&by("dialog", "Mask")).await?;
        browser.find(&by("heading", "Inpaint")).await?;
        browser.find(&by("button", "Draw mask")).await?;
        Ok(())
    })
    .await;
}

/// Guards against a mask that belongs to an address that the form replaces: the output is of another service, so that its file
/// is uploaded. Of several models, the user chooses.
#[tokio::test(flavor = "multi_thread")]
async fn an_output_of_another_service_is_uploaded_before_its_mask_is_drawn() {
    let second = MODELS
        .replace("inpaint", "retouch")
        .replace("Inpaint", "Retouch");
    let models = format!("{MODELS}{second}");
    let name = "an_output_of_another_service_is_uploaded";
    run_with(name, &models, async |studio| {
        let browser = studio.browser;
        browser.open(&studio.address("/gallery")).await?;
        browser.wait_for_text("No outputs yet.", TIMEOUT).await?;
        let picture = site::file("icon-192", ".png")?;
        let store = STORE.replace("PICTURE", &picture);
        studio.run_script(&store).await?;
        browser.open(&studio.address("/gallery")).await?;
        browser
            .press(&starting("button", "Image: a stored lake"))
            .await?;
        browser.find(&by("dialog", "Output")).await?;
        browser.press(&by("button", "Edit with mask")).await?;
        browser.press(&starting("link", "Retouch")).await?;
        wait_for_mask_of_output(studio).await?;
        let size = "return document.querySelector('.picture-shown img')?.naturalWidth ?? 0";
        wait_for_value(browser, "the picture in the dialog", size, 192).await?;
        // The mask belongs to the uploaded picture.
        browser.press(&by("button", "Invert")).await?;
        browser.press(&by("button", "Done")).await?;
        browser.wait_until_gone(&by("dialog", "Mask")).await?;
        let has_mask = |values: &Value| {
            let second = values[1].as_str();
            second.is_some_and(|it| it.contains("/outputs/"))
        };
        wait_for_match(browser, "the mask in the form", VALUES, has_mask).await?;
        let is_warned =
            "return document.body.innerText.includes('This mask was drawn over another')";
        assert_eq!(browser.run(is_warned, vec![]).await?, json!(false));
        Ok(())
    })
    .await;
}
