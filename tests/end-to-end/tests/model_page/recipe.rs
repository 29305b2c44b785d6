//! Tests of a form that is filled from a link.

use crate::studio::{MODEL, TIMEOUT, run_steps};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::wait_for_value;

/// Returns the prompt of the shown result.
const SHOWN: &str = "return document.querySelector('.result > .task .task-prompt')?.textContent.trim() ?? 'nothing'";

/// Returns the position of the form's message relative to Generate.
const MESSAGE: &str = "
    const why = document.querySelector('.why').getBoundingClientRect();
    const generate = document.querySelector('form[aria-label=Input] [type=submit]').getBoundingClientRect();
    if (!why.width) return 'no message';
    if (generate.bottom > innerHeight) return 'Generate is out of sight';
    return why.bottom <= generate.top && why.width > innerWidth * 0.8 ? 'a line above' : `${why.width} px next to it`";

/// Guards against showing an old failure as if it were the result of the link that was just opened.
#[tokio::test(flavor = "multi_thread")]
async fn previous_result_is_not_shown_after_opening_link_with_input() {
    let name = "previous_result_is_not_shown_after_opening_link_with_input";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.type_prompt("a lake [fail]").await?;
        browser.press(&by("button", "Generate")).await?;
        wait_for_value(browser, "the shown result", SHOWN, "a lake [fail]").await?;
        let recipe = format!("{MODEL}#inputs=%7B%22prompt%22%3A%22a%20hill%22%7D");
        browser.open("about:blank").await?;
        studio.open(&recipe).await?;
        studio.wait_for_prompt("a hill").await?;
        browser
            .wait_for_text("Results appear here.", TIMEOUT)
            .await?;
        wait_for_value(browser, "the shown result", SHOWN, "nothing").await?;
        browser.press(&by("button", "Show this one")).await?;
        wait_for_value(browser, "the selected result", SHOWN, "a lake [fail]").await?;
        // The same applies to a page that is already open, until a task is generated.
        browser
            .run(
                "location.hash = '#inputs=%7B%22prompt%22%3A%22a%20dale%22%7D'",
                vec![],
            )
            .await?;
        studio.wait_for_prompt("a dale").await?;
        wait_for_value(browser, "the shown result", SHOWN, "nothing").await?;
        browser.press(&by("button", "Generate")).await?;
        wait_for_value(browser, "the shown result", SHOWN, "a dale").await?;
        browser.open("about:blank").await?;
        studio.open(&recipe).await?;
        wait_for_value(browser, "the shown result", SHOWN, "nothing").await?;
        browser
            .press(&by("button", "Restore previous input"))
            .await?;
        wait_for_value(browser, "the shown result", SHOWN, "a dale").await
    })
    .await;
}

/// Guards against a message in a narrow column next to Generate.
#[tokio::test(flavor = "multi_thread")]
async fn missing_values_of_link_are_shown_on_own_line_on_phone() {
    run_steps("missing_values_of_link_are_shown_on_own_line_on_phone", &[], async |studio| {
        let browser = studio.browser;
        browser.set_size(375, 667).await?;
        let recipe = "/models/image/strata#inputs=%7B%22prompt%22%3A%22a%20hill%22%2C%22aspect_ratio%22%3A%225%3A4%22%7D";
        browser.open(&studio.address(recipe)).await?;
        browser.find(&starting("textbox", "prompt")).await?;
        wait_for_value(browser, "the message", MESSAGE, "a line above").await
    })
    .await;
}
