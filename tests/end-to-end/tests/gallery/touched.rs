//! What is done with one of several pictures lies over it while the pointer or the focus is there; a finger has it in the
//! large view.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::becomes;
use serde_json::json;

use crate::visit;

const SELECTED: &str = "return document.querySelectorAll('.tile-select:checked').length";
const OPEN: &str = "return document.querySelector('dialog[open]')?.ariaLabel ?? 'none'";

/// A finger stays on the first tile until that is selected, and then presses the second.
async fn select_two(browser: &Browser) -> Result<()> {
    let first = browser.middle_of("[data-output]").await?;
    let second = browser.middle_of("li:nth-child(2) [data-output]").await?;
    browser.touch_start(first).await?;
    becomes(browser, "what is selected by a long press", SELECTED, 1).await?;
    browser.touch_end().await?;
    // It would take the first one away again, or open it, if the end of the long press were a press.
    browser.touch_start(second).await?;
    browser.touch_end().await?;
    becomes(browser, "what is selected then", SELECTED, 2).await?;
    becomes(browser, "which dialog is open", OPEN, "none").await
}

/// Guards against a phone where nothing can be selected but by a small mark, and against a long press that opens what it
/// has selected, or the browser's menu.
#[tokio::test(flavor = "multi_thread")]
async fn a_finger_that_stays_on_a_tile_selects_it() {
    visit("a_finger_that_stays", 2, async |studio| {
        let browser = studio.browser;
        browser.emulate_touch().await?;
        studio.open("/gallery").await?;
        studio.sees_outputs(4).await?;
        becomes(browser, "tiles", "return document.querySelectorAll('[data-output]').length", 4).await?;
        let count = "
            window.menus = 0;
            addEventListener('contextmenu', (menu) => window.menus += menu.defaultPrevented ? 0 : 1)";
        browser.run(count, vec![]).await?;
        select_two(browser).await?;
        becomes(browser, "menus of the browser", "return window.menus", 0).await?;
        // One that scrolls is no press, however long it stays then: timers end in the order of their times.
        let held = "return new Promise((done) => setTimeout(done, 500))";
        let (x, y) = browser.middle_of("[data-output]").await?;
        browser.touch_start((x, y)).await?;
        browser.touch_move((x, y - 60.0)).await?;
        browser.run(held, vec![]).await?;
        browser.touch_end().await?;
        becomes(browser, "what is selected after a scroll", SELECTED, 2).await
    })
    .await;
}

/// Guards against buttons that cover the top of each of several pictures for good.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_lies_over_several_pictures_until_one_is_near() {
    visit("nothing_lies_over_several", 1, async |studio| {
        let browser = studio.browser;
        studio.open("/tasks/made-00000").await?;
        let over = "
            const buttons = [...document.querySelectorAll('.picture .over button')];
            const seen = buttons.filter(it => it.checkVisibility({ opacityProperty: true }));
            return document.querySelectorAll('.picture img').length < 2 ? 'no pictures'
                : seen.length ? 'covered' : 'uncovered'";
        becomes(browser, "pictures", over, "uncovered").await?;
        let focus = "document.querySelector('.picture .enlarge').focus()";
        browser.run(focus, vec![]).await?;
        becomes(browser, "one that has the focus", over, "covered").await?;
        let touch = json!({ "enabled": true, "maxTouchPoints": 1 });
        browser
            .devtools("Emulation.setTouchEmulationEnabled", touch)
            .await?;
        studio.open("/tasks/made-00000").await?;
        becomes(browser, "pictures", over, "uncovered").await?;
        browser.run(focus, vec![]).await?;
        becomes(browser, "one that has the focus", over, "uncovered").await?;
        // They are there, one press further on.
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
