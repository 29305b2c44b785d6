//! Tests of presses on elements that move, and of undo and navigation.

use crate::studio::{MODEL, Studio, run_steps};
use atelier_end_to_end::Result;
use atelier_end_to_end::find::{Query, by, starting};
use atelier_end_to_end::wait::wait_for_value;
use fantoccini::actions::{InputSource, MOUSE_BUTTON_LEFT, MouseActions, PointerAction};
use std::time::Duration;

/// Returns the JSON text on one line.
const TEXT: &str = "return document.getElementById('input-json').value.replace(/\\s+/g, ' ')";

const FOCUSED: &str = "return document.activeElement.role ?? document.activeElement.id";
const FIX: &str = "Did you mean prompt?";

/// Presses Generate `times` times with the mouse, at its current position.
async fn press_generate(studio: &Studio<'_>, times: usize) -> Result<()> {
    let place = "
        const { x, y, width, height } = button('Generate').getBoundingClientRect();
        return [x + width / 2, y + height / 2]";
    let place = studio.run_script(place).await?;
    let at = |axis: usize| place[axis].as_f64().ok_or("no position");
    let (button, pause) = (MOUSE_BUTTON_LEFT, Duration::from_millis(60));
    let mut press = MouseActions::new("mouse".to_owned()).then(PointerAction::MoveTo {
        duration: Some(Duration::ZERO),
        x: at(0)?,
        y: at(1)?,
    });
    for _ in 0..times {
        press = (press.then(PointerAction::Down { button }))
            .then(PointerAction::Pause { duration: pause })
            .then(PointerAction::Up { button })
            .then(PointerAction::Pause { duration: pause });
    }
    Ok(studio.browser.client.perform_actions(press).await?)
}

/// Replaces the text of a field and keeps the focus there. WebDriver's clear command removes the focus, and some
/// drivers don't accept plain keys after Ctrl+A.
async fn write(studio: &Studio<'_>, field: &Query, text: &str) -> Result<()> {
    studio.browser.find(field).await?.click().await?;
    let script = "
        document.activeElement.select();
        document.execCommand('insertText', false, arguments[0])";
    studio.browser.run(script, vec![text.into()]).await?;
    Ok(())
}

/// Generate moves when the text field loses focus. Guards against a click on it being lost, and against the second
/// click of a double click hitting another button.
#[tokio::test(flavor = "multi_thread")]
async fn press_reaches_generate_when_blur_moves_it() {
    let name = "press_reaches_generate_when_blur_moves_it";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        browser.press(&by("radio", "JSON")).await?;
        let text = by("textbox", "Input as JSON");
        // The message about the text makes the form taller.
        let typed = r#"{"promt":"a"}"#;
        write(studio, &text, typed).await?;
        press_generate(studio, 1).await?;
        wait_for_value(browser, "the focus", FOCUSED, "input-json").await?;
        browser.find(&by("button", FIX)).await?;
        studio.open(MODEL).await?;
        write(studio, &text, typed).await?;
        press_generate(studio, 2).await?;
        browser.find(&by("button", FIX)).await?;
        wait_for_value(browser, "the text", TEXT, typed).await?;
        // In the form, the press moves the focus to the invalid field.
        write(studio, &text, r#"{"prompt":"a"}"#).await?;
        browser.press(&by("radio", "Form")).await?;
        write(studio, &starting("spinbutton", "num_outputs"), "99").await?;
        press_generate(studio, 1).await?;
        wait_for_value(browser, "the focus", FOCUSED, "spinbutton").await
    })
    .await;
}

/// Guards against fixes of the JSON that Ctrl+Z can't undo.
#[tokio::test(flavor = "multi_thread")]
async fn json_fixes_can_be_undone_by_browser() {
    run_steps("json_fixes_can_be_undone_by_browser", &[], async |studio| {
        let browser = studio.browser;
        browser.press(&by("radio", "JSON")).await?;
        let text = by("textbox", "Input as JSON");
        let typed = r#"{"promt": "a sea", "foo": 1}"#;
        browser.fill(&text, typed).await?;
        browser.press(&by("radio", "JSON")).await?;
        browser.press(&by("button", "Did you mean prompt?")).await?;
        browser.press(&by("button", "Remove foo")).await?;
        wait_for_value(browser, "the text", TEXT, r#"{ "prompt": "a sea" }"#).await?;
        browser.find(&text).await?.click().await?;
        for before in [r#"{ "prompt": "a sea", "foo": 1 }"#, typed] {
            // Undoes the fix by script, because some drivers can't press Ctrl+Z.
            browser.run("document.execCommand('undo')", vec![]).await?;
            wait_for_value(browser, "the previous text", TEXT, before).await?;
        }
        // The restored text is checked again.
        browser.press(&by("radio", "JSON")).await?;
        browser.find(&by("button", "Remove foo")).await?;
        Ok(())
    })
    .await;
}

/// Guards against a crash when the user leaves the page in the same frame in which the pointer enters a picture: the
/// callback of the next frame used a disposed view.
#[tokio::test(flavor = "multi_thread")]
async fn leaving_page_during_picture_hover_does_not_crash() {
    run_steps(
        "leaving_page_during_picture_hover_does_not_crash",
        &["--speed", "0"],
        async |studio| {
            let browser = studio.browser;
            studio.type_prompt("a").await?;
            browser.press(&by("button", "Generate")).await?;
            let shown = "return !!document.querySelector('.task .picture img')?.naturalWidth";
            wait_for_value(browser, "the picture is shown", shown, true).await?;
            let leave = "
            const entered = new PointerEvent('pointerenter', { pointerType: 'mouse' });
            document.querySelector('.task .picture').dispatchEvent(entered);
            const yieldOnce = () => new Promise(done => queueMicrotask(done));
            for (let turns = 0; turns < 20; turns += 1) await yieldOnce();
            await new Promise(done => requestAnimationFrame(() => {
                document.querySelector('nav a[href$=\"/tasks\"]').click();
                done();
            }))";
            studio.run_script(leave).await?;
            browser.find(&by("heading", "Tasks")).await?;
            Ok(())
        },
    )
    .await;
}
