//! Tests of the form as a bottom sheet on a phone.

use std::time::Duration;

use crate::studio::{Studio, run_steps};
use atelier_end_to_end::Result;
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::wait_for_value;
use fantoccini::key::Key;
use serde_json::{Value, json};

/// Pages with a description of three or four lines, or with a first field that is not a prompt.
const PAGES: [(&str, &str); 3] = [
    ("/models/image/tessera", "Tessera"),
    ("/models/image/repaint", "Repaint"),
    ("/models/image/strata", "Strata"),
];

const SMALL_SCREENS: [(u32, u32); 3] = [(320, 568), (320, 640), (375, 667)];

const GENERATE_IN_VIEWPORT: &str = "
    const form = document.querySelector('form[aria-label=Input]');
    const { top, bottom } = form.querySelector('[type=submit]').getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight ? 'in sight' : `from ${top} to ${bottom} of ${innerHeight}`";

/// Checks that the focused element is fully visible between the page header and the form footer.
const FOCUS_IN_VIEWPORT: &str = "
    const { top, bottom } = document.activeElement.getBoundingClientRect();
    const bar = document.querySelector('.bar').getBoundingClientRect();
    const foot = document.querySelector('.form-foot').getBoundingClientRect();
    return top >= bar.bottom && bottom <= foot.top ? 'in sight' : `from ${top} to ${bottom}, above ${foot.top}`";

/// Sets two parameters out of bounds. The list of problems then makes the form as tall as it can be.
const TWO_PROBLEMS: &str = "
    for (const field of [...document.querySelectorAll('form[aria-label=Input] [role=spinbutton]')].slice(0, 2)) {
        field.value = '9999';
        field.dispatchEvent(new Event('input', { bubbles: true }));
        field.dispatchEvent(new Event('change', { bubbles: true }));
    }";

/// Guards against a Generate button below the viewport on load: a tall page header pushes the form down.
#[tokio::test(flavor = "multi_thread")]
async fn generate_is_in_viewport_of_small_phone() {
    run_steps(
        "generate_is_in_viewport_of_small_phone",
        &[],
        async |studio| {
            let browser = studio.browser;
            for (width, height) in SMALL_SCREENS {
                browser.set_size(width, height).await?;
                for (path, heading) in PAGES {
                    let what = |when: &str| format!("{heading} at {width}×{height} {when}");
                    open(studio, path, heading).await?;
                    wait_for_value(browser, &what("on load"), GENERATE_IN_VIEWPORT, "in sight")
                        .await?;
                    browser
                        .run(
                            "document.querySelector('form[aria-label=Input] textarea').focus()",
                            vec![],
                        )
                        .await?;
                    wait_for_value(
                        browser,
                        &what("at the prompt"),
                        GENERATE_IN_VIEWPORT,
                        "in sight",
                    )
                    .await?;
                    wait_for_value(
                        browser,
                        &what("at the prompt, itself"),
                        FOCUS_IN_VIEWPORT,
                        "in sight",
                    )
                    .await?;
                    browser.press(&by("button", "Generate")).await?;
                    browser.find(&starting("textbox", "prompt")).await?;
                    wait_for_value(
                        browser,
                        &what("with one problem"),
                        GENERATE_IN_VIEWPORT,
                        "in sight",
                    )
                    .await?;
                    browser.run(TWO_PROBLEMS, vec![]).await?;
                    browser.press(&by("button", "Generate")).await?;
                    browser
                        .wait_for_text("Not sent.", crate::studio::TIMEOUT)
                        .await?;
                    wait_for_value(
                        browser,
                        &what("with several"),
                        GENERATE_IN_VIEWPORT,
                        "in sight",
                    )
                    .await?;
                }
            }
            Ok(())
        },
    )
    .await;
}

/// Guards against the browser's Back button leaving the page, and its input, instead of closing the sheet.
#[tokio::test(flavor = "multi_thread")]
async fn back_button_collapses_parameter_sheet_first() {
    run_steps(
        "back_button_collapses_parameter_sheet_first",
        &[],
        async |studio| {
            let browser = studio.browser;
            browser.set_size(375, 667).await?;
            browser.open(&studio.address("/")).await?;
            browser.press(&starting("link", "Tessera")).await?;
            browser.find(&by("button", "Generate")).await?;
            let is_open = "return document.querySelector('.more-fields').open";
            let toggle = "document.querySelector('.more-fields > summary').click()";
            let path = "return location.pathname + location.search";
            let expanded = "/models/image/tessera?sheet=more";
            browser.run(toggle, vec![]).await?;
            wait_for_value(browser, "the address", path, expanded).await?;
            browser.client.back().await?;
            wait_for_value(browser, "the sheet after Back", is_open, false).await?;
            wait_for_value(browser, "the address", path, "/models/image/tessera").await?;
            // Collapsing it another way leaves no history entry.
            browser.run(toggle, vec![]).await?;
            wait_for_value(browser, "the address", path, expanded).await?;
            browser.run(toggle, vec![]).await?;
            wait_for_value(browser, "the address", path, "/models/image/tessera").await?;
            browser.client.back().await?;
            wait_for_value(browser, "the address", path, "/").await
        },
    )
    .await;
}

/// Guards against a sheet that can only be closed in hidden ways: by Back, or by a press outside.
#[tokio::test(flavor = "multi_thread")]
async fn sheet_closes_by_close_button_and_by_dragging_handle() {
    run_steps(
        "sheet_closes_by_close_button_and_by_dragging_handle",
        &[],
        async |studio| {
            let browser = studio.browser;
            browser.emulate_touch().await?;
            browser.set_size(320, 640).await?;
            open(studio, "/models/image/tessera", "Tessera").await?;
            let is_open = "return document.querySelector('.more-fields').open";
            let expand = "document.querySelector('.more-fields > summary').click()";
            let handle = "
            const { top, width } = document.querySelector('.sheet-handle').getBoundingClientRect();
            return width && top > 0 ? 'in sight' : 'hidden'";
            let form = browser.find(&by("form", "Input")).await?;
            wait_for_value(
                browser,
                "the handle of the collapsed form",
                handle,
                "hidden",
            )
            .await?;
            browser.run(expand, vec![]).await?;
            wait_for_value(browser, "the handle", handle, "in sight").await?;
            browser.press(&by("button", "Close").within(&form)).await?;
            wait_for_value(browser, "the sheet after Close", is_open, false).await?;
            let query = "return location.search";
            wait_for_value(browser, "the address after Close", query, "").await?;
            browser.run(expand, vec![]).await?;
            wait_for_value(browser, "the sheet", is_open, true).await?;
            wait_for_value(browser, "the handle", handle, "in sight").await?;
            let (x, y) = browser.middle_of(".sheet-handle").await?;
            browser.touch_start((x, y)).await?;
            browser.touch_move((x, y + 60.0)).await?;
            browser.touch_end().await?;
            wait_for_value(browser, "the sheet after dragging it down", is_open, false).await?;
            wait_for_value(browser, "the handle", handle, "hidden").await
        },
    )
    .await;
}

const IS_OPEN: &str = "return document.querySelector('.more-fields').open";
const EXPAND: &str = "document.querySelector('.more-fields > summary').click()";
const ADDRESS: &str = "return location.pathname + location.search";

/// Returns whether the form is an open sheet or a collapsed bar, or else the height of the form.
const FORM: &str = "
    const form = document.querySelector('form[aria-label=Input]');
    const isSheet = form.querySelector('.sheet-handle').checkVisibility();
    return isSheet ? 'a sheet' : form.offsetHeight < innerHeight / 4 ? 'a bar' : `${form.offsetHeight} px high`";

/// Changes the prompt without moving the focus into it. The same prompt again may count as a double click.
const CHANGE_PROMPT: &str = "
    const prompt = document.querySelector('form[aria-label=Input] textarea');
    prompt.value = 'another result';
    prompt.dispatchEvent(new Event('input', { bubbles: true }))";

/// Generates a result on a phone, with the form collapsed to a bar.
async fn generate_result(studio: &Studio<'_>) -> Result<()> {
    let browser = studio.browser;
    browser.set_size(375, 667).await?;
    // The viewport size at load decides which sections are collapsed.
    studio.open("/models/image/tessera").await?;
    studio.type_prompt("a phone's result").await?;
    browser.press(&by("button", "Generate")).await?;
    browser.find(&by("button", "Show large")).await?;
    wait_for_value(browser, "the form", FORM, "a bar").await
}

/// Guards against a sheet that stays open over the new result.
#[tokio::test(flavor = "multi_thread")]
async fn generate_closes_sheet_that_covers_result() {
    let name = "generate_closes_sheet_that_covers_result";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        generate_result(studio).await?;
        // Going back in history may restore the scroll position.
        let scroll = "scrollTo(0, document.documentElement.scrollHeight)";
        browser.run(scroll, vec![]).await?;
        browser.run(EXPAND, vec![]).await?;
        wait_for_value(browser, "the form", FORM, "a sheet").await?;
        browser.run(CHANGE_PROMPT, vec![]).await?;
        browser.press(&by("button", "Generate")).await?;
        studio.wait_for_sent(2).await?;
        wait_for_value(browser, "the sheet after Generate", IS_OPEN, false).await?;
        wait_for_value(browser, "the form", FORM, "a bar").await?;
        wait_for_value(browser, "the address", ADDRESS, "/models/image/tessera").await?;
        let result = "
            const { top } = document.querySelector('.result').getBoundingClientRect();
            return top >= 0 && top < innerHeight / 2 ? 'in sight' : `from ${top}`";
        wait_for_value(browser, "the result", result, "in sight").await
    })
    .await;
}

const FOCUS_PROMPT: &str = "document.querySelector('form[aria-label=Input] textarea').focus()";

/// Guards against a form that covers the new result because the focus stays in the prompt.
#[tokio::test(flavor = "multi_thread")]
async fn ctrl_enter_in_prompt_closes_sheet_that_covers_result() {
    let name = "ctrl_enter_in_prompt_closes_sheet_that_covers_result";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        generate_result(studio).await?;
        browser.run(FOCUS_PROMPT, vec![]).await?;
        wait_for_value(browser, "the form", FORM, "a sheet").await?;
        browser.run(CHANGE_PROMPT, vec![]).await?;
        let send = "
            const init = { key: 'Enter', ctrlKey: true, bubbles: true, cancelable: true };
            document.activeElement.dispatchEvent(new KeyboardEvent('keydown', init))";
        browser.run(send, vec![]).await?;
        studio.wait_for_sent(2).await?;
        wait_for_value(browser, "the form after sending", FORM, "a bar").await?;
        let focused = "return document.activeElement.textContent.trim()";
        wait_for_value(browser, "the focus", focused, "Generate").await
    })
    .await;
}

/// Guards against a form that can't be collapsed while it shows what was loaded into it.
#[tokio::test(flavor = "multi_thread")]
async fn form_with_load_notice_can_be_collapsed() {
    let name = "form_with_load_notice_can_be_collapsed";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        generate_result(studio).await?;
        let restore = by("button", "Restore previous input");
        studio.type_prompt("another one").await?;
        browser.run("document.activeElement.blur()", vec![]).await?;
        browser.press_in_menu(&by("button", "Edit")).await?;
        browser.find(&restore).await?;
        browser.run(FOCUS_PROMPT, vec![]).await?;
        wait_for_value(browser, "the form", FORM, "a sheet").await?;
        let form = browser.find(&by("form", "Input")).await?;
        browser.press(&by("button", "Close").within(&form)).await?;
        wait_for_value(browser, "the form after Close", FORM, "a bar").await?;
        browser.run("document.activeElement.blur()", vec![]).await?;
        wait_for_value(browser, "the form after a tap elsewhere", FORM, "a bar").await?;
        studio.type_prompt("a third one").await?;
        browser.run("document.activeElement.blur()", vec![]).await?;
        browser.press_in_menu(&by("button", "Edit")).await?;
        browser.find(&restore).await?;
        Ok(())
    })
    .await;
}

/// Guards against the Back button collapsing only the fields and leaving the sheet open.
#[tokio::test(flavor = "multi_thread")]
async fn back_button_closes_sheet_over_result_in_one_step() {
    let name = "back_button_closes_sheet_over_result_in_one_step";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        generate_result(studio).await?;
        let address = "/models/image/tessera?sheet=more";
        browser.press(&by("button", "Show the form")).await?;
        wait_for_value(browser, "the address", ADDRESS, address).await?;
        wait_for_value(browser, "the form", FORM, "a sheet").await?;
        browser.client.back().await?;
        wait_for_value(browser, "the form after Back", FORM, "a bar").await?;
        wait_for_value(browser, "the address", ADDRESS, "/models/image/tessera").await?;
        let focused = "return document.activeElement.ariaLabel";
        wait_for_value(browser, "the focus", focused, "Show the form").await?;
        // The Close button does the same.
        browser.press(&by("button", "Show the form")).await?;
        wait_for_value(browser, "the address", ADDRESS, address).await?;
        let form = browser.find(&by("form", "Input")).await?;
        browser.press(&by("button", "Close").within(&form)).await?;
        wait_for_value(browser, "the form after Close", FORM, "a bar").await?;
        wait_for_value(browser, "the focus", focused, "Show the form").await
    })
    .await;
}

const SHOW_FORM: &str = "Show the form";

/// Returns the name of the focused element.
const FOCUSED: &str = "
    const it = document.activeElement;
    return it.ariaLabel ?? it.innerText";

async fn press_escape(studio: &Studio<'_>) -> Result<()> {
    let focused = studio.browser.client.active_element().await?;
    let escape = char::from(Key::Escape).to_string();
    Ok(focused.send_keys(&escape).await?)
}

/// Guards against the Back button leaving the page when the prompt has opened the sheet, and against a sheet that
/// Escape does not close.
#[tokio::test(flavor = "multi_thread")]
async fn back_button_and_escape_close_sheet_opened_by_prompt() {
    let name = "back_button_and_escape_close_sheet_opened_by_prompt";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        generate_result(studio).await?;
        let page = "/models/image/tessera";
        for (opens, address) in [("prompt", "?sheet=form"), ("More", "?sheet=more")] {
            for closes in ["Back", "Escape"] {
                browser.press(&starting("textbox", "prompt")).await?;
                wait_for_value(browser, "the form", FORM, "a sheet").await?;
                if opens == "More" {
                    browser.run(EXPAND, vec![]).await?;
                }
                wait_for_value(
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
                wait_for_value(browser, &what, FORM, "a bar").await?;
                wait_for_value(browser, "the address", ADDRESS, page).await?;
                wait_for_value(browser, "the focus", FOCUSED, SHOW_FORM).await?;
            }
        }
        // Collapsing it another way leaves no history entry.
        browser.press(&starting("textbox", "prompt")).await?;
        wait_for_value(
            browser,
            "the address",
            ADDRESS,
            "/models/image/tessera?sheet=form",
        )
        .await?;
        browser.run("document.activeElement.blur()", vec![]).await?;
        wait_for_value(browser, "the address", ADDRESS, page).await
    })
    .await;
}

/// Guards against the Back button closing the sheet instead of the dialog that was opened from it, and against losing
/// focus afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn back_button_and_escape_close_presets_before_sheet() {
    let name = "back_button_and_escape_close_presets_before_sheet";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        generate_result(studio).await?;
        let page = "/models/image/tessera";
        let sheet = format!("{page}?sheet=more");
        browser.press(&by("button", SHOW_FORM)).await?;
        wait_for_value(browser, "the address", ADDRESS, sheet.as_str()).await?;
        for closes in ["Back", "Escape"] {
            browser.press(&by("button", "Presets")).await?;
            browser.find(&by("dialog", "Presets")).await?;
            let address = format!("{sheet}&presets=open");
            wait_for_value(browser, "the address", ADDRESS, address.as_str()).await?;
            match closes {
                "Back" => browser.client.back().await?,
                _ => press_escape(studio).await?,
            }
            browser.wait_until_gone(&by("dialog", "Presets")).await?;
            wait_for_value(browser, "the address", ADDRESS, sheet.as_str()).await?;
            wait_for_value(browser, "the form", FORM, "a sheet").await?;
            wait_for_value(browser, "the focus", FOCUSED, "Presets").await?;
        }
        press_escape(studio).await?;
        wait_for_value(browser, "the form", FORM, "a bar").await?;
        wait_for_value(browser, "the address", ADDRESS, page).await?;
        wait_for_value(browser, "the focus", FOCUSED, SHOW_FORM).await
    })
    .await;
}

/// Guards against dead history entries left by a dialog that was closed after a reload or Forward.
#[tokio::test(flavor = "multi_thread")]
async fn presets_and_sheet_leave_no_history_entry_after_reload_or_forward() {
    let name = "presets_and_sheet_leave_no_history_entry_after_reload_or_forward";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        generate_result(studio).await?;
        browser.press(&by("link", "Models")).await?;
        browser.find(&by("heading", "Models")).await?;
        browser.press(&starting("link", "Tessera")).await?;
        let page = "/models/image/tessera";
        let presets = by("dialog", "Presets");
        for action in ["Reload", "Forward"] {
            browser.press(&by("button", SHOW_FORM)).await?;
            browser.press(&by("button", "Presets")).await?;
            browser.find(&presets).await?;
            let address = format!("{page}?sheet=more&presets=open");
            wait_for_value(browser, "the address", ADDRESS, address.as_str()).await?;
            match action {
                "Reload" => browser.reload().await?,
                _ => {
                    browser.client.back().await?;
                    browser.wait_until_gone(&presets).await?;
                    browser.client.forward().await?;
                }
            }
            browser.find(&presets).await?;
            wait_for_value(browser, "the address", ADDRESS, address.as_str()).await?;
            press_escape(studio).await?;
            browser.wait_until_gone(&presets).await?;
            let sheet = format!("{page}?sheet=more");
            wait_for_value(browser, action, ADDRESS, sheet.as_str()).await?;
            wait_for_value(browser, action, FORM, "a sheet").await?;
            press_escape(studio).await?;
            wait_for_value(browser, action, FORM, "a bar").await?;
            wait_for_value(browser, action, ADDRESS, page).await?;
        }
        browser.client.back().await?;
        wait_for_value(browser, "the previous page", ADDRESS, "/").await
    })
    .await;
}

/// Guards against a JSON input that covers half of the result and can't be collapsed, and against losing focus after
/// collapsing it.
#[tokio::test(flavor = "multi_thread")]
async fn json_input_collapses_like_form() {
    let name = "json_input_collapses_like_form";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        generate_result(studio).await?;
        let text = by("textbox", "Input as JSON");
        let page = "/models/image/tessera";
        browser.press(&by("button", SHOW_FORM)).await?;
        browser.press(&by("radio", "JSON")).await?;
        browser.find(&text).await?;
        for closes in ["Back", "Escape"] {
            wait_for_value(browser, "the form", FORM, "a sheet").await?;
            match closes {
                "Back" => browser.client.back().await?,
                _ => press_escape(studio).await?,
            }
            wait_for_value(browser, "the form", FORM, "a bar").await?;
            wait_for_value(browser, "the address", ADDRESS, page).await?;
            wait_for_value(browser, "the focus", FOCUSED, SHOW_FORM).await?;
            browser.press(&text).await?;
        }
        // Pressing Generate opens the invalid text.
        wait_for_value(browser, "the form", FORM, "a sheet").await?;
        browser.fill(&text, "{").await?;
        press_escape(studio).await?;
        wait_for_value(browser, "the form", FORM, "a bar").await?;
        browser.press(&by("button", "Generate")).await?;
        wait_for_value(browser, "the form", FORM, "a sheet").await?;
        let focused = "return document.activeElement.id";
        wait_for_value(browser, "the focus", focused, "input-json").await
    })
    .await;
}

/// Guards against an address that names a sheet on a wide page.
#[tokio::test(flavor = "multi_thread")]
async fn widening_window_removes_sheet_from_address() {
    run_steps(
        "widening_window_removes_sheet_from_address",
        &[],
        async |studio| {
            let browser = studio.browser;
            browser.set_size(375, 667).await?;
            studio.open("/models/image/tessera").await?;
            browser.run(EXPAND, vec![]).await?;
            let sheet = "/models/image/tessera?sheet=more";
            wait_for_value(browser, "the address", ADDRESS, sheet).await?;
            browser.set_size(1280, 900).await?;
            wait_for_value(browser, "the address", ADDRESS, "/models/image/tessera").await
        },
    )
    .await;
}

/// Guards against a form that can't be collapsed while it has problems, and covers half of the result.
#[tokio::test(flavor = "multi_thread")]
async fn form_with_problems_can_be_collapsed() {
    let name = "form_with_problems_can_be_collapsed";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        generate_result(studio).await?;
        browser.run(EXPAND, vec![]).await?;
        wait_for_value(browser, "the form", FORM, "a sheet").await?;
        browser.run(TWO_PROBLEMS, vec![]).await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .wait_for_text("2 things need a look", crate::studio::TIMEOUT)
            .await?;
        wait_for_value(browser, "the form with problems", FORM, "a sheet").await?;
        let form = browser.find(&by("form", "Input")).await?;
        browser.press(&by("button", "Close").within(&form)).await?;
        wait_for_value(browser, "the form after Close", FORM, "a bar").await?;
        browser
            .wait_for_text("must be between", crate::studio::TIMEOUT)
            .await?;
        let focused = "return document.activeElement.role";
        browser.press(&by("button", "Generate")).await?;
        wait_for_value(browser, "the focus", focused, "alert").await?;
        wait_for_value(browser, "the form after Generate", FORM, "a sheet").await
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

/// Finds a slider and its field.
const SLIDER: &str = "
    const slider = document.querySelector('form[aria-label=Input] .number:has([type=range]) [type=range]');
    const field = slider.closest('.field');";

/// Guards against a touch scroll that changes a slider, for instance the number of outputs.
#[tokio::test(flavor = "multi_thread")]
async fn touch_scroll_over_slider_keeps_its_value() {
    run_steps("touch_scroll_over_slider_keeps_its_value", &[], async |studio| {
        let browser = studio.browser;
        browser.needs(Capability::DevTools)?;
        browser.set_size(390, 844).await?;
        open(studio, "/models/image/tessera", "Tessera").await?;
        let expand = "
            const form = document.querySelector('form[aria-label=Input]');
            form.querySelector('textarea').focus();
            form.querySelector('.more-fields').open = true";
        browser.run(expand, vec![]).await?;
        let touches = json!({ "enabled": true });
        browser
            .devtools("Emulation.setTouchEmulationEnabled", touches)
            .await?;
        let is_set = format!(
            "{SLIDER} return field.querySelector('.reset:not(.explain)') ? 'changed' : 'unchanged'"
        );
        wait_for_value(browser, "the initial value", &is_set, "unchanged").await?;
        swipe(studio, 0.0, -200.0).await?;
        wait_for_value(browser, "the value after a scroll", &is_set, "unchanged").await?;
        let scrolled = "
            const form = document.querySelector('form[aria-label=Input] .form-scroll');
            return String(form.scrollTop + scrollY > 0)";
        wait_for_value(browser, "whether it scrolled", scrolled, "true").await?;
        swipe(studio, 0.0, 0.0).await?;
        wait_for_value(browser, "the value after a tap", &is_set, "changed").await?;
        browser.press(&by("button", "Back to the default")).await?;
        swipe(studio, 40.0, 0.0).await?;
        wait_for_value(
            browser,
            "the value after a horizontal swipe",
            &is_set,
            "changed",
        )
        .await
    })
    .await;
}

/// Touches the middle of the slider, moves the finger by this distance in px, and lifts it.
async fn swipe(studio: &Studio<'_>, across: f64, down: f64) -> Result<()> {
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
