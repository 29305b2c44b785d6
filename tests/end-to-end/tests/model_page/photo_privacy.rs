//! Location and camera data in the user's pictures.

use crate::studio::{Studio, TIMEOUT, run_steps};
use atelier_end_to_end::Result;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::{wait_for_match, wait_for_value};
use serde_json::{Value, json};

/// Makes JPEG files with Exif data of this orientation, and chooses a file.
const FILES: &str = "
    const plain = async () => {
        const canvas = Object.assign(document.createElement('canvas'), { width: 64, height: 48 });
        canvas.getContext('2d').fillRect(0, 0, 32, 48);
        const content = await new Promise(done => canvas.toBlob(done, 'image/jpeg'));
        return new Uint8Array(await content.arrayBuffer());
    };
    const bytes = text => [...text].map(it => it.charCodeAt(0));
    const segment = (marker, content) => [0xff, marker, (content.length + 2) >> 8, (content.length + 2) & 255, ...content];
    const exif = orientation => segment(0xe1, [...bytes('Exif\\0\\0MM\\0*\\0\\0\\0\\x08\\0\\x01'),
        1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0, ...bytes('GPS 52.5')]);
    const credentials = segment(0xeb, bytes('JP\\0\\x01\\0\\0\\0\\x01\\0\\0\\0\\x08jumb'));
    const inserted = (jpeg, segments) => new Uint8Array([0xff, 0xd8, ...segments, ...jpeg.slice(2)]);
    const choose = content => {
        const data = new DataTransfer();
        data.items.add(new File([content], NAME, { type: 'image/jpeg' }));
        const input = document.querySelector('.own-file input');
        input.files = data.files;
        input.dispatchEvent(new Event('change', { bubbles: true }));
    };
    const hex = content => [...content].map(it => it.toString(16).padStart(2, '0')).join('');
";

const VALUE: &str = "return document.querySelector('.media-field > input[type=text]').value";

const REMOVED: &str = "Location and camera data were removed.";

/// Chooses a file, and returns its bytes and those that were uploaded. `content`: the script that makes the file.
async fn upload(studio: &Studio<'_>, name: &str, content: &str) -> Result<(Value, Value)> {
    // The service stores the same bytes once, at one address.
    let browser = studio.browser;
    if browser.run(VALUE, vec![]).await? != "" {
        browser.press(&by("button", "Remove")).await?;
        wait_for_value(browser, "the empty field", VALUE, "").await?;
    }
    let files = FILES.replace("NAME", &json!(name).to_string());
    let script = format!("{files} const content = {content}; choose(content); return hex(content)");
    let chosen = studio.run_script(&script).await?;
    let is_new = |value: &Value| value.as_str().is_some_and(|it| it.contains("/outputs/"));
    wait_for_match(studio.browser, "the upload", VALUE, is_new).await?;
    let read = "const value = document.querySelector('.media-field > input[type=text]').value;
        return hex(new Uint8Array(await (await fetch(value)).arrayBuffer()))";
    let sent = studio.run_script(&format!("{files} {read}")).await?;
    Ok((chosen, sent))
}

async fn open(studio: &Studio<'_>) -> Result<()> {
    studio
        .browser
        .open(&studio.address("/models/image/repaint"))
        .await?;
    studio.browser.find(&by("group", "image_url")).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn location_is_removed_and_other_files_are_untouched() {
    run_steps("location_is_removed", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        open(studio).await?;
        let (chosen, sent) = upload(studio, "plain.jpg", "await plain()").await?;
        assert_eq!(sent, chosen, "a file without such data was changed");
        let plain = chosen;

        let (_, sent) = upload(studio, "photo.jpg", "inserted(await plain(), exif(1))").await?;
        assert_eq!(sent, plain, "more or less than the Exif data was removed");
        browser.wait_for_text(REMOVED, TIMEOUT).await?;

        let (_, sent) = upload(studio, "turned.jpg", "inserted(await plain(), exif(6))").await?;
        let sent = sent.as_str().unwrap_or_default();
        assert!(!sent.contains("475053"), "GPS data was sent");
        browser
            .wait_for_text("turned.jpg, 48 × 64 px", TIMEOUT)
            .await?;

        let signed = "inserted(await plain(), [...exif(6), ...credentials])";
        let (chosen, sent) = upload(studio, "signed.jpg", signed).await?;
        assert_eq!(sent, chosen, "a file with Content Credentials was changed");
        browser
            .wait_for_text("This file has Content Credentials", TIMEOUT)
            .await?;
        browser.press(&by("button", "Edit")).await?;
        let note = "This file carries Content Credentials. An edited copy doesn't.";
        browser.wait_for_text(note, TIMEOUT).await
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_data_is_kept_if_settings_say_so() {
    run_steps("the_data_is_kept", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        browser.open(&studio.address("/settings")).await?;
        let tick = by(
            "checkbox",
            "Remove location and camera data before uploading",
        );
        browser.press(&tick).await?;
        open(studio).await?;
        let (chosen, sent) =
            upload(studio, "photo.jpg", "inserted(await plain(), exif(6))").await?;
        assert_eq!(sent, chosen);
        Ok(())
    })
    .await;
}

/// Guards against location data that is sent because it was kept at an earlier attempt.
#[tokio::test(flavor = "multi_thread")]
async fn each_attempt_follows_the_present_setting() {
    run_steps("each_attempt_follows", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        open(studio).await?;
        let keep = "localStorage.setItem('atelier.keep-metadata', 'true')";
        browser.run(keep, vec![]).await?;
        let refused = Fault::Status {
            status: 401,
            retry_after: None,
        };
        studio.proxy.add(Rule::next(1, "/v2/uploads", refused));
        let files = FILES.replace("NAME", "'photo.jpg'");
        let choose = "choose(inserted(await plain(), exif(1)))";
        studio.run_script(&format!("{files} {choose}")).await?;
        let try_again = by("button", "Try again");
        browser.find(&try_again).await?;
        let remove = "localStorage.removeItem('atelier.keep-metadata')";
        browser.run(remove, vec![]).await?;
        browser.press(&try_again).await?;
        browser.wait_for_text(REMOVED, TIMEOUT).await?;
        let is_uploaded = |value: &Value| value.as_str().is_some_and(|it| it.contains("/outputs/"));
        wait_for_match(browser, "the upload", VALUE, is_uploaded).await?;
        let read = "const value = document.querySelector('.media-field > input[type=text]').value;
            return hex(new Uint8Array(await (await fetch(value)).arrayBuffer()))";
        let sent = studio.run_script(&format!("{files} {read}")).await?;
        let sent = sent.as_str().unwrap_or_default();
        assert!(!sent.contains("475053"), "GPS data was sent");
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn formats_that_browsers_cannot_read_are_explained() {
    run_steps(
        "formats_that_browsers_cannot_read",
        &["--speed", "0"],
        async |studio| {
            open(studio).await?;
            let files = FILES.replace("NAME", "'holiday.jpg'");
            let heic =
                "choose(new Uint8Array(bytes('\\0\\0\\0\\x18ftypheic\\0\\0\\0\\0mif1heic')))";
            studio.run_script(&format!("{files} {heic}")).await?;
            let message = "holiday.jpg is a picture in the format HEIC, which browsers can't read.";
            studio.browser.wait_for_text(message, TIMEOUT).await?;
            assert!(
                studio.proxy.calls_to("/v2/uploads").is_empty(),
                "it was sent"
            );
            Ok(())
        },
    )
    .await;
}
