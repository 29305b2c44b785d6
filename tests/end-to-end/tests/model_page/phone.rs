//! The form at the foot of a phone's screen.

use crate::studio::{Studio, play};
use atelier_end_to_end::Result;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::becomes;

/// Descriptions of three and of four lines, and a first field that is not a prompt.
const PAGES: [(&str, &str); 3] = [
    ("/models/image/tessera", "Tessera"),
    ("/models/image/repaint", "Repaint"),
    ("/models/image/strata", "Strata"),
];

const SMALL_SCREENS: [(u32, u32); 3] = [(320, 568), (320, 640), (375, 667)];

const IN_THE_WINDOW: &str = "
    const form = document.querySelector('form[aria-label=Input]');
    const { top, bottom } = form.querySelector('[type=submit]').getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight ? 'in sight' : `from ${top} to ${bottom} of ${innerHeight}`";

/// What has the focus, wholly between the bar and the foot of the form.
const FOCUS_IN_SIGHT: &str = "
    const { top, bottom } = document.activeElement.getBoundingClientRect();
    const bar = document.querySelector('.bar').getBoundingClientRect();
    const foot = document.querySelector('.form-foot').getBoundingClientRect();
    return top >= bar.bottom && bottom <= foot.top ? 'in sight' : `from ${top} to ${bottom}, above ${foot.top}`";

/// Two parameters that are out of bounds: a list of problems, which is the highest that the form can be.
const TWO_PROBLEMS: &str = "
    for (const field of [...document.querySelectorAll('form[aria-label=Input] [role=spinbutton]')].slice(0, 2)) {
        field.value = '9999';
        field.dispatchEvent(new Event('input', { bubbles: true }));
        field.dispatchEvent(new Event('change', { bubbles: true }));
    }";

/// Guards against a Generate that lies below the screen before anything was touched: a head higher than somebody reckoned
/// with pushes a form down that cannot rise above its own place.
#[tokio::test(flavor = "multi_thread")]
async fn generate_is_in_the_window_of_a_small_phone() {
    play("generate_on_a_small_phone", &[], async |studio| {
        let browser = studio.browser;
        for (width, height) in SMALL_SCREENS {
            browser.set_size(width, height).await?;
            for (path, heading) in PAGES {
                let what = |when: &str| format!("{heading} at {width}×{height} {when}");
                open(studio, path, heading).await?;
                becomes(browser, &what("on load"), IN_THE_WINDOW, "in sight").await?;
                browser
                    .run(
                        "document.querySelector('form[aria-label=Input] textarea').focus()",
                        vec![],
                    )
                    .await?;
                becomes(browser, &what("at the prompt"), IN_THE_WINDOW, "in sight").await?;
                becomes(
                    browser,
                    &what("at the prompt, itself"),
                    FOCUS_IN_SIGHT,
                    "in sight",
                )
                .await?;
                browser.press(&by("button", "Generate")).await?;
                browser.find(&starting("textbox", "prompt")).await?;
                becomes(
                    browser,
                    &what("with one problem"),
                    IN_THE_WINDOW,
                    "in sight",
                )
                .await?;
                browser.run(TWO_PROBLEMS, vec![]).await?;
                browser.press(&by("button", "Generate")).await?;
                browser
                    .see_text("Not sent.", crate::studio::TIMEOUT)
                    .await?;
                becomes(browser, &what("with several"), IN_THE_WINDOW, "in sight").await?;
            }
        }
        Ok(())
    })
    .await;
}

async fn open(studio: &Studio<'_>, path: &str, heading: &str) -> Result<()> {
    let browser = studio.browser;
    browser.open(&studio.address(path)).await?;
    browser.find(&by("heading", heading)).await?;
    browser.find(&by("button", "Generate")).await?;
    Ok(())
}
