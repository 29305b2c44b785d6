//! Tests of the layout of the model page.

use crate::studio::{MODEL, TIMEOUT, run_steps};
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::wait_for_value;

/// Guards against mode tabs that move when one is pressed.
#[tokio::test(flavor = "multi_thread")]
async fn mode_selector_keeps_position_in_every_mode() {
    run_steps("mode_selector_keeps_position_in_every_mode", &[], async |studio| {
        let browser = studio.browser;
        for width in [390, 768] {
            browser.set_size(width, 844).await?;
            studio.open(MODEL).await?;
            browser.wait_until_settled().await?;
            let place = "
                const { x, y } = document.querySelector('[role=radiogroup][aria-label=Mode]').getBoundingClientRect();
                return `${Math.round(x)},${Math.round(y)}`";
            let before = browser.run(place, vec![]).await?;
            let before = before.as_str().unwrap_or_default().to_owned();
            for mode in ["Batch", "Integrations", "One"] {
                browser.press(&by("radio", mode)).await?;
                let what = format!("the position at {width} in {mode}");
                wait_for_value(browser, &what, place, before.as_str()).await?;
            }
        }
        Ok(())
    })
    .await;
}

/// Guards against a prompt of 40 lines that pushes all other parameters out of the viewport.
#[tokio::test(flavor = "multi_thread")]
async fn long_prompt_scrolls_within_its_field() {
    run_steps("long_prompt_scrolls_within_its_field", &[], async |studio| {
        let browser = studio.browser;
        let lines = |height: &str| {
            format!(
                "const field = document.querySelector('.form textarea[required]');
                field.style.blockSize = '';
                field.style.height = '{height}';
                const {{ paddingTop, lineHeight }} = getComputedStyle(field);
                return Math.round((field.clientHeight - 2 * parseFloat(paddingTop)) / parseFloat(lineHeight))"
            )
        };
        let prompt = (0..40).map(|n| format!("line {n}")).collect::<Vec<_>>();
        // Without `field-sizing`, the field keeps its height.
        let grows = browser.run("return CSS.supports('field-sizing', 'content')", vec![]).await?;
        let most = if grows == true { 8 } else { 4 };
        for (width, height) in [(1440, 900), (390, 844)] {
            browser.set_size(width, height).await?;
            studio.type_prompt(&prompt.join("\n")).await?;
            wait_for_value(browser, "the visible lines", &lines(""), most).await?;
        }
        browser.set_size(1440, 900).await?;
        wait_for_value(browser, "the lines after resizing", &lines("20rem"), 13).await
    })
    .await;
}

/// Guards against a Download button that is only in a menu.
#[tokio::test(flavor = "multi_thread")]
async fn output_actions_are_in_one_row_on_phone() {
    run_steps(
        "output_actions_are_in_one_row_on_phone",
        &["--speed", "0"],
        async |studio| {
            let browser = studio.browser;
            browser.needs(Capability::NarrowWindow)?;
            browser.set_size(390, 844).await?;
            studio.open(MODEL).await?;
            studio.type_prompt("amber").await?;
            browser.press(&by("button", "Generate")).await?;
            browser
                .find_with_limit(&by("button", "Download"), TIMEOUT)
                .await?;
            let row = "
            const row = document.querySelector('.task-actions');
            const seen = [...row.querySelectorAll('button')].filter(it => it.checkVisibility());
            const tops = new Set(seen.map(it => Math.round(it.getBoundingClientRect().top)));
            const names = seen.map(it => it.ariaLabel ?? it.textContent.trim());
            return `${names.join()} in ${tops.size}`";
            let all = "Vary,Use as input,Download,Favorite,More actions in 1";
            wait_for_value(browser, "the row", row, all).await?;
            browser.press(&by("button", "More actions")).await?;
            browser.find(&by("button", "Edit")).await?;
            browser.press(&by("button", "Run again")).await?;
            studio.wait_for_sent(2).await
        },
    )
    .await;
}
