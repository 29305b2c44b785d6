//! Removing tasks in the lightbox.

use std::time::Duration;

use atelier_end_to_end::find::by;

use crate::{CONTROL, ENTER, ESCAPE, RIGHT, Studio, TIMEOUT, run_steps};
use atelier_end_to_end::Result;
use atelier_end_to_end::wait::wait_for_value;

const DELETE: &str = "\u{e017}";

/// Releases Control.
const RELEASED: &str = "\u{e000}";

const FOCUS_IS_INSIDE: &str =
    "return String(!!document.activeElement.closest('dialog[aria-label=Output]'))";

/// Waits until the lightbox shows this output and has the focus.
async fn wait_for_shown(studio: &Studio<'_>, output: &str) -> Result<()> {
    studio
        .wait_for_address(&format!("lightbox={output}"))
        .await?;
    wait_for_value(
        studio.browser,
        "the focus in the lightbox",
        FOCUS_IS_INSIDE,
        "true",
    )
    .await
}

/// Guards against a lightbox that closes when its task is removed (with the button or the key) or restored. Also guards
/// against a message that does not count the other outputs of the task.
#[tokio::test(flavor = "multi_thread")]
async fn removing_a_task_shows_the_next_output() {
    run_steps("removing_a_task_shows_the_next_output", 3, async |studio| {
        let browser = studio.browser;
        studio.press_tile("Image: cobalt harbour 1").await?;
        browser.find(&by("dialog", "Output")).await?;
        browser
            .wait_for_text("With both of its outputs.", TIMEOUT)
            .await?;
        let remove = browser.find(&by("button", "Remove task")).await?;
        browser.stop_clock().await?;
        remove.send_keys(ENTER).await?;
        wait_for_shown(studio, "made-00000/0").await?;
        browser
            .wait_for_text("Removed 1 task with 2 outputs.", TIMEOUT)
            .await?;
        browser.wait_for_text("3 of 4", TIMEOUT).await?;
        // The page behind the dialog has an Undo button too, which WebKit's driver does not report as inert.
        let dialog = browser.find(&by("dialog", "Output")).await?;
        browser.press(&by("button", "Undo").within(&dialog)).await?;
        browser.start_clock().await?;
        wait_for_shown(studio, "made-00001/0").await?;
        browser.wait_for_text("3 of 6", TIMEOUT).await?;

        // The page ignores a second removal right after the first, because it may be a mistake.
        tokio::time::sleep(Duration::from_secs(1)).await;
        studio.press_keys(DELETE).await?;
        wait_for_shown(studio, "made-00000/0").await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
        studio.press_keys(DELETE).await?;
        // The removed output was the last, so the previous one is shown.
        wait_for_shown(studio, "made-00002/1").await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
        studio.press_keys(DELETE).await?;
        browser.wait_until_gone(&by("dialog", "Output")).await?;
        let tile_count = "return String(document.querySelectorAll('.gallery .tile').length)";
        wait_for_value(browser, "an empty gallery", tile_count, "0").await?;
        // The list of shortcuts contains the key.
        studio.press_keys("?").await?;
        browser.wait_for_text("Remove its task", TIMEOUT).await
    })
    .await;
}

/// Guards against a favorite that the lightbox removes without a confirmation.
#[tokio::test(flavor = "multi_thread")]
async fn removing_a_favorite_needs_confirmation() {
    run_steps(
        "removing_a_favorite_needs_confirmation",
        2,
        async |studio| {
            let browser = studio.browser;
            studio.press_tile("Image: cobalt harbour 1").await?;
            browser.find(&by("dialog", "Output")).await?;
            studio.press_keys("f").await?;
            studio.press_keys(DELETE).await?;
            let question = browser.find(&by("dialog", "Remove favorites")).await?;
            browser
                .wait_for_text("That includes 1 favorite.", TIMEOUT)
                .await?;
            browser
                .press(&by("button", "Keep").within(&question))
                .await?;
            wait_for_shown(studio, "made-00001/0").await?;
            browser.press(&by("button", "Remove task")).await?;
            let question = browser.find(&by("dialog", "Remove favorites")).await?;
            browser
                .press(&by("button", "Remove").within(&question))
                .await?;
            wait_for_shown(studio, "made-00000/0").await?;
            browser
                .wait_for_text("Removed 1 task with 2 outputs.", TIMEOUT)
                .await
        },
    )
    .await;
}

/// Guards against tiles on which Delete does not work, although `f` and `d` do, and against an Undo without a shortcut.
#[tokio::test(flavor = "multi_thread")]
async fn delete_removes_the_focused_output_and_control_z_restores_it() {
    let name = "delete_removes_the_focused_output_and_control_z_restores_it";
    run_steps(name, 3, async |studio| {
        let browser = studio.browser;
        let undo = format!("{CONTROL}z");
        browser.stop_clock().await?;
        let focus = "document.querySelector(`[data-output='made-00001/0']`).focus()";
        browser.run(focus, vec![]).await?;
        studio.press_keys(DELETE).await?;
        studio.wait_for_outputs(4).await?;
        browser
            .wait_for_text("Removed 1 task with 2 outputs.", TIMEOUT)
            .await?;
        // In a field, the shortcut undoes typing.
        let search = browser.find(&by("searchbox", "Search outputs")).await?;
        search.send_keys(&format!("rose{undo}")).await?;
        browser.find(&by("button", "Undo")).await?;
        let emptied = format!("{CONTROL}a{RELEASED}{DELETE}");
        search.send_keys(&emptied).await?;
        studio.wait_for_outputs(4).await?;
        browser.press(&by("heading", "Gallery")).await?;
        studio.press_keys(&undo).await?;
        studio.wait_for_outputs(6).await?;
        browser.wait_until_gone(&by("button", "Undo")).await?;

        // Delete removes the selection if there is one. The same keys work in the lightbox.
        browser.start_clock().await?;
        browser.run(focus, vec![]).await?;
        studio.press_keys("x").await?;
        studio.press_keys(RIGHT).await?;
        browser.stop_clock().await?;
        studio.press_keys(DELETE).await?;
        studio.wait_for_outputs(4).await?;
        studio.press_keys(&undo).await?;
        studio.wait_for_outputs(6).await?;
        browser.start_clock().await?;
        studio.press_tile("Image: cobalt harbour 1").await?;
        browser.find(&by("dialog", "Output")).await?;
        browser.stop_clock().await?;
        studio.press_keys(DELETE).await?;
        wait_for_shown(studio, "made-00000/0").await?;
        studio.press_keys(&undo).await?;
        wait_for_shown(studio, "made-00001/0").await?;
        studio.press_keys(ESCAPE).await?;
        studio.press_keys("?").await?;
        browser
            .wait_for_text("Undo, while that is offered", TIMEOUT)
            .await
    })
    .await;
}
