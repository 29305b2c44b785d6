//! Layout and focus when outputs are removed, selected or opened.

use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::wait_for_value;
use serde_json::json;

use crate::{ESCAPE, RIGHT, TIMEOUT, run_steps};

/// A script that lists faults in the layout of the tiles: gaps and overlaps.
const LAYOUT_FAULTS: &str = "
    const tiles = [...document.querySelectorAll('.gallery .tile')].map(tile => ({
        at: Number(tile.getAttribute('aria-posinset')),
        ...(({ left, right, top, bottom }) => ({ left, right, top, bottom }))(tile.getBoundingClientRect()),
    })).sort((a, b) => a.at - b.at);
    const edge = document.querySelector('.gallery').getBoundingClientRect().left;
    const wrong = [];
    tiles.forEach((tile, n) => {
        const before = tiles[n - 1];
        if (before && before.at !== tile.at - 1) wrong.push(`${tile.at} after ${before.at}`);
        const follows = before && Math.abs(tile.left - before.right - 6) < 1 && Math.abs(tile.top - before.top) < 1;
        const begins = Math.abs(tile.left - edge) < 1 && (!before || tile.top > before.bottom);
        if (!follows && !begins) wrong.push(`${tile.at} lies at ${tile.left}, ${tile.top}`);
    });
    return tiles.length ? wrong.join('; ') : 'no tiles';";

const FOCUSED: &str =
    "return document.activeElement.dataset.output ?? document.activeElement.tagName";

/// Guards against gaps after outputs were removed, and overlaps after they were restored: tiles that stayed while the list
/// changed never moved again. Also guards against a message that does not count the other outputs of the removed task.
#[tokio::test(flavor = "multi_thread")]
async fn tiles_have_no_gaps_after_outputs_are_removed() {
    let name = "tiles_have_no_gaps_after_outputs_are_removed";
    run_steps(name, 12, async |studio| {
        let browser = studio.browser;
        // Scrolling changes the list of rendered tiles before the removal.
        let scroll = "scrollTo(0, 600); scrollTo(0, 0)";
        browser.run(scroll, vec![]).await?;
        wait_for_value(browser, "rows without gaps", LAYOUT_FAULTS, "").await?;
        let second = "document.querySelectorAll('[data-output]')[2].focus()";
        browser.run(second, vec![]).await?;
        studio.press_keys("x").await?;
        // One of the task's two outputs was selected, and both are removed.
        browser.stop_clock().await?;
        browser
            .press(&by("button", "Remove 1 task, 2 outputs"))
            .await?;
        browser
            .wait_for_text("Removed 1 task with 2 outputs.", TIMEOUT)
            .await?;
        studio.wait_for_outputs(22).await?;
        wait_for_value(
            browser,
            "rows without gaps, from the bar",
            LAYOUT_FAULTS,
            "",
        )
        .await?;
        browser.press(&by("button", "Undo")).await?;
        browser.start_clock().await?;
        studio.wait_for_outputs(24).await?;
        wait_for_value(browser, "rows without overlaps", LAYOUT_FAULTS, "").await?;

        studio.press_tile("Image: amber harbour 8").await?;
        browser.press(&by("button", "Remove task")).await?;
        studio.wait_for_outputs(22).await?;
        wait_for_value(
            browser,
            "rows without gaps, from the lightbox",
            LAYOUT_FAULTS,
            "",
        )
        .await
    })
    .await;
}

/// Guards against a focus that is lost when the first output is removed, also when it is a favorite and a dialog asks first.
#[tokio::test(flavor = "multi_thread")]
async fn removing_the_first_output_focuses_the_next() {
    let name = "removing_the_first_output_focuses_the_next";
    run_steps(name, 40, async |studio| {
        let browser = studio.browser;
        let are_there = "return String(!!document.querySelector('[data-output]'))";
        wait_for_value(browser, "tiles", are_there, "true").await?;
        for is_favorite in [false, true] {
            let choose = "
                const tile = document.querySelector('[data-output]');
                tile.focus();
                tile.dispatchEvent(new MouseEvent('click', { bubbles: true, ctrlKey: true, detail: 1 }));";
            browser.run(choose, vec![]).await?;
            if is_favorite {
                browser.needs(Capability::StoredFiles)?;
                studio.press_keys("f").await?;
            }
            studio.press_keys("\u{e017}").await?;
            if is_favorite {
                let question = browser.find(&by("dialog", "Remove favorites")).await?;
                let remove = by("button", "Remove").within(&question);
                browser.press(&remove).await?;
            }
            studio
                .wait_for_outputs(if is_favorite { 76 } else { 78 })
                .await?;
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
            let is_first =
                "return String(document.activeElement === document.querySelector('[data-output]'))";
            wait_for_value(browser, "the focus on the next output", is_first, "true").await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against tiles that move while the user selects them with the pointer, and against a selection that Escape does not
/// clear.
#[tokio::test(flavor = "multi_thread")]
async fn selecting_does_not_move_tiles_and_escape_clears_the_selection() {
    let name = "selecting_does_not_move_tiles_and_escape_clears_the_selection";
    run_steps(name, 4, async |studio| {
        let browser = studio.browser;
        let draw = "
            const list = document.querySelector('.gallery');
            const before = list.getBoundingClientRect().top;
            const { left, top } = document.querySelector('.tile').getBoundingClientRect();
            const at = (name, x, y) => document.querySelector('.page-head').dispatchEvent(
                new MouseEvent(name, { bubbles: true, cancelable: true, button: 0, clientX: x, clientY: y }));
            at('mousedown', left - 5, top - 5);
            at('mousemove', left + 20, top + 20);
            at('mousemove', left + 40, top + 40);
            at('mouseup', left + 40, top + 40);
            return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(
                () => done(list.getBoundingClientRect().top - before))));";
        let moved = browser.run(draw, vec![]).await?;
        browser.wait_for_text("1 selected", TIMEOUT).await?;
        assert_eq!(moved, json!(0));
        studio.press_keys(ESCAPE).await?;
        let is_hidden = "return String(document.querySelector('.selection').hidden)";
        wait_for_value(browser, "no selection", is_hidden, "true").await
    })
    .await;
}

/// Guards against a focus that is lost by a press on an image, or when the lightbox closes.
#[tokio::test(flavor = "multi_thread")]
async fn closing_the_lightbox_focuses_the_last_shown_output() {
    let name = "closing_the_lightbox_focuses_the_last_shown_output";
    run_steps(name, 4, async |studio| {
        let browser = studio.browser;
        studio.press_tile("Image: jade harbour 3").await?;
        let dialog = browser.find(&by("dialog", "Output")).await?;
        studio.press_keys(RIGHT).await?;
        studio.press_keys(RIGHT).await?;
        studio.wait_for_address("lightbox=made-00002/0").await?;
        browser
            .press(&by("button", "Close").within(&dialog))
            .await?;
        browser.wait_until_gone(&by("dialog", "Output")).await?;
        wait_for_value(browser, "the focus", FOCUSED, "made-00002/0").await?;
        // The output gets the focus even if nothing had it before.
        studio.open("/gallery?lightbox=made-00001/1").await?;
        browser.find(&by("dialog", "Output")).await?;
        browser.wait_for_text("cobalt harbour 1", TIMEOUT).await?;
        studio.press_keys(ESCAPE).await?;
        browser.wait_until_gone(&by("dialog", "Output")).await?;
        wait_for_value(browser, "the focus", FOCUSED, "made-00001/1").await?;
        // From there, End and Home move the focus to both ends.
        studio.press_keys("\u{e010}").await?;
        wait_for_value(browser, "the last output", FOCUSED, "made-00000/1").await?;
        studio.press_keys("\u{e011}").await?;
        wait_for_value(browser, "the first output", FOCUSED, "made-00003/0").await?;

        // The page of a task also focuses the output if it was loaded with the lightbox open.
        studio
            .open("/tasks/made-00001?lightbox=made-00001/1")
            .await?;
        browser.find(&by("dialog", "Output")).await?;
        browser.wait_for_text("cobalt harbour 1", TIMEOUT).await?;
        studio.press_keys(ESCAPE).await?;
        browser.wait_until_gone(&by("dialog", "Output")).await?;
        wait_for_value(browser, "the focus on the page", FOCUSED, "made-00001/1").await
    })
    .await;
}

/// Guards against a press that shrinks the image, and against keys that do not zoom.
#[tokio::test(flavor = "multi_thread")]
async fn keys_and_double_clicks_zoom_the_image() {
    run_steps("keys_and_double_clicks_zoom_the_image", 2, async |studio| {
        let browser = studio.browser;
        studio.press_tile("Image: cobalt harbour 1").await?;
        browser.find(&by("dialog", "Output")).await?;
        let zoom = "
            const image = document.querySelector('.stage > img');
            return (image.getBoundingClientRect().width / image.clientWidth).toFixed(2)";
        wait_for_value(browser, "the whole image", zoom, "1.00").await?;
        studio.press_keys("+").await?;
        wait_for_value(browser, "an image zoomed by one step", zoom, "1.25").await?;
        studio.press_keys("0").await?;
        wait_for_value(browser, "the whole image", zoom, "1.00").await?;
        let double_click = "
            const image = document.querySelector('.stage > img');
            image.dispatchEvent(new MouseEvent('dblclick', { bubbles: true, clientX: 400, clientY: 400 }))";
        browser.run(double_click, vec![]).await?;
        wait_for_value(browser, "an image zoomed to twice its size", zoom, "2.00").await?;
        // The list of shortcuts can be opened here too.
        studio.press_keys("?").await?;
        browser.find(&by("dialog", "Keyboard shortcuts")).await?;
        Ok(())
    })
    .await;
}
