//! What a person presses leaves the keyboard where it was, and the tab says what it shows.

use crate::studio::play;
use atelier_end_to_end::find::{by, containing};
use atelier_end_to_end::wait::becomes;

/// Guards against keys that begin at the top of the page again: what was pressed went with its task, and the focus
/// with it.
#[tokio::test(flavor = "multi_thread")]
async fn keys_stay_at_the_result_that_another_one_takes_the_place_of() {
    let name = "keys_stay_at_the_result";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.type_prompt("kept place").await?;
        browser.press(&by("button", "Generate")).await?;
        browser.find(&by("button", "Run again")).await?;
        let press = "
            const again = [...document.querySelectorAll('button')].find(it => it.innerText.trim() === 'Run again');
            again.focus();
            again.click();";
        browser.run(press, vec![]).await?;
        studio.sees_sent(2).await?;
        let place = "return document.activeElement.closest('[aria-label=Result]') ? 'the result' : document.activeElement.tagName";
        becomes(browser, "where the keys are", place, "the result").await
    })
    .await;
}

/// Guards against tabs, and visited pages, that can't be told from each other.
#[tokio::test(flavor = "multi_thread")]
async fn a_tab_is_named_after_what_it_shows() {
    let name = "a_tab_is_named";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let title = "return document.title";
        becomes(browser, "the title", title, "Tessera · Atelier").await?;
        studio.type_prompt("a lake named Title").await?;
        browser.press(&by("button", "Generate")).await?;
        browser.find(&by("button", "Run again")).await?;
        browser.press(&by("link", "Tasks")).await?;
        becomes(browser, "the title", title, "Tasks · Atelier").await?;
        browser
            .press(&containing("link", "a lake named Title"))
            .await?;
        let of_task = "a lake named Title · Tessera · Atelier";
        becomes(browser, "the title", title, of_task).await?;
        browser.press(&by("link", "Models")).await?;
        becomes(browser, "the title", title, "Atelier").await
    })
    .await;
}
