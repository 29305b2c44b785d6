//! Tests of the input form.

use crate::studio::{TIMEOUT, run_steps};
use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::wait_for_value;
use fantoccini::actions::{InputSource, MOUSE_BUTTON_LEFT, MouseActions, PointerAction};
use fantoccini::key::Key;
use std::time::Duration;

const BACKSPACE: &str = "\u{e003}";

/// Opened by script, because browsers report different roles for it.
const EXPAND_MORE: &str = "document.querySelector('.more-fields').open = true";

/// Presses at this position of the viewport.
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

/// Guards against a bottom sheet on a phone without a backdrop, with the focus ring of a field, or that a press
/// outside does not close, and against a "Show the form" button that shows no parameters.
#[tokio::test(flavor = "multi_thread")]
async fn press_outside_sheet_collapses_it() {
    run_steps(
        "press_outside_sheet_collapses_it",
        &["--speed", "0"],
        async |studio| {
            let browser = studio.browser;
            browser.needs(Capability::FocusedWindow)?;
            browser.set_size(320, 800).await?;
            // The page decides at load which sections are collapsed.
            browser.client.refresh().await?;
            studio.wait_until_open().await?;
            studio.type_prompt("amber").await?;
            browser.press(&by("button", "Generate")).await?;
            browser.find_with_limit(&by("button", "Download"), TIMEOUT).await?;
            browser.run("document.activeElement.blur()", vec![]).await?;
            let state = "
            const form = document.querySelector('form[aria-label=Input]');
            const shade = getComputedStyle(form, '::before');
            const isShaded = shade.content !== 'none' && shade.position === 'fixed';
            const ring = getComputedStyle(form.querySelector('.form-scroll')).outlineStyle;
            const isCollapsed = form.querySelector('.unfold').checkVisibility();
            return [isCollapsed ? 'collapsed' : 'open', isShaded ? 'shaded' : 'clear', ring].join()";
            for has_parameters in [false, true] {
                wait_for_value(browser, "the collapsed form", state, "collapsed,clear,none").await?;
                if has_parameters {
                    browser.press(&by("button", "Show the form")).await?;
                    wait_for_value(browser, "the expanded form, again", state, "open,shaded,none").await?;
                    browser.find(&by("spinbutton", "panes")).await?;
                } else {
                    browser.press(&starting("textbox", "prompt")).await?;
                    wait_for_value(browser, "the expanded form", state, "open,shaded,none").await?;
                }
                // The backdrop also covers the page header: the press does not reach it.
                press_at(browser, 60.0, 30.0).await?;
            }
            wait_for_value(browser, "the form collapsed again", state, "collapsed,clear,none").await?;
            browser.find(&by("heading", "Tessera")).await?;
            Ok(())
        },
    )
    .await;
}

/// Guards against an expanded form that extends below a phone's viewport, with Generate out of sight. At the top of
/// the page, a sheet that sticks to the bottom has no space above it.
#[tokio::test(flavor = "multi_thread")]
async fn generate_stays_in_viewport_when_form_expands_on_phone() {
    run_steps("generate_stays_in_viewport_when_form_expands_on_phone", &[], async |studio| {
        let browser = studio.browser;
        for height in [640, 800] {
            browser.set_size(360, height).await?;
            browser.client.refresh().await?;
            studio.wait_until_open().await?;
            browser.run(EXPAND_MORE, vec![]).await?;
            browser.find(&by("spinbutton", "panes")).await?;
            let state = "
                const form = document.querySelector('form[aria-label=Input]');
                const { top, bottom } = form.querySelector('[type=submit]').getBoundingClientRect();
                return top > 0 && bottom <= innerHeight ? 'in sight' : `${top} to ${bottom} of ${innerHeight}`";
            wait_for_value(browser, "Generate", state, "in sight").await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against a help button at each field that is a tab stop, and against help that the keyboard can't open.
#[tokio::test(flavor = "multi_thread")]
async fn tab_moves_between_fields_and_f1_explains_focused_field() {
    run_steps(
        "tab_moves_between_fields_and_f1_explains_focused_field",
        &[],
        async |studio| {
            let browser = studio.browser;
            browser.set_size(1440, 900).await?;
            let prompt = browser.find(&starting("textbox", "prompt")).await?;
            prompt.send_keys(&char::from(Key::Tab).to_string()).await?;
            let place = "
            const at = document.activeElement;
            const fields = [...document.querySelectorAll('.form .field')];
            return `${at.matches('input, select')} ${fields.indexOf(at.closest('.field'))}`";
            wait_for_value(browser, "the focus after Tab", place, "true 1").await?;
            let explained = "
            const hint = document.activeElement.closest('.field').querySelector('.hint');
            return !hint.classList.contains('visually-hidden')";
            wait_for_value(browser, "the explanation", explained, false).await?;
            let focused = browser.client.active_element().await?;
            focused.send_keys(&char::from(Key::F1).to_string()).await?;
            wait_for_value(browser, "the explanation", explained, true).await
        },
    )
    .await;
}

/// Guards against a row that moves when its reset button appears.
#[tokio::test(flavor = "multi_thread")]
async fn reset_button_causes_no_layout_shift() {
    run_steps("reset_button_causes_no_layout_shift", &[], async |studio| {
        let browser = studio.browser;
        for width in [320, 768, 1440] {
            browser.set_size(width, 900).await?;
            browser.client.refresh().await?;
            studio.wait_until_open().await?;
            if width < 1024 {
                browser.run(EXPAND_MORE, vec![]).await?;
            }
            let note = "
                const field = document.querySelector('#' + CSS.escape(
                    [...document.querySelectorAll('.label')].find(it => it.innerText === 'num_outputs').htmlFor)).closest('.field');
                const boxes = [...field.querySelectorAll('.label, .bounds, .explain, input')].map(it => {
                    const { left, top, width, height } = it.getBoundingClientRect();
                    return [left, top - field.getBoundingClientRect().top, width, height].map(Math.round);
                });
                return JSON.stringify([...boxes, Math.round(field.getBoundingClientRect().height)])";
            // Waits for the web font.
            browser.wait_until_settled().await?;
            let before = browser.run(note, vec![]).await?;
            let before = before.as_str().unwrap_or_default().to_owned();
            browser
                .fill(&by("spinbutton", "num_outputs"), "2")
                .await?;
            let back = by("button", "Back to the default");
            browser.find(&back).await?;
            let what = format!("the field at {width}");
            wait_for_value(browser, &what, note, before.as_str()).await?;
            browser.press(&back).await?;
            browser.wait_until_gone(&back).await?;
            // Guards against a reset button at a field that has its default value.
            for (value, is_changed) in [("2", true), ("1", false)] {
                browser
                    .fill(&by("spinbutton", "num_outputs"), value)
                    .await?;
                match is_changed {
                    true => browser.find(&back).await.map(|_| ())?,
                    false => browser.wait_until_gone(&back).await?,
                }
            }
        }
        Ok(())
    })
    .await;
}

/// Guards against fields that become narrower when help is opened.
#[tokio::test(flavor = "multi_thread")]
async fn opening_help_keeps_form_width() {
    run_steps("opening_help_keeps_form_width", &[], async |studio| {
        let browser = studio.browser;
        let widths = "
            const form = document.querySelector('form[aria-label=Input]');
            const seen = [form, ...form.querySelectorAll('.field :is(input, textarea, select)')];
            return seen.filter(it => it.checkVisibility()).map(it => Math.round(it.getBoundingClientRect().width)).join()";
        for width in [768, 1440, 2560] {
            browser.set_size(width, 900).await?;
            browser.client.refresh().await?;
            studio.wait_until_open().await?;
            if width < 1024 {
                browser.run(EXPAND_MORE, vec![]).await?;
            }
            browser.find(&by("spinbutton", "num_outputs")).await?;
            browser.wait_until_settled().await?;
            let before = browser.run(widths, vec![]).await?;
            let open = "document.querySelectorAll('.explain').forEach(it => it.click());
                return String(document.querySelectorAll('.explain[aria-expanded=true]').length > 3)";
            wait_for_value(browser, "the help", open, "true").await?;
            let what = format!("the fields at {width}");
            wait_for_value(browser, &what, widths, before.as_str()).await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against an empty form that shows problems.
#[tokio::test(flavor = "multi_thread")]
async fn cleared_form_shows_no_problems() {
    run_steps("cleared_form_shows_no_problems", &[], async |studio| {
        let browser = studio.browser;
        browser.set_size(1440, 900).await?;
        let marked = "
            const marked = [...document.querySelectorAll('.form :is([aria-invalid=true], .problem:not(:empty))')];
            return String(marked.filter(it => it.checkVisibility()).length)";
        for view in ["Form", "JSON"] {
            browser.press(&by("radio", view)).await?;
            match view {
                "Form" => {
                    let outputs = by("spinbutton", "num_outputs");
                    browser.fill(&outputs, "99").await?;
                }
                _ => {
                    let text = by("textbox", "Input as JSON");
                    browser.fill(&text, r#"{"num_outputs": 99}"#).await?;
                }
            }
            browser.press(&by("button", "Generate")).await?;
            let count = if view == "Form" { "4" } else { "2" };
            wait_for_value(browser, "marked fields", marked, count).await?;
            browser.press(&by("button", "Clear form")).await?;
            wait_for_value(browser, "marked fields of the cleared form", marked, "0").await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against a problem that is missing from the list because the value was valid for a moment while typing.
#[tokio::test(flavor = "multi_thread")]
async fn problem_is_listed_again_when_it_returns() {
    run_steps(
        "problem_is_listed_again_when_it_returns",
        &[],
        async |studio| {
            let browser = studio.browser;
            browser.set_size(1440, 900).await?;
            let outputs = by("spinbutton", "num_outputs");
            browser.fill(&outputs, "99").await?;
            browser.press(&by("button", "Generate")).await?;
            let listed =
                "return document.querySelectorAll('.form .summary:not([hidden]) li').length";
            wait_for_value(browser, "the problems", listed, 2).await?;
            let at = "return document.activeElement.role";
            browser.find(&outputs).await?.send_keys(BACKSPACE).await?;
            browser.find(&outputs).await?.send_keys(BACKSPACE).await?;
            browser.find(&outputs).await?.send_keys("2").await?;
            wait_for_value(browser, "the problems left", listed, 1).await?;
            browser.find(&outputs).await?.send_keys("2").await?;
            wait_for_value(browser, "the problems", listed, 2).await?;
            wait_for_value(browser, "the focus", at, "spinbutton").await
        },
    )
    .await;
}

/// Guards against an unknown name in the JSON that is dropped silently, and against an invalid value that is not
/// marked.
#[tokio::test(flavor = "multi_thread")]
async fn json_problems_are_shown_in_json_and_form() {
    run_steps(
        "json_problems_are_shown_in_json_and_form",
        &[],
        async |studio| {
            let browser = studio.browser;
            browser.set_size(1440, 900).await?;
            browser.press(&by("radio", "JSON")).await?;
            let text = r#"{"prompt": "a lake", "num_outputs": 99, "foo": 1}"#;
            browser.fill(&by("textbox", "Input as JSON"), text).await?;
            browser.press(&by("radio", "JSON")).await?;
            browser
                .wait_for_text("no such parameter: foo", TIMEOUT)
                .await?;
            let marked = "
            const marked = [...document.querySelectorAll('.form [aria-invalid=true]')];
            const seen = marked.filter(it => it.checkVisibility());
            return seen.map(it => it.id === 'input-json' ? 'the text' : it.role).join()";
            wait_for_value(browser, "marked fields", marked, "the text").await?;
            browser.press(&by("radio", "Form")).await?;
            wait_for_value(browser, "marked fields of the form", marked, "spinbutton").await?;
            // One press fixes a misspelled name.
            browser.press(&by("radio", "JSON")).await?;
            let text = r#"{"promt": "a sea", "foo": 1}"#;
            browser.fill(&by("textbox", "Input as JSON"), text).await?;
            // The name has no field, so the form shows the same message.
            browser.press(&by("radio", "Form")).await?;
            browser
                .wait_for_text("no such parameter: promt", TIMEOUT)
                .await?;
            browser.press(&by("button", "Did you mean prompt?")).await?;
            browser.press(&by("radio", "JSON")).await?;
            browser.press(&by("button", "Remove foo")).await?;
            let text = "return document.getElementById('input-json').value.replace(/\\s+/g, ' ')";
            wait_for_value(browser, "the text", text, r#"{ "prompt": "a sea" }"#).await?;
            browser.wait_until_gone(&by("button", "Remove promt")).await
        },
    )
    .await;
}

/// Guards against a parse error that is shown three times, and against a stale error above a valid form.
#[tokio::test(flavor = "multi_thread")]
async fn json_problem_is_shown_once_and_cleared_with_text() {
    run_steps("json_problem_is_shown_once_and_cleared_with_text", &[], async |studio| {
        let browser = studio.browser;
        let text = by("textbox", "Input as JSON");
        let messages = "
            const found = [...document.querySelectorAll('.form :is([role=alert], .problem, .why)')];
            const words = found.map(it => it.checkVisibility() ? it.innerText.trim() : '').filter(it => it);
            const at = document.activeElement.id === 'input-json' ? ', at it' : '';
            return words.filter(it => it !== 'prompt is required').join() + at";
        let refused = "Invalid JSON: a } is missing at line 1.,The JSON needs a look, at it";
        for fix in [
            "Discard the JSON",
            "text",
            "Back to what the form holds",
        ] {
            browser.press(&by("radio", "JSON")).await?;
            browser.fill(&text, "{").await?;
            browser.press(&by("button", "Generate")).await?;
            wait_for_value(browser, "messages after the press", messages, refused).await?;
            browser.run("document.activeElement.blur()", vec![]).await?;
            browser
                .press(&by("link", "The JSON needs a look"))
                .await?;
            wait_for_value(browser, "messages after the link", messages, refused).await?;
            match fix {
                "text" => browser.fill(&text, "{}").await?,
                "Discard the JSON" => {
                    browser.press(&by("radio", "Form")).await?;
                    browser.press(&by("button", fix)).await?;
                }
                button => browser.press(&by("button", button)).await?,
            }
            browser.run("document.activeElement.blur()", vec![]).await?;
            wait_for_value(browser, "messages after the fix", messages, "").await?;
        }
        // The same applies to valid JSON that can't be sent.
        browser.press(&by("radio", "JSON")).await?;
        browser.fill(&text, r#"{"prompt": "a", "foo": 1}"#).await?;
        browser.press(&by("button", "Generate")).await?;
        let refused = "Not sent, as the model has no such parameter: foo.,The JSON needs a look, at it";
        wait_for_value(browser, "messages about the values", messages, refused).await
    })
    .await;
}

/// Guards against Generate sending the last valid values of an invalid text, against a text that is discarded by the
/// first key in the form, against a discarded text that can't be restored, and against a form that is silently replaced when
/// the text is repaired.
#[tokio::test(flavor = "multi_thread")]
async fn invalid_json_blocks_generate_until_repaired_or_discarded() {
    run_steps(
        "invalid_json_blocks_generate_until_repaired_or_discarded",
        &[],
        async |studio| {
            let browser = studio.browser;
            let text = by("textbox", "Input as JSON");
            let hint = "return document.querySelector('.form .why').innerText.trim()";
            let prompt = "return document.querySelector('.form textarea[required]').value";
            let written = "return document.querySelector('#input-json').value";
            let needs_a_look = "The JSON needs a look";
            let notice = "The JSON is invalid, so the form shows the last valid values.";
            let broken = r#"{"prompt": "a red fox""#;
            let type_at_end = async |keys: &str| {
                let field = browser.find(&text).await?;
                Result::Ok(field.send_keys(keys).await?)
            };
            browser.press(&by("radio", "JSON")).await?;
            browser.paste(&text, &format!("{broken}}}")).await?;
            type_at_end(BACKSPACE).await?;
            browser.wait_for_text("a } is missing", TIMEOUT).await?;
            wait_for_value(browser, "the hint at Generate", hint, needs_a_look).await?;
            // A reload keeps the text and the selected view.
            browser.reload().await?;
            browser.wait_for_text("a } is missing", TIMEOUT).await?;
            wait_for_value(browser, "the hint after a reload", hint, needs_a_look).await?;
            browser.press(&by("radio", "Form")).await?;
            browser.wait_for_text(notice, TIMEOUT).await?;
            wait_for_value(browser, "the prompt", prompt, "a red fox").await?;
            browser.press(&by("button", "Generate")).await?;
            let focused = "return document.activeElement.role";
            wait_for_value(browser, "the focus", focused, "alert").await?;
            studio.type_prompt("a green fox").await?;
            browser.reload().await?;
            browser.wait_for_text(notice, TIMEOUT).await?;
            wait_for_value(browser, "the prompt", prompt, "a green fox").await?;
            wait_for_value(browser, "the hint in the form", hint, needs_a_look).await?;
            browser.press(&by("button", "Back to the JSON")).await?;
            wait_for_value(browser, "the text", written, broken).await?;
            browser
                .wait_for_text("The form was changed since", TIMEOUT)
                .await?;
            let focused = "return document.activeElement.id";
            wait_for_value(browser, "the focus", focused, "input-json").await?;
            browser.press(&by("radio", "Form")).await?;
            browser.press(&by("button", "Discard the JSON")).await?;
            wait_for_value(browser, "the hint in the form", hint, "").await?;
            browser.press(&by("button", "Undo")).await?;
            wait_for_value(browser, "the restored text", written, broken).await?;
            wait_for_value(browser, "the hint", hint, needs_a_look).await?;
            browser.press(&by("radio", "Form")).await?;
            browser.press(&by("button", "Discard the JSON")).await?;
            wait_for_value(browser, "the hint in the form", hint, "").await?;
            browser.press(&by("radio", "JSON")).await?;
            let value = "return JSON.parse(document.querySelector('#input-json').value).prompt";
            wait_for_value(browser, "the text", value, "a green fox").await?;
            // A repaired text is used again.
            type_at_end(BACKSPACE).await?;
            browser.press(&by("radio", "Form")).await?;
            browser.wait_for_text(notice, TIMEOUT).await?;
            studio.type_prompt("a blue fox").await?;
            browser.press(&by("radio", "JSON")).await?;
            browser
                .wait_for_text("The form was changed since", TIMEOUT)
                .await?;
            type_at_end("}").await?;
            browser.press(&by("radio", "Form")).await?;
            wait_for_value(browser, "the prompt", prompt, "a green fox").await?;
            assert!(studio.generate_calls().is_empty(), "a call was sent");
            browser.press(&by("button", "Generate")).await?;
            studio.wait_for_sent(1).await?;
            assert_eq!(studio.sent_prompts(), ["a green fox"]);
            Ok(())
        },
    )
    .await;
}

/// Guards against misplaced word outlines in right-to-left text.
#[tokio::test(flavor = "multi_thread")]
async fn words_are_outlined_in_place_in_both_text_directions() {
    run_steps(
        "words_are_outlined_in_place_in_both_text_directions",
        &[],
        async |studio| {
            let sides = "
            const field = document.querySelector('.marks + textarea').getBoundingClientRect();
            const middle = field.left + field.width / 2;
            return [...document.querySelectorAll('.marks mark')].map(it => {
                const { left, right } = it.getBoundingClientRect();
                return left > middle ? 'right' : right < middle ? 'left' : 'middle';
            }).join()";
            studio.type_prompt("חלון rose\na rose").await?;
            wait_for_value(
                studio.browser,
                "the sides of the outlines",
                sides,
                "right,left",
            )
            .await
        },
    )
    .await;
}
