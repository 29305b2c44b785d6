//! The form, as it is unfolded and as it is changed.

use crate::studio::{TIMEOUT, play};
use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::engine::Capability;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::becomes;
use fantoccini::actions::{InputSource, MOUSE_BUTTON_LEFT, MouseActions, PointerAction};
use fantoccini::key::Key;
use std::time::Duration;

const BACKSPACE: &str = "\u{e003}";

/// Its role is a browser's own.
const UNFOLD_MORE: &str = "document.querySelector('.more-fields').open = true";

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
/// that a press outside it does not close; and against a button of sliders that opens no parameter.
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
            browser.find_for(&by("button", "Download"), TIMEOUT).await?;
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

/// Guards against a press of Tab at each field that leads only to what explains it, and against keys that can't have that.
#[tokio::test(flavor = "multi_thread")]
async fn keys_lead_from_field_to_field_and_explain_the_one_they_are_at() {
    play("keys_lead_from_field_to_field", &[], async |studio| {
        let browser = studio.browser;
        browser.set_size(1440, 900).await?;
        let prompt = browser.find(&starting("textbox", "prompt")).await?;
        prompt.send_keys(&char::from(Key::Tab).to_string()).await?;
        let place = "
            const at = document.activeElement;
            const fields = [...document.querySelectorAll('.form .field')];
            return `${at.matches('input, select')} ${fields.indexOf(at.closest('.field'))}`";
        becomes(browser, "what Tab leads to", place, "true 1").await?;
        let explained = "
            const hint = document.activeElement.closest('.field').querySelector('.hint');
            return !hint.classList.contains('visually-hidden')";
        becomes(browser, "the explanation", explained, false).await?;
        let focused = browser.client.active_element().await?;
        focused.send_keys(&char::from(Key::F1).to_string()).await?;
        becomes(browser, "the explanation", explained, true).await
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
            // Guards against a way back that leads to what is there.
            for (value, is_away) in [("2", true), ("1", false)] {
                browser
                    .fill(&by("spinbutton", "num_outputs"), value)
                    .await?;
                match is_away {
                    true => browser.find(&back).await.map(|_| ())?,
                    false => browser.find_gone(&back).await?,
                }
            }
        }
        Ok(())
    })
    .await;
}

/// Guards against fields that become narrower as the help of one is opened.
#[tokio::test(flavor = "multi_thread")]
async fn help_leaves_the_form_as_wide_as_it_was() {
    play("help_leaves_the_form", &[], async |studio| {
        let browser = studio.browser;
        let widths = "
            const form = document.querySelector('form[aria-label=Input]');
            const seen = [form, ...form.querySelectorAll('.field :is(input, textarea, select)')];
            return seen.filter(it => it.checkVisibility()).map(it => Math.round(it.getBoundingClientRect().width)).join()";
        for width in [768, 1440, 2560] {
            browser.set_size(width, 900).await?;
            browser.client.refresh().await?;
            studio.is_open().await?;
            if width < 1024 {
                browser.run(UNFOLD_MORE, vec![]).await?;
            }
            browser.find(&by("spinbutton", "num_outputs")).await?;
            browser.settled().await?;
            let before = browser.run(widths, vec![]).await?;
            let open = "document.querySelectorAll('.explain').forEach(it => it.click());
                return String(document.querySelectorAll('.explain[aria-expanded=true]').length > 3)";
            becomes(browser, "the help", open, "true").await?;
            let what = format!("the fields at {width}");
            becomes(browser, &what, widths, before.as_str()).await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against a form that is empty and already wrong.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_marked_as_wrong_once_the_form_is_cleared() {
    play("nothing_is_marked_as_wrong", &[], async |studio| {
        let browser = studio.browser;
        browser.set_size(1440, 900).await?;
        let marked = "
            const marked = [...document.querySelectorAll('.form :is([aria-invalid=true], .problem:not(:empty))')];
            return String(marked.filter(it => it.checkVisibility()).length)";
        for way in ["Form", "JSON"] {
            browser.press(&by("radio", way)).await?;
            match way {
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
            let count = if way == "Form" { "4" } else { "2" };
            becomes(browser, "what is marked", marked, count).await?;
            browser.press(&by("button", "Clear form")).await?;
            becomes(browser, "what is marked in an empty form", marked, "0").await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against a list of problems that has lost one of them, since what was typed was right on its way.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_once_more_is_listed_once_more() {
    play("what_is_wrong_once_more", &[], async |studio| {
        let browser = studio.browser;
        browser.set_size(1440, 900).await?;
        let outputs = by("spinbutton", "num_outputs");
        browser.fill(&outputs, "99").await?;
        browser.press(&by("button", "Generate")).await?;
        let listed = "return document.querySelectorAll('.form .summary:not([hidden]) li').length";
        becomes(browser, "the problems", listed, 2).await?;
        let at = "return document.activeElement.role";
        browser.find(&outputs).await?.send_keys(BACKSPACE).await?;
        browser.find(&outputs).await?.send_keys(BACKSPACE).await?;
        browser.find(&outputs).await?.send_keys("2").await?;
        becomes(browser, "the problems left", listed, 1).await?;
        browser.find(&outputs).await?.send_keys("2").await?;
        becomes(browser, "the problems", listed, 2).await?;
        becomes(browser, "what has the focus", at, "spinbutton").await
    })
    .await;
}

/// Guards against a name in the JSON that is dropped without a word, and a value that is wrong where nothing is red.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_in_the_json_is_said_there_and_in_the_form() {
    play("what_is_wrong_in_the_json", &[], async |studio| {
        let browser = studio.browser;
        browser.set_size(1440, 900).await?;
        browser.press(&by("radio", "JSON")).await?;
        let text = r#"{"prompt": "a lake", "num_outputs": 99, "foo": 1}"#;
        browser.fill(&by("textbox", "Input as JSON"), text).await?;
        browser.press(&by("radio", "JSON")).await?;
        browser.see_text("no such parameter: foo", TIMEOUT).await?;
        let marked = "
            const marked = [...document.querySelectorAll('.form [aria-invalid=true]')];
            const seen = marked.filter(it => it.checkVisibility());
            return seen.map(it => it.id === 'input-json' ? 'the text' : it.role).join()";
        becomes(browser, "what is marked", marked, "the text").await?;
        browser.press(&by("radio", "Form")).await?;
        becomes(browser, "what is marked in the form", marked, "spinbutton").await?;
        // A slip in a name is mended at one press.
        browser.press(&by("radio", "JSON")).await?;
        let text = r#"{"promt": "a sea", "foo": 1}"#;
        browser.fill(&by("textbox", "Input as JSON"), text).await?;
        // It has no field: the form says it in the same words.
        browser.press(&by("radio", "Form")).await?;
        browser
            .see_text("no such parameter: promt", TIMEOUT)
            .await?;
        browser.press(&by("button", "Did you mean prompt?")).await?;
        browser.press(&by("radio", "JSON")).await?;
        browser.press(&by("button", "Remove foo")).await?;
        let text = "return document.getElementById('input-json').value.replace(/\\s+/g, ' ')";
        becomes(browser, "the text", text, r#"{ "prompt": "a sea" }"#).await?;
        browser.find_gone(&by("button", "Remove promt")).await
    })
    .await;
}

/// Guards against a text whose fault is told three times at once, and against what is said of it over a form that could be
/// sent.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_of_a_text_is_said_once_and_goes_with_it() {
    play("what_is_said_of_a_text", &[], async |studio| {
        let browser = studio.browser;
        let text = by("textbox", "Input as JSON");
        let said = "
            const said = [...document.querySelectorAll('.form :is([role=alert], .problem, .why)')];
            const words = said.map(it => it.checkVisibility() ? it.innerText.trim() : '').filter(it => it);
            const at = document.activeElement.id === 'input-json' ? ', at it' : '';
            return words.filter(it => it !== 'prompt is required').join() + at";
        let refused = "Invalid JSON: a } is missing at line 1.,The JSON needs a look, at it";
        for mends in [
            "Discard the JSON",
            "text",
            "Back to what the form holds",
        ] {
            browser.press(&by("radio", "JSON")).await?;
            browser.fill(&text, "{").await?;
            browser.press(&by("button", "Generate")).await?;
            becomes(browser, "what is said of the press", said, refused).await?;
            browser.run("document.activeElement.blur()", vec![]).await?;
            browser
                .press(&by("link", "The JSON needs a look"))
                .await?;
            becomes(browser, "where the link leads", said, refused).await?;
            match mends {
                "text" => browser.fill(&text, "{}").await?,
                "Discard the JSON" => {
                    browser.press(&by("radio", "Form")).await?;
                    browser.press(&by("button", mends)).await?;
                }
                button => browser.press(&by("button", button)).await?,
            }
            browser.run("document.activeElement.blur()", vec![]).await?;
            becomes(browser, "what is said after it", said, "").await?;
        }
        // The same holds for what can be read, and not be sent.
        browser.press(&by("radio", "JSON")).await?;
        browser.fill(&text, r#"{"prompt": "a", "foo": 1}"#).await?;
        browser.press(&by("button", "Generate")).await?;
        let refused = "Not sent, as the model has no such parameter: foo.,The JSON needs a look, at it";
        becomes(browser, "what is said of the values", said, refused).await
    })
    .await;
}

/// Guards against a press of Generate that pays for values that were read before the text was broken, against a text that goes
/// with the first letter typed in the form, and against a form that is silently replaced once the text is repaired.
#[tokio::test(flavor = "multi_thread")]
async fn a_broken_text_holds_generate_back_until_it_is_repaired_or_discarded() {
    play("a_broken_text", &[], async |studio| {
        let browser = studio.browser;
        let text = by("textbox", "Input as JSON");
        let beside = "return document.querySelector('.form .why').innerText.trim()";
        let prompt = "return document.querySelector('.form textarea[required]').value";
        let written = "return document.querySelector('#input-json').value";
        let needs_a_look = "The JSON needs a look";
        let notice = "The JSON could not be read, so the form shows the last values that could.";
        let broken = r#"{"prompt": "a red fox""#;
        let type_at_end = async |keys: &str| {
            let field = browser.find(&text).await?;
            Result::Ok(field.send_keys(keys).await?)
        };
        browser.press(&by("radio", "JSON")).await?;
        browser.paste(&text, &format!("{broken}}}")).await?;
        type_at_end(BACKSPACE).await?;
        browser.see_text("a } is missing", TIMEOUT).await?;
        becomes(browser, "beside Generate", beside, needs_a_look).await?;
        // It stays, and so does the way that was chosen.
        browser.reload().await?;
        browser.see_text("a } is missing", TIMEOUT).await?;
        becomes(browser, "after a reload", beside, needs_a_look).await?;
        browser.press(&by("radio", "Form")).await?;
        browser.see_text(notice, TIMEOUT).await?;
        becomes(browser, "the prompt", prompt, "a red fox").await?;
        browser.press(&by("button", "Generate")).await?;
        let focused = "return document.activeElement.role";
        becomes(browser, "what has the focus", focused, "alert").await?;
        studio.type_prompt("a green fox").await?;
        browser.reload().await?;
        browser.see_text(notice, TIMEOUT).await?;
        becomes(browser, "the prompt", prompt, "a green fox").await?;
        becomes(browser, "in the form", beside, needs_a_look).await?;
        browser.press(&by("button", "Back to the JSON")).await?;
        becomes(browser, "the text", written, broken).await?;
        browser
            .see_text("The form was changed since", TIMEOUT)
            .await?;
        let focused = "return document.activeElement.id";
        becomes(browser, "what has the focus", focused, "input-json").await?;
        browser.press(&by("radio", "Form")).await?;
        browser.press(&by("button", "Discard the JSON")).await?;
        becomes(browser, "in the form", beside, "").await?;
        browser.press(&by("radio", "JSON")).await?;
        let value = "return JSON.parse(document.querySelector('#input-json').value).prompt";
        becomes(browser, "the text", value, "a green fox").await?;
        // Repaired, it counts again.
        type_at_end(BACKSPACE).await?;
        browser.press(&by("radio", "Form")).await?;
        browser.see_text(notice, TIMEOUT).await?;
        studio.type_prompt("a blue fox").await?;
        browser.press(&by("radio", "JSON")).await?;
        browser
            .see_text("The form was changed since", TIMEOUT)
            .await?;
        type_at_end("}").await?;
        browser.press(&by("radio", "Form")).await?;
        becomes(browser, "the prompt", prompt, "a green fox").await?;
        assert!(studio.generate_calls().is_empty(), "something was sent");
        browser.press(&by("button", "Generate")).await?;
        studio.sees_sent(1).await?;
        assert_eq!(studio.prompts_sent(), ["a green fox"]);
        Ok(())
    })
    .await;
}

/// Guards against outlines next to the words that they belong to, where a prompt runs from right to left.
#[tokio::test(flavor = "multi_thread")]
async fn words_are_outlined_where_they_stand_in_each_direction() {
    play("words_in_each_direction", &[], async |studio| {
        let sides = "
            const field = document.querySelector('.marks + textarea').getBoundingClientRect();
            const middle = field.left + field.width / 2;
            return [...document.querySelectorAll('.marks mark')].map(it => {
                const { left, right } = it.getBoundingClientRect();
                return left > middle ? 'right' : right < middle ? 'left' : 'middle';
            }).join()";
        studio.type_prompt("חלון rose\na rose").await?;
        becomes(
            studio.browser,
            "the sides of the outlines",
            sides,
            "right,left",
        )
        .await
    })
    .await;
}
