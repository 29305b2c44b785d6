//! An output goes on as the input of another model.

use crate::studio::{TIMEOUT, play};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, becomes, until};

/// Guards against an output that can be used elsewhere only by whoever knows where, and against its
/// address ending in the form that the person leaves.
#[tokio::test(flavor = "multi_thread")]
async fn an_output_is_put_into_the_form_of_a_model_that_takes_it() {
    play(
        "an_output_is_put_into_a_form",
        &["--speed", "0"],
        async |studio| {
            let browser = studio.browser;
            studio.type_prompt("glass").await?;
            browser.press(&by("button", "Generate")).await?;
            browser
                .find_for(&by("button", "Run again"), TIMEOUT)
                .await?;
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
            browser
                .find(&by("button", "Restore previous input"))
                .await?;
            Ok(())
        },
    )
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
