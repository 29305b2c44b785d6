//! Touch screens: a long press selects, and the actions on an image are in the lightbox instead of over the image.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::wait_for_value;
use serde_json::json;

use crate::run_steps;

/// A script that returns the number of selected tiles.
const SELECTED: &str = "return document.querySelectorAll('.tile-select:checked').length";
/// A script that returns the name of the open dialog.
const OPEN_DIALOG: &str = "return document.querySelector('dialog[open]')?.ariaLabel ?? 'none'";

/// Selects the first tile with a long press and the second with a tap.
async fn select_two(browser: &Browser) -> Result<()> {
    let first = browser.middle_of("[data-output]").await?;
    let second = browser.middle_of("li:nth-child(2) [data-output]").await?;
    browser.touch_start(first).await?;
    wait_for_value(
        browser,
        "the number of selected tiles after a long press",
        SELECTED,
        1,
    )
    .await?;
    browser.touch_end().await?;
    // If the end of the long press counted as a tap, the first tile would be deselected or opened.
    browser.touch_start(second).await?;
    browser.touch_end().await?;
    wait_for_value(browser, "the number of selected tiles", SELECTED, 2).await?;
    wait_for_value(browser, "the open dialog", OPEN_DIALOG, "none").await
}

/// Guards against tiles that can be selected on a phone only with a small checkbox, and against a long press that opens the
/// selected tile or the browser's menu.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_press_selects_a_tile() {
    run_steps("a_long_press_selects_a_tile", 2, async |studio| {
        let browser = studio.browser;
        browser.emulate_touch().await?;
        studio.open("/gallery").await?;
        studio.wait_for_outputs(4).await?;
        wait_for_value(browser, "tiles", "return document.querySelectorAll('[data-output]').length", 4).await?;
        let count = "
            window.menus = 0;
            addEventListener('contextmenu', (menu) => window.menus += menu.defaultPrevented ? 0 : 1)";
        browser.run(count, vec![]).await?;
        select_two(browser).await?;
        wait_for_value(browser, "the number of browser menus", "return window.menus", 0).await?;
        // A touch that scrolls is not a long press, however long it lasts. The script's timer ends after the page's, since
        // it is longer.
        let wait = "return new Promise((done) => setTimeout(done, 500))";
        let (x, y) = browser.middle_of("[data-output]").await?;
        browser.touch_start((x, y)).await?;
        browser.touch_move((x, y - 60.0)).await?;
        browser.run(wait, vec![]).await?;
        browser.touch_end().await?;
        wait_for_value(browser, "the number of selected tiles after a scroll", SELECTED, 2).await
    })
    .await;
}

/// Guards against buttons that permanently cover the top of images.
#[tokio::test(flavor = "multi_thread")]
async fn buttons_cover_an_image_only_while_it_has_the_focus_or_pointer() {
    let name = "buttons_cover_an_image_only_while_it_has_the_focus_or_pointer";
    run_steps(name, 1, async |studio| {
        let browser = studio.browser;
        studio.open("/tasks/made-00000").await?;
        let coverage = "
            const buttons = [...document.querySelectorAll('.picture .over button')];
            const seen = buttons.filter(it => it.checkVisibility({ opacityProperty: true }));
            return document.querySelectorAll('.picture img').length < 2 ? 'no pictures'
                : seen.length ? 'covered' : 'uncovered'";
        wait_for_value(browser, "the images", coverage, "uncovered").await?;
        let focus = "document.querySelector('.picture .enlarge').focus()";
        browser.run(focus, vec![]).await?;
        wait_for_value(browser, "a focused image", coverage, "covered").await?;
        let touch = json!({ "enabled": true, "maxTouchPoints": 1 });
        browser
            .devtools("Emulation.setTouchEmulationEnabled", touch)
            .await?;
        studio.open("/tasks/made-00000").await?;
        wait_for_value(
            browser,
            "the images on a touch screen",
            coverage,
            "uncovered",
        )
        .await?;
        browser.run(focus, vec![]).await?;
        wait_for_value(
            browser,
            "a focused image on a touch screen",
            coverage,
            "uncovered",
        )
        .await?;
        // The buttons are in the lightbox.
        let large = browser.find_all(&by("button", "Show large")).await?;
        large[0].click().await?;
        let dialog = browser.find(&by("dialog", "Output")).await?;
        for name in ["Download", "Vary", "Compare"] {
            browser.find(&by("button", name).within(&dialog)).await?;
        }
        Ok(())
    })
    .await;
}
