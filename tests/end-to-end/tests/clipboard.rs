//! Tests of copying to the clipboard.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, until};
use serde_json::{Value, json};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);

/// Waits until `is_expected` accepts the result of the script. A browser writes to the clipboard asynchronously.
async fn wait_for_result(
    browser: &Browser,
    script: &str,
    is_expected: impl Fn(&Value) -> bool,
) -> Result<()> {
    until("the clipboard", TIMEOUT, async || {
        let found = browser.run(script, vec![]).await?;
        Ok(match is_expected(&found) {
            true => Seen::Yes(()),
            false => Seen::NotYet(format!("found {found}")),
        })
    })
    .await
}

async fn fill_in(browser: &Browser, address: &str, prompt: &str) -> Result<()> {
    let page = format!("{address}/models/image/strata");
    browser.open(&page).await?;
    browser.fill(&starting("textbox", "prompt"), prompt).await
}

/// Guards against a picture that is copied empty or in an unsupported format, or can't be copied because the model's
/// format is not PNG.
#[tokio::test(flavor = "multi_thread")]
async fn output_can_be_copied_as_image_and_as_url() {
    drive("output_can_be_copied_as_image_and_as_url", async |browser| {
        let service = Service::start_with_site(&["--speed", "0"]).await?;
        let address = service.address();
        fill_in(browser, &address, "a copied lake").await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .find_with_limit(&by("button", "Run again"), TIMEOUT)
            .await?;
        browser.press(&by("link", "Gallery")).await?;
        browser
            .press(&starting("button", "Image: a copied lake"))
            .await?;
        browser.find(&by("dialog", "Output")).await?;
        let permissions = json!({
            "origin": address,
            "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"],
        });
        browser
            .devtools("Browser.grantPermissions", permissions)
            .await?;

        browser.press(&by("button", "More")).await?;
        browser.press(&by("button", "Copy image")).await?;
        browser.wait_for_text("Image copied.", TIMEOUT).await?;
        let picture = "
            return navigator.clipboard.read().then(async ([item]) => {
                const blob = await item.getType('image/png');
                const { width, height } = await createImageBitmap(blob);
                const { naturalWidth, naturalHeight } = document.querySelector('dialog .stage img');
                return [item.types.includes('image/png'), width === naturalWidth, height === naturalHeight];
            })";
        wait_for_result(browser, picture, |found| *found == json!([true, true, true])).await?;

        browser.press(&by("button", "Copy output URL")).await?;
        let outputs = format!("{address}/outputs/");
        wait_for_result(browser, "return navigator.clipboard.readText()", |text| {
            text.as_str().is_some_and(|text| text.starts_with(&outputs))
        })
        .await
    })
    .await;
}

/// Guards against a denied clipboard that leaves the user without the link, which the page does not show elsewhere.
#[tokio::test(flavor = "multi_thread")]
async fn text_is_shown_selected_when_clipboard_is_denied() {
    drive(
        "text_is_shown_selected_when_clipboard_is_denied",
        async |browser| {
            let service = Service::start_with_site(&["--speed", "0"]).await?;
            let address = service.address();
            fill_in(browser, &address, "a lake for a friend").await?;
            let refuse = "navigator.clipboard.writeText = () => Promise.reject(new Error('no'))";
            browser.run(refuse, vec![]).await?;
            browser.press(&by("button", "Copy link")).await?;
            browser.find(&by("dialog", "Copy manually")).await?;
            browser.find(&by("textbox", "Text to copy")).await?;
            let selected = "
            const field = document.activeElement;
            return field.value.slice(field.selectionStart, field.selectionEnd)";
            let link = format!("{address}/models/image/strata");
            wait_for_result(browser, selected, |text| {
                let text = text.as_str().unwrap_or_default();
                text.starts_with(&link) && text.contains("friend")
            })
            .await?;
            browser.press(&by("button", "Done")).await?;
            browser
                .wait_until_gone(&by("dialog", "Copy manually"))
                .await
        },
    )
    .await;
}
