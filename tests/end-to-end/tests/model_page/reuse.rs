//! An output goes on as the input of another model.

use crate::studio::{Studio, TIMEOUT, play};
use atelier_end_to_end::Result;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, becomes, until};

async fn make(studio: &Studio<'_>) -> Result<()> {
    studio.type_prompt("glass").await?;
    let browser = studio.browser;
    browser.press(&by("button", "Generate")).await?;
    browser
        .find_for(&by("button", "Run again"), TIMEOUT)
        .await?;
    Ok(())
}

/// Guards against an output that can be used elsewhere only by a person who knows where, and against its
/// address ending in the form that the person leaves.
#[tokio::test(flavor = "multi_thread")]
async fn an_output_is_put_into_the_form_of_a_model_that_takes_it() {
    play(
        "an_output_is_put_into_a_form",
        &["--speed", "0"],
        async |studio| {
            let browser = studio.browser;
            make(studio).await?;
            browser.press_in_menu(&by("button", "Use as input")).await?;
            browser.press(&starting("link", "Repaint")).await?;
            browser.find(&by("heading", "Repaint")).await?;
            let field = starting("textbox", "image_url");
            until("the output's address in the form", TIMEOUT, async || {
                let value = browser.find(&field).await?.prop("value").await?;
                Ok(match value.unwrap_or_default() {
                    value if value.contains("/outputs/") => Seen::Yes(()),
                    other => Seen::NotYet(other),
                })
            })
            .await?;
            // Nothing stood there before.
            browser
                .find_gone(&by("button", "Restore previous input"))
                .await
        },
    )
    .await;
}

/// Guards against a picture over which a pointer finds nothing, and against controls that readers and keys meet twice.
#[tokio::test(flavor = "multi_thread")]
async fn an_output_is_an_input_at_one_press_over_it() {
    play("an_input_at_one_press", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        make(studio).await?;
        let come = "
            const picture = document.querySelector('.result .picture');
            picture.dispatchEvent(new PointerEvent('pointerenter', { pointerType: 'mouse' }))";
        browser.run(come, vec![]).await?;
        let over = "
            const buttons = [...document.querySelectorAll('.result .over button')];
            const names = buttons.map(it => it.ariaLabel ?? it.textContent.trim());
            const isSpared = buttons.every(it => it.tabIndex === -1 && it.closest('[aria-hidden=true]'));
            return `${names.join()} ${isSpared ? 'once' : 'twice'}`";
        let all = "Favorite,Vary,Use as input,Download once";
        becomes(browser, "what lies over it", over, all).await?;
        let press = "document.querySelector('.result .over [popovertarget]').click()";
        browser.run(press, vec![]).await?;
        // A pointer that comes once more closes nothing.
        browser.run(come, vec![]).await?;
        browser.press(&starting("link", "Repaint")).await?;
        browser.find(&by("heading", "Repaint")).await?;
        Ok(())
    })
    .await;
}

/// Guards against earlier prompts that only who has an Alt key can have, and against what was typed that is gone with
/// the first look at one.
#[tokio::test(flavor = "multi_thread")]
async fn earlier_prompts_are_taken_from_a_menu() {
    play("earlier_prompts", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let menu = by("button", "Earlier prompts");
        assert!(browser.find_all(&menu).await?.is_empty(), "of none");
        for (sent, prompt) in ["first light", "second light"].into_iter().enumerate() {
            studio.type_prompt(prompt).await?;
            browser.press(&by("button", "Generate")).await?;
            studio.sees_sent(sent + 1).await?;
        }
        studio.type_prompt("half a thought").await?;
        for prompt in ["first light", "second light", "half a thought"] {
            browser.press(&menu).await?;
            browser
                .press(
                    &by("button", prompt)
                        .within(&browser.find(&by("group", "Earlier prompts")).await?),
                )
                .await?;
            studio.sees_prompt(prompt).await?;
        }
        let focused = "return document.activeElement.tagName";
        becomes(browser, "where the keys are", focused, "TEXTAREA").await
    })
    .await;
}

/// Guards against a button that opens a menu only to say that there is nothing in it.
#[tokio::test(flavor = "multi_thread")]
async fn that_no_model_takes_an_output_is_said_before_a_press() {
    drive("that_no_model_takes_an_output", async |browser| {
        let service = Service::with_site(&["--speed", "0"]).await?;
        browser.set_size(1440, 900).await?;
        let address = format!("{}/models/audio/reverie?prompt=slow+rain", service.address());
        browser.open(&address).await?;
        browser.fill(&starting("textbox", "prompt"), "slow rain").await?;
        browser.press(&by("button", "Generate")).await?;
        browser.find_for(&by("button", "Run again"), TIMEOUT).await?;
        // It keeps its name, and says why not.
        let why = "
            const button = [...document.querySelectorAll('.menu button')].find(it => it.textContent.trim() === 'Use as input');
            return `${button?.ariaDisabled} ${button?.title}`";
        becomes(browser, "why not", why, "true No model takes it.").await?;
        browser.press_in_menu(&by("button", "Use as input")).await?;
        browser.see_text("No model takes it.", TIMEOUT).await?;
        let menus = "return String(document.querySelectorAll(':popover-open').length)";
        becomes(browser, "open menus", menus, "1").await
    })
    .await;
}
