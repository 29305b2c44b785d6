//! What becomes of the tiles and of the focus when outputs go, are chosen or are looked at.

use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::becomes;
use serde_json::json;

use crate::{ESCAPE, RIGHT, TIMEOUT, visit};

/// What is wrong with how the tiles lie: holes, and tiles over each other.
const HOLES: &str = "
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

/// Guards against holes where outputs were removed, and tiles over each other once they are back: a tile
/// that stayed while the list changed never moved again. And against outputs that go with another one, unsaid.
#[tokio::test(flavor = "multi_thread")]
async fn tiles_close_up_where_outputs_go() {
    visit("tiles_close_up", 12, async |studio| {
        let browser = studio.browser;
        // The list has changed before: it was scrolled.
        let scroll = "scrollTo(0, 600); scrollTo(0, 0)";
        browser.run(scroll, vec![]).await?;
        becomes(browser, "rows without holes", HOLES, "").await?;
        let second = "document.querySelectorAll('[data-output]')[2].focus()";
        browser.run(second, vec![]).await?;
        studio.keys("x").await?;
        // One of two was chosen, and both go.
        browser.stop_clock().await?;
        browser
            .press(&by("button", "Remove 1 task, 2 outputs"))
            .await?;
        browser
            .see_text("Removed 1 task with 2 outputs.", TIMEOUT)
            .await?;
        studio.sees_outputs(22).await?;
        becomes(browser, "rows without holes, from the bar", HOLES, "").await?;
        browser.press(&by("button", "Undo")).await?;
        browser.start_clock().await?;
        studio.sees_outputs(24).await?;
        becomes(browser, "rows without overlaps", HOLES, "").await?;

        studio.press_tile("Image: amber harbour 8").await?;
        browser.press(&by("button", "Remove task")).await?;
        studio.sees_outputs(22).await?;
        becomes(
            browser,
            "rows without holes, from the large view",
            HOLES,
            "",
        )
        .await
    })
    .await;
}

/// Guards against a focus that is lost with what was removed, the first one and a favorite, so that it was asked before.
#[tokio::test(flavor = "multi_thread")]
async fn the_focus_goes_on_where_the_first_is_removed() {
    visit("the_focus_goes_on", 40, async |studio| {
        let browser = studio.browser;
        let are_there = "return String(!!document.querySelector('[data-output]'))";
        becomes(browser, "tiles", are_there, "true").await?;
        for is_favorite in [false, true] {
            let choose = "
                const tile = document.querySelector('[data-output]');
                tile.focus();
                tile.dispatchEvent(new MouseEvent('click', { bubbles: true, ctrlKey: true, detail: 1 }));";
            browser.run(choose, vec![]).await?;
            if is_favorite {
                browser.needs(Capability::StoredFiles)?;
                studio.keys("f").await?;
            }
            studio.keys("\u{e017}").await?;
            if is_favorite {
                let question = browser.find(&by("dialog", "Remove favorites")).await?;
                let remove = by("button", "Remove").within(&question);
                browser.press(&remove).await?;
            }
            studio
                .sees_outputs(if is_favorite { 76 } else { 78 })
                .await?;
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
            let is_first =
                "return String(document.activeElement === document.querySelector('[data-output]'))";
            becomes(browser, "the focus on the next one", is_first, "true").await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against tiles that move away under the pointer that chooses, and a choice by it that no key can
/// end.
#[tokio::test(flavor = "multi_thread")]
async fn choosing_moves_nothing_and_escape_ends_it() {
    visit("choosing_moves_nothing", 4, async |studio| {
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
        browser.see_text("1 selected", TIMEOUT).await?;
        assert_eq!(moved, json!(0));
        studio.keys(ESCAPE).await?;
        let is_hidden = "return String(document.querySelector('.selection').hidden)";
        becomes(browser, "no selection", is_hidden, "true").await
    })
    .await;
}

/// Guards against a focus that falls to nothing: by a press on the picture, and after the large view.
#[tokio::test(flavor = "multi_thread")]
async fn the_focus_returns_to_what_was_seen_last() {
    visit("the_focus_returns", 4, async |studio| {
        let browser = studio.browser;
        studio.press_tile("Image: jade harbour 3").await?;
        let dialog = browser.find(&by("dialog", "Output")).await?;
        studio.keys(RIGHT).await?;
        studio.keys(RIGHT).await?;
        studio.is_at("lightbox=made-00002/0").await?;
        browser
            .press(&by("button", "Close").within(&dialog))
            .await?;
        browser.find_gone(&by("dialog", "Output")).await?;
        becomes(browser, "the focus", FOCUSED, "made-00002/0").await?;
        // The same where nothing had it before.
        studio.open("/gallery?lightbox=made-00001/1").await?;
        browser.find(&by("dialog", "Output")).await?;
        browser.see_text("cobalt harbour 1", TIMEOUT).await?;
        studio.keys(ESCAPE).await?;
        browser.find_gone(&by("dialog", "Output")).await?;
        becomes(browser, "the focus", FOCUSED, "made-00001/1").await?;
        // And from there keys lead to both ends.
        studio.keys("\u{e010}").await?;
        becomes(browser, "the last one", FOCUSED, "made-00000/1").await?;
        studio.keys("\u{e011}").await?;
        becomes(browser, "the first one", FOCUSED, "made-00003/0").await?;

        // On the page of a task nothing had it either, once that page was loaded with the output large.
        studio
            .open("/tasks/made-00001?lightbox=made-00001/1")
            .await?;
        browser.find(&by("dialog", "Output")).await?;
        browser.see_text("cobalt harbour 1", TIMEOUT).await?;
        studio.keys(ESCAPE).await?;
        browser.find_gone(&by("dialog", "Output")).await?;
        becomes(browser, "the focus on the page", FOCUSED, "made-00001/1").await
    })
    .await;
}

/// Guards against a picture that a press makes smaller, and keys that do not bring it closer.
#[tokio::test(flavor = "multi_thread")]
async fn a_picture_comes_closer() {
    visit("a_picture_comes_closer", 2, async |studio| {
        let browser = studio.browser;
        studio.press_tile("Image: cobalt harbour 1").await?;
        browser.find(&by("dialog", "Output")).await?;
        let wide = "
            const image = document.querySelector('.stage > img');
            return (image.getBoundingClientRect().width / image.clientWidth).toFixed(2)";
        becomes(browser, "a whole picture", wide, "1.00").await?;
        studio.keys("+").await?;
        becomes(browser, "a picture a step closer", wide, "1.25").await?;
        studio.keys("0").await?;
        becomes(browser, "a whole picture", wide, "1.00").await?;
        let twice = "
            const image = document.querySelector('.stage > img');
            image.dispatchEvent(new MouseEvent('dblclick', { bubbles: true, clientX: 400, clientY: 400 }))";
        browser.run(twice, vec![]).await?;
        becomes(browser, "a picture twice as large", wide, "2.00").await?;
        // The list of keys can be read here, too.
        studio.keys("?").await?;
        browser.find(&by("dialog", "Keyboard shortcuts")).await?;
        Ok(())
    })
    .await;
}
