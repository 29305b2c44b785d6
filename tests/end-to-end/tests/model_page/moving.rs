//! What moves because of a press, and what is pressed then.

use crate::studio::{MODEL, Studio, play};
use atelier_end_to_end::Result;
use atelier_end_to_end::find::{Query, by, starting};
use atelier_end_to_end::wait::becomes;
use fantoccini::actions::{InputSource, MOUSE_BUTTON_LEFT, MouseActions, PointerAction};
use std::time::Duration;

/// What the text holds, on one line.
const TEXT: &str = "return document.getElementById('input-json').value.replace(/\\s+/g, ' ')";

const FOCUSED: &str = "return document.activeElement.role ?? document.activeElement.id";
const MENDS: &str = "Did you mean prompt?";

/// Presses Generate as a hand does, so many times in the place where it is now.
async fn press_generate(studio: &Studio<'_>, times: usize) -> Result<()> {
    let place = "
        const { x, y, width, height } = button('Generate').getBoundingClientRect();
        return [x + width / 2, y + height / 2]";
    let place = studio.hand(place).await?;
    let at = |axis: usize| place[axis].as_f64().ok_or("no place");
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

/// Writes over what stands there, and stays in it: to clear a field by WebDriver is to leave it, and not every driver
/// goes on with plain keys after Ctrl+A.
async fn write(studio: &Studio<'_>, field: &Query, text: &str) -> Result<()> {
    studio.browser.find(field).await?.click().await?;
    let script = "
        document.activeElement.select();
        document.execCommand('insertText', false, arguments[0])";
    studio.browser.run(script, vec![text.into()]).await?;
    Ok(())
}

/// Guards against a press of Generate that is lost, for it moves as what was written loses the focus; and against the
/// second half of a double click that presses what stands there by then.
#[tokio::test(flavor = "multi_thread")]
async fn a_press_meets_generate_although_leaving_a_field_moves_it() {
    let name = "a_press_meets_generate";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        browser.press(&by("radio", "JSON")).await?;
        let text = by("textbox", "Input as JSON");
        // What is said of the text makes the form higher.
        let typed = r#"{"promt":"a"}"#;
        write(studio, &text, typed).await?;
        press_generate(studio, 1).await?;
        becomes(browser, "what has the focus", FOCUSED, "input-json").await?;
        browser.find(&by("button", MENDS)).await?;
        studio.open(MODEL).await?;
        write(studio, &text, typed).await?;
        press_generate(studio, 2).await?;
        browser.find(&by("button", MENDS)).await?;
        becomes(browser, "the text", TEXT, typed).await?;
        // In the form the press says where the fault is.
        write(studio, &text, r#"{"prompt":"a"}"#).await?;
        browser.press(&by("radio", "Form")).await?;
        write(studio, &starting("spinbutton", "num_outputs"), "99").await?;
        press_generate(studio, 1).await?;
        becomes(browser, "what has the focus", FOCUSED, "spinbutton").await
    })
    .await;
}

/// Guards against a name that was put right, or taken out, and can't be brought back as what is typed can.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_mended_in_the_json_is_undone_by_the_browser() {
    play("what_is_mended_in_the_json", &[], async |studio| {
        let browser = studio.browser;
        browser.press(&by("radio", "JSON")).await?;
        let text = by("textbox", "Input as JSON");
        let typed = r#"{"promt": "a sea", "foo": 1}"#;
        browser.fill(&text, typed).await?;
        browser.press(&by("radio", "JSON")).await?;
        browser.press(&by("button", "Did you mean prompt?")).await?;
        browser.press(&by("button", "Remove foo")).await?;
        becomes(browser, "the text", TEXT, r#"{ "prompt": "a sea" }"#).await?;
        browser.find(&text).await?.click().await?;
        for before in [r#"{ "prompt": "a sea", "foo": 1 }"#, typed] {
            // What Ctrl+Z does, which not every driver can press.
            browser.run("document.execCommand('undo')", vec![]).await?;
            becomes(browser, "the text before", TEXT, before).await?;
        }
        // What it says then holds.
        browser.press(&by("radio", "JSON")).await?;
        browser.find(&by("button", "Remove foo")).await?;
        Ok(())
    })
    .await;
}

/// Guards against a page that stops because it is left within the frame in which the pointer reached a picture: what
/// was to be done after the frame asked for a view that was gone.
#[tokio::test(flavor = "multi_thread")]
async fn the_page_may_be_left_as_soon_as_the_pointer_reaches_a_picture() {
    play("left_at_once", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.type_prompt("a").await?;
        browser.press(&by("button", "Generate")).await?;
        let shown = "return !!document.querySelector('.task .picture img')?.naturalWidth";
        becomes(browser, "the picture is shown", shown, true).await?;
        let leave = "
            const entered = new PointerEvent('pointerenter', { pointerType: 'mouse' });
            document.querySelector('.task .picture').dispatchEvent(entered);
            const turn = () => new Promise(done => queueMicrotask(done));
            for (let turns = 0; turns < 20; turns += 1) await turn();
            await new Promise(done => requestAnimationFrame(() => {
                document.querySelector('nav a[href$=\"/tasks\"]').click();
                done();
            }))";
        studio.hand(leave).await?;
        browser.find(&by("heading", "Tasks")).await?;
        Ok(())
    })
    .await;
}
