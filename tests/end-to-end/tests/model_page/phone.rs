//! The form at the foot of a phone's screen.

use std::time::Duration;

use crate::studio::{Studio, play};
use atelier_end_to_end::Result;
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::becomes;
use fantoccini::key::Key;
use serde_json::{Value, json};

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

/// Guards against a Generate that lies below the screen before anything was touched: a head higher than was reckoned
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

/// Guards against Back that leaves the page, and what was about to be sent, where a person wants the sheet away.
#[tokio::test(flavor = "multi_thread")]
async fn back_folds_the_sheet_of_parameters_first() {
    play("back_folds_the_sheet", &[], async |studio| {
        let browser = studio.browser;
        browser.set_size(375, 667).await?;
        browser.open(&studio.address("/")).await?;
        browser.press(&starting("link", "Tessera")).await?;
        browser.find(&by("button", "Generate")).await?;
        let is_open = "return document.querySelector('.more-fields').open";
        let turn = "document.querySelector('.more-fields > summary').click()";
        let path = "return location.pathname + location.search";
        let unfolded = "/models/image/tessera?sheet=more";
        browser.run(turn, vec![]).await?;
        becomes(browser, "the address", path, unfolded).await?;
        browser.client.back().await?;
        becomes(browser, "the sheet after Back", is_open, false).await?;
        becomes(browser, "the address", path, "/models/image/tessera").await?;
        // Folded in another way it leaves no step behind.
        browser.run(turn, vec![]).await?;
        becomes(browser, "the address", path, unfolded).await?;
        browser.run(turn, vec![]).await?;
        becomes(browser, "the address", path, "/models/image/tessera").await?;
        browser.client.back().await?;
        becomes(browser, "the address", path, "/").await
    })
    .await;
}

/// Guards against a sheet that is closed only by those who know how: by Back, or by a press outside it.
#[tokio::test(flavor = "multi_thread")]
async fn the_sheet_is_closed_by_its_button_and_by_its_handle() {
    play("the_sheet_is_closed", &[], async |studio| {
        let browser = studio.browser;
        browser.emulate_touch().await?;
        browser.set_size(320, 640).await?;
        open(studio, "/models/image/tessera", "Tessera").await?;
        let is_open = "return document.querySelector('.more-fields').open";
        let unfold = "document.querySelector('.more-fields > summary').click()";
        let handle = "
            const { top, width } = document.querySelector('.sheet-handle').getBoundingClientRect();
            return width && top > 0 ? 'in sight' : 'hidden'";
        let form = browser.find(&by("form", "Input")).await?;
        becomes(browser, "the handle of a bar", handle, "hidden").await?;
        browser.run(unfold, vec![]).await?;
        becomes(browser, "the handle", handle, "in sight").await?;
        browser.press(&by("button", "Close").within(&form)).await?;
        becomes(browser, "the sheet after Close", is_open, false).await?;
        let query = "return location.search";
        becomes(browser, "the address after Close", query, "").await?;
        browser.run(unfold, vec![]).await?;
        becomes(browser, "the sheet", is_open, true).await?;
        becomes(browser, "the handle", handle, "in sight").await?;
        let (x, y) = browser.middle_of(".sheet-handle").await?;
        browser.touch_start((x, y)).await?;
        browser.touch_move((x, y + 60.0)).await?;
        browser.touch_end().await?;
        becomes(browser, "the sheet once drawn down", is_open, false).await?;
        becomes(browser, "the handle", handle, "hidden").await
    })
    .await;
}

const IS_OPEN: &str = "return document.querySelector('.more-fields').open";
const UNFOLD: &str = "document.querySelector('.more-fields > summary').click()";
const ADDRESS: &str = "return location.pathname + location.search";

/// Whether the form is a sheet, a bar that leaves most of the screen to the result, or more than that.
const FORM: &str = "
    const form = document.querySelector('form[aria-label=Input]');
    const isSheet = form.querySelector('.sheet-handle').checkVisibility();
    return isSheet ? 'a sheet' : form.offsetHeight < innerHeight / 4 ? 'a bar' : `${form.offsetHeight} px high`";

/// A result is there on a phone, and the form is a bar.
async fn has_result(studio: &Studio<'_>) -> Result<()> {
    let browser = studio.browser;
    browser.set_size(375, 667).await?;
    // What is folded away depends on the size that it is opened at.
    studio.open("/models/image/tessera").await?;
    studio.type_prompt("a phone's result").await?;
    browser.press(&by("button", "Generate")).await?;
    browser.find(&by("button", "Show large")).await?;
    becomes(browser, "the form", FORM, "a bar").await
}

/// Guards against a sheet that stays open over the result that was just sent for.
#[tokio::test(flavor = "multi_thread")]
async fn generate_closes_the_sheet_over_its_result() {
    let name = "generate_closes_the_sheet";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        has_result(studio).await?;
        // Back in history may scroll to where the page was before.
        let scroll = "scrollTo(0, document.documentElement.scrollHeight)";
        browser.run(scroll, vec![]).await?;
        browser.run(UNFOLD, vec![]).await?;
        becomes(browser, "the form", FORM, "a sheet").await?;
        browser.press(&by("button", "Generate")).await?;
        studio.sees_sent(2).await?;
        becomes(browser, "the sheet after Generate", IS_OPEN, false).await?;
        becomes(browser, "the form", FORM, "a bar").await?;
        becomes(browser, "the address", ADDRESS, "/models/image/tessera").await?;
        let result = "
            const { top } = document.querySelector('.result').getBoundingClientRect();
            return top >= 0 && top < innerHeight / 2 ? 'in sight' : `from ${top}`";
        becomes(browser, "the result", result, "in sight").await
    })
    .await;
}

const TO_PROMPT: &str = "document.querySelector('form[aria-label=Input] textarea').focus()";

/// Guards against a form that covers the result that was just sent for, since the focus stays in the prompt.
#[tokio::test(flavor = "multi_thread")]
async fn ctrl_enter_in_the_prompt_closes_the_form_over_its_result() {
    let name = "ctrl_enter_in_the_prompt";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        has_result(studio).await?;
        browser.run(TO_PROMPT, vec![]).await?;
        becomes(browser, "the form", FORM, "a sheet").await?;
        let send = "
            const init = { key: 'Enter', ctrlKey: true, bubbles: true, cancelable: true };
            document.activeElement.dispatchEvent(new KeyboardEvent('keydown', init))";
        browser.run(send, vec![]).await?;
        studio.sees_sent(2).await?;
        becomes(browser, "the form once sent", FORM, "a bar").await?;
        let focused = "return document.activeElement.textContent.trim()";
        becomes(browser, "what has the focus", focused, "Generate").await
    })
    .await;
}

/// Guards against a form that can't be folded while it says what was loaded into it.
#[tokio::test(flavor = "multi_thread")]
async fn a_form_that_was_loaded_is_folded_until_the_next_load() {
    let name = "a_form_that_was_loaded";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        has_result(studio).await?;
        let restore = by("button", "Restore previous input");
        studio.type_prompt("another one").await?;
        browser.run("document.activeElement.blur()", vec![]).await?;
        browser.press_in_menu(&by("button", "Edit")).await?;
        browser.find(&restore).await?;
        browser.run(TO_PROMPT, vec![]).await?;
        becomes(browser, "the form", FORM, "a sheet").await?;
        let form = browser.find(&by("form", "Input")).await?;
        browser.press(&by("button", "Close").within(&form)).await?;
        becomes(browser, "the form after Close", FORM, "a bar").await?;
        browser.run("document.activeElement.blur()", vec![]).await?;
        becomes(browser, "the form after a tap elsewhere", FORM, "a bar").await?;
        studio.type_prompt("a third one").await?;
        browser.run("document.activeElement.blur()", vec![]).await?;
        browser.press_in_menu(&by("button", "Edit")).await?;
        browser.find(&restore).await?;
        Ok(())
    })
    .await;
}

/// Guards against Back that folds the fields and leaves the form a sheet, so that the next one leaves the page.
#[tokio::test(flavor = "multi_thread")]
async fn one_press_of_back_closes_the_sheet_over_a_result() {
    let name = "one_press_of_back";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        has_result(studio).await?;
        let address = "/models/image/tessera?sheet=more";
        browser.press(&by("button", "Show the form")).await?;
        becomes(browser, "the address", ADDRESS, address).await?;
        becomes(browser, "the form", FORM, "a sheet").await?;
        browser.client.back().await?;
        becomes(browser, "the form after Back", FORM, "a bar").await?;
        becomes(browser, "the address", ADDRESS, "/models/image/tessera").await?;
        let focused = "return document.activeElement.ariaLabel";
        becomes(browser, "what has the focus", focused, "Show the form").await?;
        // The same by its button.
        browser.press(&by("button", "Show the form")).await?;
        becomes(browser, "the address", ADDRESS, address).await?;
        let form = browser.find(&by("form", "Input")).await?;
        browser.press(&by("button", "Close").within(&form)).await?;
        becomes(browser, "the form after Close", FORM, "a bar").await?;
        becomes(browser, "what has the focus", focused, "Show the form").await
    })
    .await;
}

const UNFOLDED: &str = "Show the form";

/// The name of what has the focus.
const FOCUSED: &str = "
    const it = document.activeElement;
    return it.ariaLabel ?? it.innerText";

async fn press_escape(studio: &Studio<'_>) -> Result<()> {
    let focused = studio.browser.client.active_element().await?;
    let escape = char::from(Key::Escape).to_string();
    Ok(focused.send_keys(&escape).await?)
}

/// Guards against Back that leaves the page from a sheet that was opened by its prompt, and against a sheet that Escape does
/// not close.
#[tokio::test(flavor = "multi_thread")]
async fn back_and_escape_close_the_sheet_that_the_prompt_has_opened() {
    let name = "back_and_escape_close_the_sheet";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        has_result(studio).await?;
        let page = "/models/image/tessera";
        for (opens, address) in [("prompt", "?sheet=form"), ("More", "?sheet=more")] {
            for closes in ["Back", "Escape"] {
                browser.press(&starting("textbox", "prompt")).await?;
                becomes(browser, "the form", FORM, "a sheet").await?;
                if opens == "More" {
                    browser.run(UNFOLD, vec![]).await?;
                }
                becomes(
                    browser,
                    "the address",
                    ADDRESS,
                    format!("{page}{address}").as_str(),
                )
                .await?;
                match closes {
                    "Back" => browser.client.back().await?,
                    _ => press_escape(studio).await?,
                }
                let what = format!("the form opened by {opens} after {closes}");
                becomes(browser, &what, FORM, "a bar").await?;
                becomes(browser, "the address", ADDRESS, page).await?;
                becomes(browser, "what has the focus", FOCUSED, UNFOLDED).await?;
            }
        }
        // Folded in another way it leaves no step behind.
        browser.press(&starting("textbox", "prompt")).await?;
        becomes(
            browser,
            "the address",
            ADDRESS,
            "/models/image/tessera?sheet=form",
        )
        .await?;
        browser.run("document.activeElement.blur()", vec![]).await?;
        becomes(browser, "the address", ADDRESS, page).await
    })
    .await;
}

/// Guards against Back that closes the sheet beneath the dialog that was opened from it, and against keys that go nowhere
/// after it.
#[tokio::test(flavor = "multi_thread")]
async fn back_and_escape_close_presets_before_the_sheet() {
    let name = "back_and_escape_close_presets";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        has_result(studio).await?;
        let page = "/models/image/tessera";
        let sheet = format!("{page}?sheet=more");
        browser.press(&by("button", UNFOLDED)).await?;
        becomes(browser, "the address", ADDRESS, sheet.as_str()).await?;
        for closes in ["Back", "Escape"] {
            browser.press(&by("button", "Presets")).await?;
            browser.find(&by("dialog", "Presets")).await?;
            let address = format!("{sheet}&presets=open");
            becomes(browser, "the address", ADDRESS, address.as_str()).await?;
            match closes {
                "Back" => browser.client.back().await?,
                _ => press_escape(studio).await?,
            }
            browser.find_gone(&by("dialog", "Presets")).await?;
            becomes(browser, "the address", ADDRESS, sheet.as_str()).await?;
            becomes(browser, "the form", FORM, "a sheet").await?;
            becomes(browser, "what has the focus", FOCUSED, "Presets").await?;
        }
        press_escape(studio).await?;
        becomes(browser, "the form", FORM, "a bar").await?;
        becomes(browser, "the address", ADDRESS, page).await?;
        becomes(browser, "what has the focus", FOCUSED, UNFOLDED).await
    })
    .await;
}

/// Guards against steps of the history that lead nowhere, left by a dialog that was closed after a reload or Forward.
#[tokio::test(flavor = "multi_thread")]
async fn presets_and_the_sheet_leave_no_step_behind_after_a_reload_or_forward() {
    let name = "no_step_behind";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        has_result(studio).await?;
        browser.press(&by("link", "Models")).await?;
        browser.find(&by("heading", "Models")).await?;
        browser.press(&starting("link", "Tessera")).await?;
        let page = "/models/image/tessera";
        let presets = by("dialog", "Presets");
        for again in ["Reload", "Forward"] {
            browser.press(&by("button", UNFOLDED)).await?;
            browser.press(&by("button", "Presets")).await?;
            browser.find(&presets).await?;
            let address = format!("{page}?sheet=more&presets=open");
            becomes(browser, "the address", ADDRESS, address.as_str()).await?;
            match again {
                "Reload" => browser.reload().await?,
                _ => {
                    browser.client.back().await?;
                    browser.find_gone(&presets).await?;
                    browser.client.forward().await?;
                }
            }
            browser.find(&presets).await?;
            becomes(browser, "the address", ADDRESS, address.as_str()).await?;
            press_escape(studio).await?;
            browser.find_gone(&presets).await?;
            let sheet = format!("{page}?sheet=more");
            becomes(browser, again, ADDRESS, sheet.as_str()).await?;
            becomes(browser, again, FORM, "a sheet").await?;
            press_escape(studio).await?;
            becomes(browser, again, FORM, "a bar").await?;
            becomes(browser, again, ADDRESS, page).await?;
        }
        browser.client.back().await?;
        becomes(browser, "the page before", ADDRESS, "/").await
    })
    .await;
}

/// Guards against an input as JSON that covers half of the result, and can't be folded, and against keys that go nowhere
/// once it is.
#[tokio::test(flavor = "multi_thread")]
async fn an_input_as_json_is_folded_like_a_form() {
    let name = "an_input_as_json_is_folded";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        has_result(studio).await?;
        let text = by("textbox", "Input as JSON");
        let page = "/models/image/tessera";
        browser.press(&by("button", UNFOLDED)).await?;
        browser.press(&by("radio", "JSON")).await?;
        browser.find(&text).await?;
        for closes in ["Back", "Escape"] {
            becomes(browser, "the form", FORM, "a sheet").await?;
            match closes {
                "Back" => browser.client.back().await?,
                _ => press_escape(studio).await?,
            }
            becomes(browser, "the form", FORM, "a bar").await?;
            becomes(browser, "the address", ADDRESS, page).await?;
            becomes(browser, "what has the focus", FOCUSED, UNFOLDED).await?;
            browser.press(&text).await?;
        }
        // A press of Generate opens what is wrong.
        becomes(browser, "the form", FORM, "a sheet").await?;
        browser.fill(&text, "{").await?;
        press_escape(studio).await?;
        becomes(browser, "the form", FORM, "a bar").await?;
        browser.press(&by("button", "Generate")).await?;
        becomes(browser, "the form", FORM, "a sheet").await?;
        let focused = "return document.activeElement.id";
        becomes(browser, "what has the focus", focused, "input-json").await
    })
    .await;
}

/// Guards against an address that names a sheet where there is none.
#[tokio::test(flavor = "multi_thread")]
async fn a_window_that_is_widened_has_no_sheet_in_its_address() {
    play("a_window_that_is_widened", &[], async |studio| {
        let browser = studio.browser;
        browser.set_size(375, 667).await?;
        studio.open("/models/image/tessera").await?;
        browser.run(UNFOLD, vec![]).await?;
        let sheet = "/models/image/tessera?sheet=more";
        becomes(browser, "the address", ADDRESS, sheet).await?;
        browser.set_size(1280, 900).await?;
        becomes(browser, "the address", ADDRESS, "/models/image/tessera").await
    })
    .await;
}

/// Guards against a form that covers half of the result, and can't be folded, while something in it is wrong.
#[tokio::test(flavor = "multi_thread")]
async fn a_form_with_problems_is_folded_and_says_so() {
    let name = "a_form_with_problems_is_folded";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        has_result(studio).await?;
        browser.run(UNFOLD, vec![]).await?;
        becomes(browser, "the form", FORM, "a sheet").await?;
        browser.run(TWO_PROBLEMS, vec![]).await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .see_text("2 things need a look", crate::studio::TIMEOUT)
            .await?;
        becomes(browser, "the form with problems", FORM, "a sheet").await?;
        let form = browser.find(&by("form", "Input")).await?;
        browser.press(&by("button", "Close").within(&form)).await?;
        becomes(browser, "the form after Close", FORM, "a bar").await?;
        browser
            .see_text("must be between", crate::studio::TIMEOUT)
            .await?;
        let focused = "return document.activeElement.role";
        browser.press(&by("button", "Generate")).await?;
        becomes(browser, "what has the focus", focused, "alert").await?;
        becomes(browser, "the form after Generate", FORM, "a sheet").await
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

/// A slider, and its field.
const SLIDER: &str = "
    const slider = document.querySelector('form[aria-label=Input] .number:has([type=range]) [type=range]');
    const field = slider.closest('.field');";

/// Guards against outputs that are paid for since a finger that scrolled came down on their slider.
#[tokio::test(flavor = "multi_thread")]
async fn a_finger_that_scrolls_sets_no_slider() {
    play("a_finger_that_scrolls", &[], async |studio| {
        let browser = studio.browser;
        browser.needs(Capability::DevTools)?;
        browser.set_size(390, 844).await?;
        open(studio, "/models/image/tessera", "Tessera").await?;
        let unfold = "
            const form = document.querySelector('form[aria-label=Input]');
            form.querySelector('textarea').focus();
            form.querySelector('.more-fields').open = true";
        browser.run(unfold, vec![]).await?;
        let touches = json!({ "enabled": true });
        browser
            .devtools("Emulation.setTouchEmulationEnabled", touches)
            .await?;
        let is_set = format!(
            "{SLIDER} return field.querySelector('.reset:not(.explain)') ? 'entered' : 'as it was'"
        );
        becomes(browser, "the value before", &is_set, "as it was").await?;
        touch(studio, 0.0, -200.0).await?;
        becomes(browser, "the value after a scroll", &is_set, "as it was").await?;
        let scrolled = "
            const form = document.querySelector('form[aria-label=Input] .form-scroll');
            return String(form.scrollTop + scrollY > 0)";
        becomes(browser, "that it scrolled", scrolled, "true").await?;
        touch(studio, 0.0, 0.0).await?;
        becomes(browser, "the value after a tap", &is_set, "entered").await?;
        browser.press(&by("button", "Back to the default")).await?;
        touch(studio, 40.0, 0.0).await?;
        becomes(
            browser,
            "the value after a finger along it",
            &is_set,
            "entered",
        )
        .await
    })
    .await;
}

/// A finger comes down in the middle of the slider, moves so far, in px, and leaves it.
async fn touch(studio: &Studio<'_>, across: f64, down: f64) -> Result<()> {
    const STEPS: u32 = 10;
    let browser = studio.browser;
    let middle = format!(
        "{SLIDER} slider.scrollIntoView({{ block: 'center', behavior: 'instant' }});
        const {{ left, top, width, height }} = slider.getBoundingClientRect();
        return [left + width / 2, top + height / 2]"
    );
    let middle = browser.run(&middle, vec![]).await?;
    let at = |axis: usize| middle[axis].as_f64().unwrap_or_default();
    let send = async |kind: &str, points: Value| {
        let params = json!({ "type": kind, "touchPoints": points });
        browser.devtools("Input.dispatchTouchEvent", params).await
    };
    send("touchStart", json!([{ "x": at(0), "y": at(1) }])).await?;
    for step in 1..=STEPS {
        let part = f64::from(step) / f64::from(STEPS);
        let (x, y) = (at(0) + across * part, at(1) + down * part);
        send("touchMove", json!([{ "x": x, "y": y }])).await?;
        tokio::time::sleep(Duration::from_millis(16)).await;
    }
    send("touchEnd", json!([])).await?;
    Ok(())
}
