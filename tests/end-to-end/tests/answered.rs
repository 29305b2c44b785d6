//! Every button that sends answers its press where the person looks, and a second press that comes at once as well.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::{Query, by, starting};
use atelier_end_to_end::story::drive;
use atelier_end_to_end::studio::{MODEL, Studio, TIMEOUT};
use atelier_end_to_end::wait::{Seen, becomes, until};
use fantoccini::elements::Element;
use serde_json::Value;

const ENTER: &str = "\u{e007}";
const ESCAPE: &str = "\u{e00c}";
const RIGHT: &str = "\u{e014}";

/// What varies a task, and what a second press of it says.
const VARY: &str = "Sent 4 once. Press again for 4 more.";
const RUN_AGAIN: &str = "Sent once. Press again for another one.";

/// Two presses one right after the other, however busy the machine is.
async fn press_twice(browser: &Browser, button: &Query) -> Result<()> {
    let button = browser.find(button).await?;
    let script = "arguments[0].click(); arguments[0].click()";
    let argument = browser.argument(&button);
    browser.run(script, vec![argument]).await.map(drop)
}

/// The same with the keys that stand for Generate.
async fn press_keys_twice(browser: &Browser) -> Result<()> {
    let script = "
        const field = document.querySelector('form[aria-label=Input] textarea');
        const press = () => field.dispatchEvent(new KeyboardEvent('keydown',
            { key: 'Enter', ctrlKey: true, bubbles: true, cancelable: true }));
        press();
        press();";
    browser.run(script, vec![]).await.map(drop)
}

async fn opens(studio: &Studio<'_>, path: &str) -> Result<()> {
    studio.open(path).await?;
    studio.browser.is_at_work().await
}

/// The first of what answers a query, of which there may be several.
async fn first(browser: &Browser, query: &Query) -> Result<Element> {
    until(query, TIMEOUT, async || {
        let mut found = browser.find_all(query).await?;
        Ok(match found.is_empty() {
            true => Seen::NotYet("there is none".into()),
            false => Seen::Yes(found.remove(0)),
        })
    })
    .await
}

/// The tile of the newest output of this name.
async fn first_output(browser: &Browser, name: &str) -> Result<Element> {
    let list = browser.find(&by("list", "Outputs")).await?;
    let tile = starting("button", &format!("Image: {name}"));
    first(browser, &tile.within(&list)).await
}

/// Waits until so many inputs have been sent, and no more.
async fn has_sent(studio: &Studio<'_>, count: usize) -> Result<()> {
    let sent = || studio.prompts_sent().len();
    studio.sees("what was sent", |_| sent() >= count).await?;
    assert_eq!(sent(), count, "paid twice");
    Ok(())
}

/// Guards against presses that are paid for twice, because the first was not answered where it could be seen.
#[tokio::test(flavor = "multi_thread")]
async fn every_press_that_sends_is_answered() {
    drive("every_press_that_sends", async |browser| {
        let studio = Studio::start(browser, &["--speed", "0"]).await?;
        browser.set_size(1280, 900).await?;
        let sees = async |words: &str| browser.sees_notice(words, TIMEOUT).await;
        let prompt = starting("textbox", "prompt");
        let mut sent = 0;
        let mut more = async |count: usize| {
            sent += count;
            has_sent(&studio, sent).await
        };

        // The form, and what it has made.
        opens(&studio, MODEL).await?;
        browser.paste(&prompt, "kelp").await?;
        press_twice(browser, &by("button", "Generate")).await?;
        sees("Sent").await?;
        sees("Completed").await?;
        more(1).await?;
        browser.paste(&prompt, "kelp forest").await?;
        press_keys_twice(browser).await?;
        sees("Sent").await?;
        sees("Completed").await?;
        more(1).await?;
        let result = browser.find(&by("region", "Result")).await?;
        press_twice(browser, &by("button", "Run again").within(&result)).await?;
        more(1).await?;
        sees("Completed").await?;
        press_twice(browser, &by("button", "Vary").within(&result)).await?;
        sees("4 completed").await?;
        more(4).await?;
        browser.paste(&prompt, "kelp [fail]").await?;
        browser.press(&by("button", "Generate")).await?;
        press_twice(browser, &by("button", "Retry").within(&result)).await?;
        browser.see_text("Second attempt.", TIMEOUT).await?;
        sees("Failed").await?;
        more(2).await?;

        // A batch, what of it has failed, and one of its outputs.
        opens(&studio, &format!("{MODEL}?mode=batch")).await?;
        let prompts = by("textbox", "Prompts");
        browser
            .paste(&prompts, "reef\nreef [fail]\nreef at dusk")
            .await?;
        browser.find(&by("button", "Generate 3")).await?;
        press_keys_twice(browser).await?;
        sees("All rows are in a batch.").await?;
        more(3).await?;
        press_twice(browser, &by("button", "Retry 1 failed")).await?;
        sees("Sent again: 1 item.").await?;
        more(1).await?;
        browser.see_text("2 completed, 1 failed", TIMEOUT).await?;
        browser.press(&starting("button", "Item 3: ")).await?;
        let large = browser.find(&by("dialog", "Output")).await?;
        press_twice(browser, &by("button", "Vary").within(&large)).await?;
        sees(VARY).await?;
        more(4).await?;
        browser.press(&by("button", "Close").within(&large)).await?;
        browser.press(&by("button", "Explore")).await?;
        let sweep = browser.find(&by("dialog", "Sweep")).await?;
        press_twice(browser, &by("button", "Vary").within(&sweep)).await?;
        sees(VARY).await?;
        more(4).await?;

        // The list of tasks, where a row may be out of sight after the press.
        opens(&studio, "/tasks").await?;
        press_twice(browser, &by("button", "Retry: kelp [fail]")).await?;
        sees("Sent again: 1 item.").await?;
        more(1).await?;
        opens(&studio, "/tasks").await?;
        press_twice(browser, &starting("button", "Retry 1 failed: ")).await?;
        sees("Sent again: 1 item.").await?;
        more(1).await?;

        // A task's own page.
        opens(&studio, "/tasks?q=forest").await?;
        first(browser, &by("link", "kelp forest"))
            .await?
            .click()
            .await?;
        press_twice(browser, &by("button", "Vary")).await?;
        sees(VARY).await?;
        more(4).await?;
        press_twice(browser, &by("button", "Run again")).await?;
        sees(RUN_AGAIN).await?;
        more(1).await?;
        opens(&studio, "/tasks?state=failed&q=kelp").await?;
        browser.press(&by("link", "kelp [fail]")).await?;
        press_twice(browser, &by("button", "Retry")).await?;
        sees("Sent again, in the place of this one.").await?;
        more(1).await?;

        // A selection of the gallery.
        opens(&studio, "/gallery?q=forest").await?;
        first_output(browser, "kelp forest")
            .await?
            .send_keys("x")
            .await?;
        let selection = browser.find(&by("region", "Selection")).await?;
        press_twice(browser, &by("button", "Vary").within(&selection)).await?;
        sees("Sent 4, each with another seed.").await?;
        more(4).await
    })
    .await;
}

/// Guards against a large view that says nothing to a press of Vary: on phones the answer stood below the edge of the
/// screen, and it was reported of a gallery that was narrowed while it was open.
#[tokio::test(flavor = "multi_thread")]
async fn the_large_view_answers_at_every_size_and_however_the_gallery_was_narrowed() {
    drive("the_large_view_answers", async |browser| {
        let studio = Studio::start(browser, &["--speed", "0"]).await?;
        browser.set_size(1280, 900).await?;
        opens(&studio, MODEL).await?;
        let prompt = "a quiet harbour at dawn with boats and gulls ".repeat(20);
        browser
            .paste(&starting("textbox", "prompt"), &prompt)
            .await?;
        browser.press(&by("button", "Generate")).await?;
        browser.sees_notice("Completed", TIMEOUT).await?;
        let open_first = async || -> Result<()> {
            let tile = first_output(browser, "a quiet harbour").await?;
            Ok(tile.send_keys(ENTER).await?)
        };
        opens(&studio, "/gallery").await?;
        let tile = first_output(browser, "a quiet harbour").await?;
        tile.send_keys("f").await?;
        for (width, height) in [(1280, 900), (768, 900), (360, 740)] {
            for how in ["Favorites", "harbour", "Images"] {
                opens(&studio, "/gallery").await?;
                browser.find(&by("list", "Outputs")).await?;
                browser.set_size(1280, 900).await?;
                match how {
                    "Images" => browser.press(&by("radio", how)).await?,
                    "Favorites" => browser.press(&by("checkbox", how)).await?,
                    _ => {
                        browser
                            .fill(&by("searchbox", "Search outputs"), how)
                            .await?
                    }
                }
                browser.set_size(width, height).await?;
                browser.settled().await?;
                open_first().await?;
                let large = browser.find(&by("dialog", "Output")).await?;
                press_twice(browser, &by("button", "Vary").within(&large)).await?;
                // Next to the picture a prompt of any length leaves what is done with it in sight.
                let bottom = "
                    const { bottom } = document.querySelector('.lightbox-actions').getBoundingClientRect();
                    return bottom <= innerHeight || innerWidth < 900";
                let fits = browser.run(bottom, vec![]).await?;
                assert_eq!(fits, Value::Bool(true), "{width} px");
                let seen = browser.sees_notice(VARY, TIMEOUT).await;
                seen.map_err(|error| format!("{width} px, narrowed by {how}: {error}"))?;
            }
        }
        // The next output begins with its picture, and so does one that is opened once more.
        let top = "
            const { top, bottom } = document.querySelector('.stage img').getBoundingClientRect();
            return top >= 0 && top < innerHeight / 2 && bottom > top ? 'in sight' : `at ${top}`";
        let focused = browser.client.active_element().await?;
        focused.send_keys(RIGHT).await?;
        becomes(browser, "the next picture", top, "in sight").await?;
        browser
            .client
            .active_element()
            .await?
            .send_keys(ESCAPE)
            .await?;
        browser.find_gone(&by("dialog", "Output")).await?;
        open_first().await?;
        becomes(browser, "the picture once more", top, "in sight").await
    })
    .await;
}

/// Guards against a press of Resubmit that is not answered.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_sent_again_unconfirmed_is_answered() {
    drive("what_is_sent_again_unconfirmed", async |browser| {
        let studio = Studio::start(browser, &["--speed", "0"]).await?;
        // With a key the lost answer would settle itself.
        studio.proxy.hide_keys();
        browser.set_size(1280, 900).await?;
        opens(&studio, MODEL).await?;
        let lost = Rule::next(1, "/v2/generate", Fault::DropAfter);
        studio.proxy.add(lost);
        browser
            .paste(&starting("textbox", "prompt"), "kelp")
            .await?;
        browser.press(&by("button", "Generate")).await?;
        press_twice(browser, &by("button", "Resubmit")).await?;
        browser.sees_notice("Sent again.", TIMEOUT).await?;
        has_sent(&studio, 2).await
    })
    .await;
}
