//! What is done with one of several pictures lies over it while the pointer or the focus is there; a finger has it in the
//! large view.

use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::becomes;
use serde_json::json;

use crate::visit;

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
