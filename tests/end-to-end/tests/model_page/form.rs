//! The form, as it is unfolded and as it is changed.

use crate::studio::{TIMEOUT, play};
use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::becomes;
use fantoccini::actions::{InputSource, MOUSE_BUTTON_LEFT, MouseActions, PointerAction};
use std::time::Duration;

/// Its role is a browser's own.
const UNFOLD_MORE: &str = "document.querySelector('.more-fields > summary').click()";

/// Presses what is at this place of the window.
async fn press_at(browser: &Browser, x: f64, y: f64) -> Result<()> {
    let button = MOUSE_BUTTON_LEFT;
    let press = MouseActions::new("mouse".to_owned())
        .then(PointerAction::MoveTo {
            duration: Some(Duration::ZERO),
            x,
            y,
        })
        .then(PointerAction::Down { button })
        .then(PointerAction::Up { button });
    Ok(browser.client.perform_actions(press).await?)
}

/// Guards against a sheet on a phone that nothing sets off from the page, that is marked as if it were one large field, and
/// that a press beside it does not close; and against a button of sliders that opens no parameter.
#[tokio::test(flavor = "multi_thread")]
async fn a_press_beside_the_sheet_folds_it() {
    play(
        "a_press_beside_the_sheet",
        &["--speed", "0"],
        async |studio| {
            let browser = studio.browser;
            browser.needs(Capability::FocusedWindow)?;
            browser.set_size(320, 800).await?;
            // What is folded away is so from the start.
            browser.client.refresh().await?;
            studio.is_open().await?;
            studio.type_prompt("amber").await?;
            browser.press(&by("button", "Generate")).await?;
            browser
                .find_for(&by("button", "Run again"), TIMEOUT)
                .await?;
            browser.run("document.activeElement.blur()", vec![]).await?;
            let state = "
            const form = document.querySelector('form[aria-label=Input]');
            const shade = getComputedStyle(form, '::before');
            const isShaded = shade.content !== 'none' && shade.position === 'fixed';
            const ring = getComputedStyle(form.querySelector('.form-scroll')).outlineStyle;
            const isFolded = form.querySelector('.unfold').checkVisibility();
            return [isFolded ? 'folded' : 'open', isShaded ? 'shaded' : 'clear', ring].join()";
            for has_parameters in [false, true] {
                becomes(browser, "a bar", state, "folded,clear,none").await?;
                if has_parameters {
                    browser.press(&by("button", "Show the form")).await?;
                    becomes(browser, "a sheet once more", state, "open,shaded,none").await?;
                    browser.find(&by("spinbutton", "panes")).await?;
                } else {
                    browser.press(&starting("textbox", "prompt")).await?;
                    becomes(browser, "a sheet", state, "open,shaded,none").await?;
                }
                // The bar of the page lies under the shade, too: nothing there is pressed.
                press_at(browser, 60.0, 30.0).await?;
            }
            becomes(browser, "a bar again", state, "folded,clear,none").await?;
            browser.find(&by("heading", "Tessera")).await?;
            Ok(())
        },
    )
    .await;
}

/// Guards against an unfolded form that reaches below a phone's screen, and Generate with it: at the top of the page a
/// sheet that sticks to its foot has no room above it.
#[tokio::test(flavor = "multi_thread")]
async fn generate_stays_on_the_screen_when_a_phone_unfolds_the_form() {
    play("generate_stays_on_the_screen", &[], async |studio| {
        let browser = studio.browser;
        for height in [640, 800] {
            browser.set_size(360, height).await?;
            browser.client.refresh().await?;
            studio.is_open().await?;
            browser.run(UNFOLD_MORE, vec![]).await?;
            browser.find(&by("spinbutton", "panes")).await?;
            let state = "
                const form = document.querySelector('form[aria-label=Input]');
                const { top, bottom } = form.querySelector('[type=submit]').getBoundingClientRect();
                return top > 0 && bottom <= innerHeight ? 'in sight' : `${top} to ${bottom} of ${innerHeight}`";
            becomes(browser, "Generate", state, "in sight").await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against a row that moves under the hand when what leads back to the default comes.
#[tokio::test(flavor = "multi_thread")]
async fn the_way_back_to_the_default_moves_nothing() {
    play("the_way_back_to_the_default", &[], async |studio| {
        let browser = studio.browser;
        for width in [320, 768, 1440] {
            browser.set_size(width, 900).await?;
            browser.client.refresh().await?;
            studio.is_open().await?;
            if width < 1024 {
                browser.run(UNFOLD_MORE, vec![]).await?;
            }
            let note = "
                const field = document.querySelector('#' + CSS.escape(
                    [...document.querySelectorAll('.label')].find(it => it.innerText === 'num_outputs').htmlFor)).closest('.field');
                const boxes = [...field.querySelectorAll('.label, .bounds, .explain, input')].map(it => {
                    const { left, top, width, height } = it.getBoundingClientRect();
                    return [left, top - field.getBoundingClientRect().top, width, height].map(Math.round);
                });
                return JSON.stringify([...boxes, Math.round(field.getBoundingClientRect().height)])";
            // With the typeface that comes late.
            browser.settled().await?;
            let before = browser.run(note, vec![]).await?;
            let before = before.as_str().unwrap_or_default().to_owned();
            browser
                .fill(&by("spinbutton", "num_outputs"), "2")
                .await?;
            let back = by("button", "Back to the default");
            browser.find(&back).await?;
            let what = format!("the field at {width}");
            becomes(browser, &what, note, before.as_str()).await?;
            browser.press(&back).await?;
            browser.find_gone(&back).await?;
        }
        Ok(())
    })
    .await;
}
