//! Files of the user's own after they were submitted: in the lineage, among the inputs, and in links for others.

use crate::own_files::{self, VALUE};
use crate::studio::{Studio, TIMEOUT, run_steps};
use atelier_end_to_end::Result;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::site;
use atelier_end_to_end::wait::wait_for_value;

/// Whether the small view of the file is loaded.
const PICTURE: &str = "
    const picture = document.querySelector('dialog[open] .lineage img');
    return (picture?.naturalWidth ?? 0) > 0";

async fn choose(studio: &Studio<'_>) -> Result<()> {
    own_files::open(studio).await?;
    let file = site::repository()
        .join("public/icon-192.png")
        .canonicalize()?;
    studio
        .browser
        .choose_file(&by("button", "Choose file"), &file)
        .await?;
    own_files::uploaded(studio).await?;
    studio.type_prompt("a brass lamp").await
}

/// Guards against a link for others that contains the address of a private picture.
#[tokio::test(flavor = "multi_thread")]
async fn a_link_asks_for_a_picture_instead_of_containing_its_address() {
    let name = "a_link_asks_for_a_picture";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        choose(studio).await?;
        browser.press(&by("button", "Copy link")).await?;
        let message =
            "The link leaves out your file for image_url: it asks the recipient to choose it.";
        browser.wait_for_text(message, TIMEOUT).await?;
        let link = browser.clipboard().await?;
        assert!(link.contains("lamp") && !link.contains("outputs"), "{link}");
        browser.open("about:blank").await?;
        browser.open(&link).await?;
        browser
            .wait_for_text("This link needs a picture for image_url.", TIMEOUT)
            .await?;
        studio.wait_for_prompt("a brass lamp").await?;
        wait_for_value(browser, "the empty field", VALUE, "").await
    })
    .await;
}

/// Guards against a bare address in the lineage and the inputs.
#[tokio::test(flavor = "multi_thread")]
async fn an_uploaded_file_is_shown_as_an_origin() {
    let name = "an_uploaded_file_is_shown_as_an_origin";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        choose(studio).await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .find_with_limit(&by("button", "Run again"), TIMEOUT)
            .await?;
        browser.press(&by("button", "Show large")).await?;
        let dialog = browser.find(&by("dialog", "Output")).await?;
        let from = browser.find(&by("list", "Made from").within(&dialog)).await?;
        browser
            .find(&starting("link", "icon-192.png").within(&from))
            .await?;
        wait_for_value(browser, "the small picture", PICTURE, true).await?;
        let inputs = "return document.querySelector('dialog[open] .input-source .relative-title')?.textContent";
        wait_for_value(browser, "the input", inputs, "icon-192.png").await
    })
    .await;
}
