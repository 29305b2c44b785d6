//! Tests of outputs as inputs of other models, with their lineage, and of gallery selections as batch rows.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::{any, by, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::wait_for_match;
use serde_json::Value;
use std::time::Duration;

/// The time limit for a generation on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

async fn generate(browser: &Browser, service: &Service, model: &str, prompt: &str) -> Result<()> {
    let address = format!("{}/models/image/{model}", service.address());
    browser.open(&address).await?;
    browser.fill(&starting("textbox", "prompt"), prompt).await?;
    browser.press(&by("button", "Generate")).await?;
    browser
        .find_with_limit(&by("button", "Run again"), TIMEOUT)
        .await?;
    Ok(())
}

/// Returns a check that a text contains `part`.
fn contains(part: &str) -> impl Fn(&Value) -> bool {
    move |seen| seen.as_str().is_some_and(|seen| seen.contains(part))
}

const FOCUSED: &str = "return document.activeElement.outerHTML.slice(0, 400)";

/// Opens the newest output with this name in the lightbox.
async fn open_lightbox(browser: &Browser, service: &Service, name: &str) -> Result<()> {
    browser
        .open(&format!("{}/gallery", service.address()))
        .await?;
    let list = browser.find(&by("list", "Outputs")).await?;
    browser
        .press(&starting("button", name).within(&list))
        .await?;
    browser.find(&by("dialog", "Output")).await?;
    Ok(())
}

/// Guards against outputs without links to their inputs, and inputs without links to their outputs.
#[tokio::test(flavor = "multi_thread")]
async fn lineage_links_inputs_and_outputs() {
    drive("lineage_links_inputs_and_outputs", async |browser| {
        let service = Service::start_with_site(&["--speed", "0.1"]).await?;
        browser.set_size(1280, 900).await?;
        generate(browser, &service, "tessera", "a first harbour").await?;
        open_lightbox(browser, &service, "Image: a first harbour").await?;
        let dialog = browser.find(&by("dialog", "Output")).await?;
        browser.wait_for_text(" × ", TIMEOUT).await?;
        browser
            .press(&by("button", "Use as input").within(&dialog))
            .await?;
        browser.press(&starting("link", "Repaint")).await?;
        browser
            .fill(&starting("textbox", "prompt"), "a second harbour")
            .await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .find_with_limit(&by("button", "Run again"), TIMEOUT)
            .await?;

        open_lightbox(browser, &service, "Image: a second harbour").await?;
        let lineage = browser.find(&by("region", "Lineage")).await?;
        let from = by("list", "Made from").within(&lineage);
        let from = browser.find(&from).await?;
        browser
            .find(&by("button", "Run again: a first harbour").within(&from))
            .await?;
        browser
            .press(&starting("link", "a first harbour").within(&from))
            .await?;
        let into = browser.find(&by("list", "Used in")).await?;
        browser
            .press(&starting("link", "a second harbour").within(&into))
            .await?;
        browser.find(&by("list", "Made from")).await?;
        Ok(())
    })
    .await;
}

/// Guards against a selection that must be typed again as rows, against rows that are sent at once, and against a
/// lost focus when the focused element is removed.
#[tokio::test(flavor = "multi_thread")]
async fn gallery_selection_is_added_as_batch_rows() {
    drive("gallery_selection_is_added_as_batch_rows", async |browser| {
        let service = Service::start_with_site(&["--speed", "0.1"]).await?;
        browser.set_size(1280, 900).await?;
        generate(browser, &service, "tessera", "a red harbour").await?;
        generate(browser, &service, "strata", "a blue harbour").await?;
        let gallery = format!("{}/gallery", service.address());
        browser.open(&gallery).await?;
        let list = browser.find(&by("list", "Outputs")).await?;
        let choose = async |name: &str| -> Result<()> {
            let tile = starting("button", &format!("Image: {name}")).within(&list);
            Ok(browser.find(&tile).await?.send_keys("x").await?)
        };
        choose("a blue harbour").await?;
        browser.press(&by("button", "Select none")).await?;
        wait_for_match(browser, "the focus on a tile", FOCUSED, contains("data-output")).await?;

        choose("a red harbour").await?;
        choose("a blue harbour").await?;
        browser.press(&by("button", "Add to batch")).await?;
        browser.wait_for_text("Nothing is sent yet.", TIMEOUT).await?;
        browser.find(&by("link", "Strata · 1 row")).await?;
        browser.press(&by("link", "Tessera · 1 row")).await?;
        browser.find(&by("button", "Generate 1")).await?;
        let typed = "return [...document.querySelectorAll('textarea')].map(it => it.value).join()";
        wait_for_match(browser, "a row", typed, contains("a red harbour")).await?;

        // A selection of one model opens its batch page at once. After a removal, the next output gets the focus.
        browser.press(&by("link", "Gallery")).await?;
        let list = browser.find(&by("list", "Outputs")).await?;
        let tile = starting("button", "Image: a blue harbour").within(&list);
        browser.find(&tile).await?.send_keys("x").await?;
        browser.press(&by("button", "Add to batch")).await?;
        browser.find(&by("button", "Generate 2")).await?;
        browser
            .wait_for_text("Added 1 row to the existing row.", TIMEOUT)
            .await?;
        let notice = "1 row added. Nothing is sent yet.";
        browser.wait_for_text(notice, TIMEOUT).await?;
        browser.press(&by("button", "Undo")).await?;
        browser.find(&by("button", "Generate 1")).await?;
        browser.press(&by("link", "Gallery")).await?;
        let list = browser.find(&by("list", "Outputs")).await?;
        browser
            .find(&starting("button", "Image: a blue harbour").within(&list))
            .await?
            .send_keys("x")
            .await?;
        browser.press(&by("button", "Remove 1 task")).await?;
        wait_for_match(browser, "the focus on the next output", FOCUSED, contains("a red harbour")).await?;

        // Dragging a rectangle over the gallery selects the outputs that it touches.
        let draw = "
            const grid = document.querySelector('.gallery').getBoundingClientRect();
            const at = (type, x, y) => document.querySelector('main').dispatchEvent(
                new MouseEvent(type, { bubbles: true, cancelable: true, clientX: x, clientY: y, button: 0, buttons: 1 }));
            at('mousedown', grid.left - 5, grid.top + 2);
            at('mousemove', grid.left + 60, grid.top + 120);
            at('mouseup', grid.left + 60, grid.top + 120);
            return true;";
        assert_eq!(browser.run(draw, vec![]).await?, Value::Bool(true));
        browser.wait_for_text("1 selected", TIMEOUT).await?;
        let chosen = browser.find_all(&any("listitem").within(&list)).await?;
        assert!(!chosen.is_empty());
        Ok(())
    })
    .await;
}
