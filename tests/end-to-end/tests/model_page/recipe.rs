//! A form that a link has filled.

use crate::studio::{MODEL, TIMEOUT, play};
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::becomes;

/// What is shown large, by its prompt.
const SHOWN: &str = "return document.querySelector('.result > .task .task-prompt')?.textContent.trim() ?? 'nothing'";

/// How wide what is said of the form is, in parts of the window, and where.
const SAID: &str = "
    const why = document.querySelector('.why').getBoundingClientRect();
    const generate = document.querySelector('form[aria-label=Input] [type=submit]').getBoundingClientRect();
    if (!why.width) return 'nothing is said';
    if (generate.bottom > innerHeight) return 'Generate is out of sight';
    return why.bottom <= generate.top && why.width > innerWidth * 0.8 ? 'a line above' : `${why.width} beside it`";

/// Guards against an old failure that seems to be what came of a recipe that was opened just now.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_made_before_does_not_stand_beside_a_recipe_as_if_it_were_of_it() {
    let name = "what_was_made_before_a_recipe";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.type_prompt("a lake [fail]").await?;
        browser.press(&by("button", "Generate")).await?;
        becomes(browser, "what is shown", SHOWN, "a lake [fail]").await?;
        let recipe = format!("{MODEL}#inputs=%7B%22prompt%22%3A%22a%20hill%22%7D");
        browser.open("about:blank").await?;
        studio.open(&recipe).await?;
        studio.sees_prompt("a hill").await?;
        browser.see_text("Results appear here.", TIMEOUT).await?;
        becomes(browser, "what is shown", SHOWN, "nothing").await?;
        browser.press(&by("button", "Show this one")).await?;
        becomes(browser, "what was chosen", SHOWN, "a lake [fail]").await?;
        // The same on a page that is open already, and until something is made of it.
        browser
            .run(
                "location.hash = '#inputs=%7B%22prompt%22%3A%22a%20dale%22%7D'",
                vec![],
            )
            .await?;
        studio.sees_prompt("a dale").await?;
        becomes(browser, "what is shown", SHOWN, "nothing").await?;
        browser.press(&by("button", "Generate")).await?;
        becomes(browser, "what is shown", SHOWN, "a dale").await?;
        browser.open("about:blank").await?;
        studio.open(&recipe).await?;
        becomes(browser, "what is shown", SHOWN, "nothing").await?;
        browser
            .press(&by("button", "Restore previous input"))
            .await?;
        becomes(browser, "what is shown", SHOWN, "a dale").await
    })
    .await;
}

/// Guards against a sentence in a column of three words next to Generate.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_recipe_lacks_has_a_line_of_its_own_on_a_phone() {
    play("what_a_recipe_lacks", &[], async |studio| {
        let browser = studio.browser;
        browser.set_size(375, 667).await?;
        let recipe = "/models/image/strata#inputs=%7B%22prompt%22%3A%22a%20hill%22%2C%22aspect_ratio%22%3A%225%3A4%22%7D";
        browser.open(&studio.address(recipe)).await?;
        browser.find(&starting("textbox", "prompt")).await?;
        becomes(browser, "what is said", SAID, "a line above").await
    })
    .await;
}
