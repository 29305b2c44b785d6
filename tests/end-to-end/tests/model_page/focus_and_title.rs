//! Tests of the focus after a press, and of document titles.

use crate::studio::run_steps;
use atelier_end_to_end::find::{by, containing};
use atelier_end_to_end::wait::wait_for_value;

/// Guards against losing focus: the pressed button is removed with its task.
#[tokio::test(flavor = "multi_thread")]
async fn focus_stays_in_result_when_run_again_replaces_it() {
    let name = "focus_stays_in_result_when_run_again_replaces_it";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.type_prompt("kept place").await?;
        browser.press(&by("button", "Generate")).await?;
        browser.find(&by("button", "Run again")).await?;
        let press = "
            const again = [...document.querySelectorAll('button')].find(it => it.innerText.trim() === 'Run again');
            again.focus();
            again.click();";
        browser.run(press, vec![]).await?;
        studio.wait_for_sent(2).await?;
        let place = "return document.activeElement.closest('[aria-label=Result]') ? 'the result' : document.activeElement.tagName";
        wait_for_value(browser, "the focus", place, "the result").await
    })
    .await;
}

/// Guards against tabs and history entries with the same title.
#[tokio::test(flavor = "multi_thread")]
async fn document_title_names_shown_page() {
    let name = "document_title_names_shown_page";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let title = "return document.title";
        wait_for_value(browser, "the title", title, "Tessera · Atelier").await?;
        studio.type_prompt("a lake named Title").await?;
        browser.press(&by("button", "Generate")).await?;
        browser.find(&by("button", "Run again")).await?;
        browser.press(&by("link", "Tasks")).await?;
        wait_for_value(browser, "the title", title, "Tasks · Atelier").await?;
        browser
            .press(&containing("link", "a lake named Title"))
            .await?;
        let of_task = "a lake named Title · Tessera · Atelier";
        wait_for_value(browser, "the title", title, of_task).await?;
        browser.press(&by("link", "Models")).await?;
        wait_for_value(browser, "the title", title, "Atelier").await
    })
    .await;
}
