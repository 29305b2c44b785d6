//! Edits of a picture before it is used.

use crate::studio::{Studio, TIMEOUT, run_steps};
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::{wait_for_match, wait_for_value};
use serde_json::{Value, json};

/// Chooses a picture of 400 × 200 px whose left half is red, with a blue corner.
const CHOOSE: &str = "
    const canvas = Object.assign(document.createElement('canvas'), { width: 400, height: 200 });
    const context = canvas.getContext('2d');
    for (const [color, ...area] of [['#0f0', 0, 0, 400, 200], ['#f00', 0, 0, 200, 200], ['#00f', 0, 0, 50, 50]]) {
        context.fillStyle = color;
        context.fillRect(...area);
    }
    const content = await new Promise(done => canvas.toBlob(done, 'image/png'));
    const data = new DataTransfer();
    data.items.add(new File([content], 'flag.png', { type: 'image/png' }));
    const input = document.querySelector('.own-file input');
    input.files = data.files;
    input.dispatchEvent(new Event('change', { bubbles: true }));
";

const VALUE: &str = "return document.querySelector('.media-field > input[type=text]').value";

/// Returns the size of the uploaded picture, and the colors of its corners: upper left and right, lower left and right.
const PICTURE: &str = "
    const file = await (await fetch(document.querySelector('.media-field > input[type=text]').value)).blob();
    const bitmap = await createImageBitmap(file);
    const { width, height } = bitmap;
    const canvas = Object.assign(document.createElement('canvas'), { width, height });
    const context = canvas.getContext('2d');
    context.drawImage(bitmap, 0, 0);
    const color = (x, y) => [...context.getImageData(x, y, 1, 1).data.slice(0, 3)];
    return { type: file.type, size: [width, height], corners: [color(1, 1), color(width - 2, 1), color(1, height - 2), color(width - 2, height - 2)] }";

async fn open_editor(studio: &Studio<'_>) -> Result<()> {
    let browser = studio.browser;
    browser.press(&by("button", "Edit")).await?;
    browser.find(&by("dialog", "Edit picture")).await?;
    browser.wait_for_text("Result: ", TIMEOUT).await?;
    browser.wait_until_settled().await
}

/// Replaces a number, and leaves its field.
async fn type_number(studio: &Studio<'_>, name: &str, number: &str) -> Result<()> {
    const SELECT_ALL: &str = "\u{e009}a\u{e000}";
    const TAB: &str = "\u{e004}";
    let field = studio.browser.find(&by("spinbutton", name)).await?;
    let keys = format!("{SELECT_ALL}{number}{TAB}");
    Ok(field.send_keys(&keys).await?)
}

/// Waits for another address in the field, and returns the properties of the picture.
async fn uploaded(studio: &Studio<'_>, before: &Value) -> Result<Value> {
    let is_new = |value: &Value| {
        value != before && value.as_str().is_some_and(|it| it.contains("/outputs/"))
    };
    wait_for_match(studio.browser, "the upload", VALUE, is_new).await?;
    studio.run_script(PICTURE).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_is_cropped_turned_and_scaled_from_its_original() {
    run_steps("a_picture_is_cropped", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        browser.set_size(1280, 1000).await?;
        browser
            .open(&studio.address("/models/image/repaint"))
            .await?;
        browser.find(&by("group", "image_url")).await?;
        assert!(browser.find_all(&by("button", "Edit")).await?.is_empty());
        studio.run_script(CHOOSE).await?;
        uploaded(studio, &json!("")).await?;
        let original = browser.run(VALUE, vec![]).await?;

        // The page has the file itself: it does not need the service for editing.
        let unavailable = Fault::Status {
            status: 503,
            retry_after: None,
        };
        studio.proxy.add(Rule::every("/outputs/*", unavailable));
        open_editor(studio).await?;
        studio.proxy.clear();
        type_number(studio, "Width", "200").await?;
        type_number(studio, "Height", "100").await?;
        browser.press(&by("button", "Rotate right")).await?;
        browser
            .wait_for_text("Result: 100 × 200 px.", TIMEOUT)
            .await?;
        type_number(studio, "Longest side, at most", "100").await?;
        browser.press(&by("button", "Flip vertically")).await?;
        browser
            .wait_for_text("Result: 50 × 100 px.", TIMEOUT)
            .await?;
        browser.press(&by("button", "Done")).await?;
        let edited = uploaded(studio, &original).await?;
        assert_eq!(edited["size"], json!([50, 100]));
        assert_eq!(edited["type"], "image/png");
        // The blue corner was turned to the right, and then mirrored to the lower edge.
        assert_eq!(
            edited["corners"],
            json!([[255, 0, 0], [255, 0, 0], [255, 0, 0], [0, 0, 255]])
        );
        browser
            .wait_for_text("flag-edited.png, 50 × 100 px", TIMEOUT)
            .await?;

        // Edits continue from the original, and can be undone without loss.
        let now = browser.run(VALUE, vec![]).await?;
        open_editor(studio).await?;
        browser
            .wait_for_text("Result: 50 × 100 px.", TIMEOUT)
            .await?;
        browser.press(&by("button", "Original")).await?;
        browser
            .wait_for_text("Result: 400 × 200 px.", TIMEOUT)
            .await?;
        browser.press(&by("button", "Done")).await?;
        let restored = uploaded(studio, &now).await?;
        assert_eq!(restored["size"], json!([400, 200]));
        wait_for_value(browser, "the same file as at first", VALUE, original).await
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crop_is_dragged_and_keeps_its_ratio() {
    const ESCAPE: &str = "\u{e00c}";
    run_steps("a_crop_is_dragged", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        browser.set_size(1280, 1000).await?;
        browser.open(&studio.address("/models/image/repaint")).await?;
        browser.find(&by("group", "image_url")).await?;
        studio.run_script(CHOOSE).await?;
        uploaded(studio, &json!("")).await?;
        open_editor(studio).await?;
        let drag = async |by: (f64, f64)| -> Result<()> {
            let (x, y) = browser.middle_of(".crop-handle:last-child").await?;
            for (kind, x, y, buttons) in [
                ("mousePressed", x, y, 1),
                ("mouseMoved", x + by.0, y + by.1, 1),
                ("mouseReleased", x + by.0, y + by.1, 0),
            ] {
                let params = json!({
                    "type": kind, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1,
                });
                browser.devtools("Input.dispatchMouseEvent", params).await?;
            }
            Ok(())
        };
        drag((-100.0, -50.0)).await?;
        browser.wait_for_text("Result: 300 × 150 px.", TIMEOUT).await?;
        studio
            .run_script(
                "const ratio = document.querySelector('.picture-dialog select');
                ratio.value = [...ratio.options].find(it => it.label === '1:1').value;
                ratio.dispatchEvent(new Event('change', { bubbles: true }))",
            )
            .await?;
        browser.wait_for_text("Result: 200 × 200 px.", TIMEOUT).await?;
        drag((-80.0, 0.0)).await?;
        browser.wait_for_text("Result: 200 × 200 px.", TIMEOUT).await?;
        drag((-80.0, -80.0)).await?;
        browser.wait_for_text("Result: 120 × 120 px.", TIMEOUT).await?;
        let done = browser.find(&by("button", "Done")).await?;
        done.send_keys(ESCAPE).await?;
        browser.find(&by("dialog", "Discard the edits?")).await?;
        browser.press(&by("button", "Discard")).await?;
        browser.wait_until_gone(&by("dialog", "Edit picture")).await
    })
    .await;
}
