//! Tasks that are removed from the large view.

use std::time::Duration;

use atelier_end_to_end::find::by;

use crate::{CONTROL, ENTER, ESCAPE, RIGHT, Studio, TIMEOUT, visit};
use atelier_end_to_end::Result;
use atelier_end_to_end::wait::becomes;

const DELETE: &str = "\u{e017}";

/// Lets go of Control.
const RELEASED: &str = "\u{e000}";

const FOCUS_IS_INSIDE: &str =
    "return String(!!document.activeElement.closest('dialog[aria-label=Output]'))";

/// What is shown large, and that keys still reach it.
async fn shows(studio: &Studio<'_>, output: &str) -> Result<()> {
    studio.is_at(&format!("lightbox={output}")).await?;
    becomes(
        studio.browser,
        "the focus in the large view",
        FOCUS_IS_INSIDE,
        "true",
    )
    .await
}

/// Guards against a large view that closes where a person weeds out what came: by the button, by the key, and back
/// again; and against siblings that go along unsaid.
#[tokio::test(flavor = "multi_thread")]
async fn removing_goes_on_to_the_next() {
    visit("removing_goes_on", 3, async |studio| {
        let browser = studio.browser;
        studio.press_tile("Image: cobalt harbour 1").await?;
        browser.find(&by("dialog", "Output")).await?;
        browser
            .see_text("With both of its outputs.", TIMEOUT)
            .await?;
        let remove = browser.find(&by("button", "Remove task")).await?;
        browser.stop_clock().await?;
        remove.send_keys(ENTER).await?;
        shows(studio, "made-00000/0").await?;
        browser
            .see_text("Removed 1 task with 2 outputs.", TIMEOUT)
            .await?;
        browser.see_text("3 of 4", TIMEOUT).await?;
        // The page behind has one, too, which WebKit does not tell to be out of reach.
        let dialog = browser.find(&by("dialog", "Output")).await?;
        browser.press(&by("button", "Undo").within(&dialog)).await?;
        browser.start_clock().await?;
        shows(studio, "made-00001/0").await?;
        browser.see_text("3 of 6", TIMEOUT).await?;

        // A second one so soon after the first would be one by mistake.
        tokio::time::sleep(Duration::from_secs(1)).await;
        studio.keys(DELETE).await?;
        shows(studio, "made-00000/0").await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
        studio.keys(DELETE).await?;
        // It was the last one: the one before it.
        shows(studio, "made-00002/1").await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
        studio.keys(DELETE).await?;
        browser.find_gone(&by("dialog", "Output")).await?;
        let left = "return String(document.querySelectorAll('.gallery .tile').length)";
        becomes(browser, "an empty gallery", left, "0").await?;
        // The list of keys has it.
        studio.keys("?").await?;
        browser.see_text("Remove its task", TIMEOUT).await
    })
    .await;
}

/// Guards against a favorite that is gone at one press in the large view alone.
#[tokio::test(flavor = "multi_thread")]
async fn a_favorite_is_asked_about_before_it_goes() {
    visit("a_favorite_is_asked_about", 2, async |studio| {
        let browser = studio.browser;
        studio.press_tile("Image: cobalt harbour 1").await?;
        browser.find(&by("dialog", "Output")).await?;
        studio.keys("f").await?;
        studio.keys(DELETE).await?;
        let question = browser.find(&by("dialog", "Remove favorites")).await?;
        browser
            .see_text("That includes 1 favorite.", TIMEOUT)
            .await?;
        browser
            .press(&by("button", "Keep").within(&question))
            .await?;
        shows(studio, "made-00001/0").await?;
        browser.press(&by("button", "Remove task")).await?;
        let question = browser.find(&by("dialog", "Remove favorites")).await?;
        browser
            .press(&by("button", "Remove").within(&question))
            .await?;
        shows(studio, "made-00000/0").await?;
        browser
            .see_text("Removed 1 task with 2 outputs.", TIMEOUT)
            .await
    })
    .await;
}

/// Guards against a tile that `f` and `d` act on and Delete does not, and against an Undo that only a pointer reaches.
#[tokio::test(flavor = "multi_thread")]
async fn delete_removes_the_focused_output_and_control_z_brings_it_back() {
    visit("delete_removes_the_focused_output", 3, async |studio| {
        let browser = studio.browser;
        let undo = format!("{CONTROL}z");
        browser.stop_clock().await?;
        let focus = "document.querySelector(`[data-output='made-00001/0']`).focus()";
        browser.run(focus, vec![]).await?;
        studio.keys(DELETE).await?;
        studio.sees_outputs(4).await?;
        browser
            .see_text("Removed 1 task with 2 outputs.", TIMEOUT)
            .await?;
        // What is typed is undone by the browser.
        let search = browser.find(&by("searchbox", "Search outputs")).await?;
        search.send_keys(&format!("rose{undo}")).await?;
        browser.find(&by("button", "Undo")).await?;
        let emptied = format!("{CONTROL}a{RELEASED}{DELETE}");
        search.send_keys(&emptied).await?;
        studio.sees_outputs(4).await?;
        browser.press(&by("heading", "Gallery")).await?;
        studio.keys(&undo).await?;
        studio.sees_outputs(6).await?;
        browser.find_gone(&by("button", "Undo")).await?;

        // Where something is selected, that goes; and in the large view the same keys.
        browser.start_clock().await?;
        browser.run(focus, vec![]).await?;
        studio.keys("x").await?;
        studio.keys(RIGHT).await?;
        browser.stop_clock().await?;
        studio.keys(DELETE).await?;
        studio.sees_outputs(4).await?;
        studio.keys(&undo).await?;
        studio.sees_outputs(6).await?;
        browser.start_clock().await?;
        studio.press_tile("Image: cobalt harbour 1").await?;
        browser.find(&by("dialog", "Output")).await?;
        browser.stop_clock().await?;
        studio.keys(DELETE).await?;
        shows(studio, "made-00000/0").await?;
        studio.keys(&undo).await?;
        shows(studio, "made-00001/0").await?;
        studio.keys(ESCAPE).await?;
        studio.keys("?").await?;
        browser
            .see_text("Undo, while that is offered", TIMEOUT)
            .await
    })
    .await;
}
