//! Tests of using an output as the input of another model.

use crate::studio::{Studio, TIMEOUT, run_steps};
use atelier_end_to_end::Result;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, until, wait_for_value};

async fn generate_output(studio: &Studio<'_>) -> Result<()> {
    studio.type_prompt("glass").await?;
    let browser = studio.browser;
    browser.press(&by("button", "Generate")).await?;
    browser
        .find_with_limit(&by("button", "Run again"), TIMEOUT)
        .await?;
    Ok(())
}

/// Guards against an output whose next models can't be found, and against its address ending up in the form of the
/// previous page.
#[tokio::test(flavor = "multi_thread")]
async fn output_can_be_used_as_input_of_another_model() {
    run_steps(
        "output_can_be_used_as_input_of_another_model",
        &["--speed", "0"],
        async |studio| {
            let browser = studio.browser;
            generate_output(studio).await?;
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
            // The form was empty before, so there is no input to restore.
            browser
                .wait_until_gone(&by("button", "Restore previous input"))
                .await
        },
    )
    .await;
}

/// Guards against a picture without hover buttons, and against buttons that screen readers and the keyboard reach
/// twice.
#[tokio::test(flavor = "multi_thread")]
async fn hover_buttons_on_picture_include_use_as_input() {
    run_steps("hover_buttons_on_picture_include_use_as_input", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        generate_output(studio).await?;
        let enter = "
            const picture = document.querySelector('.result .picture');
            picture.dispatchEvent(new PointerEvent('pointerenter', { pointerType: 'mouse' }))";
        browser.run(enter, vec![]).await?;
        let over = "
            const buttons = [...document.querySelectorAll('.result .over button')];
            const names = buttons.map(it => it.ariaLabel ?? it.textContent.trim());
            const isHidden = buttons.every(it => it.tabIndex === -1 && it.closest('[aria-hidden=true]'));
            return `${names.join()} ${isHidden ? 'once' : 'twice'}`";
        let all = "Favorite,Vary,Use as input,Download once";
        wait_for_value(browser, "the hover buttons", over, all).await?;
        let press = "document.querySelector('.result .over [popovertarget]').click()";
        browser.run(press, vec![]).await?;
        // Another pointerenter event closes nothing.
        browser.run(enter, vec![]).await?;
        browser.press(&starting("link", "Repaint")).await?;
        browser.find(&by("heading", "Repaint")).await?;
        Ok(())
    })
    .await;
}

/// Guards against earlier prompts that need an Alt key, and against typed text that is lost when an earlier prompt is
/// chosen.
#[tokio::test(flavor = "multi_thread")]
async fn earlier_prompts_can_be_chosen_from_menu() {
    run_steps(
        "earlier_prompts_can_be_chosen_from_menu",
        &["--speed", "0"],
        async |studio| {
            let browser = studio.browser;
            let menu = by("button", "Earlier prompts");
            assert!(
                browser.find_all(&menu).await?.is_empty(),
                "a menu without prompts"
            );
            for (sent, prompt) in ["first light", "second light"].into_iter().enumerate() {
                studio.type_prompt(prompt).await?;
                browser.press(&by("button", "Generate")).await?;
                studio.wait_for_sent(sent + 1).await?;
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
                studio.wait_for_prompt(prompt).await?;
            }
            let focused = "return document.activeElement.tagName";
            wait_for_value(browser, "the focus", focused, "TEXTAREA").await
        },
    )
    .await;
}

/// Guards against a button that opens an empty menu.
#[tokio::test(flavor = "multi_thread")]
async fn use_as_input_is_disabled_if_no_model_accepts_output() {
    drive("use_as_input_is_disabled_if_no_model_accepts_output", async |browser| {
        let service = Service::start_with_site(&["--speed", "0"]).await?;
        browser.set_size(1440, 900).await?;
        let address = format!("{}/models/audio/reverie?prompt=slow+rain", service.address());
        browser.open(&address).await?;
        browser.fill(&starting("textbox", "prompt"), "slow rain").await?;
        browser.press(&by("button", "Generate")).await?;
        browser.find_with_limit(&by("button", "Run again"), TIMEOUT).await?;
        // The disabled button keeps its name and shows the reason.
        let why = "
            const button = [...document.querySelectorAll('.menu button')].find(it => it.textContent.trim() === 'Use as input');
            return `${button?.ariaDisabled} ${button?.title}`";
        wait_for_value(browser, "the reason", why, "true No model accepts it.").await?;
        browser.press_in_menu(&by("button", "Use as input")).await?;
        browser.wait_for_text("No model accepts it.", TIMEOUT).await?;
        let menus = "return String(document.querySelectorAll(':popover-open').length)";
        wait_for_value(browser, "open menus", menus, "1").await
    })
    .await;
}
