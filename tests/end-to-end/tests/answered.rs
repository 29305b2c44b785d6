//! Tests that every button that sends shows a visible notice, and that an immediate second press does not send again.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::{Query, by, starting};
use atelier_end_to_end::story::drive;
use atelier_end_to_end::studio::{MODEL, Studio, TIMEOUT};
use atelier_end_to_end::wait::{Seen, until, wait_for_value};
use fantoccini::elements::Element;
use serde_json::Value;

const ENTER: &str = "\u{e007}";
const ESCAPE: &str = "\u{e00c}";
const RIGHT: &str = "\u{e014}";

/// The notice after a second press of Vary.
const VARY: &str = "Sent 4 once. Press again for 4 more.";
/// The notice after a second press of Run again.
const RUN_AGAIN: &str = "Sent once. Press again for another one.";

/// Presses a button twice in one script, so that a busy machine adds no delay.
async fn press_twice(browser: &Browser, button: &Query) -> Result<()> {
    let button = browser.find(button).await?;
    let script = "arguments[0].click(); arguments[0].click()";
    let argument = browser.argument(&button);
    browser.run(script, vec![argument]).await.map(drop)
}

/// Presses Ctrl+Enter twice in one script.
async fn press_keys_twice(browser: &Browser) -> Result<()> {
    let script = "
        const field = document.querySelector('form[aria-label=Input] textarea');
        const press = () => field.dispatchEvent(new KeyboardEvent('keydown',
            { key: 'Enter', ctrlKey: true, bubbles: true, cancelable: true }));
        press();
        press();";
    browser.run(script, vec![]).await.map(drop)
}

async fn open(studio: &Studio<'_>, path: &str) -> Result<()> {
    studio.open(path).await?;
    studio.browser.wait_until_started().await
}

/// Waits for elements that match the query, and returns the first.
async fn find_first(browser: &Browser, query: &Query) -> Result<Element> {
    until(query, TIMEOUT, async || {
        let mut found = browser.find_all(query).await?;
        Ok(match found.is_empty() {
            true => Seen::NotYet("no element matches".into()),
            false => Seen::Yes(found.remove(0)),
        })
    })
    .await
}

/// Returns the tile of the newest output with this name.
async fn find_first_output(browser: &Browser, name: &str) -> Result<Element> {
    let list = browser.find(&by("list", "Outputs")).await?;
    let tile = starting("button", &format!("Image: {name}"));
    find_first(browser, &tile.within(&list)).await
}

/// Waits until `count` inputs have been sent, and checks that there are no more.
async fn check_sent(studio: &Studio<'_>, count: usize) -> Result<()> {
    let sent = || studio.sent_prompts().len();
    studio.sees("sent inputs", |_| sent() >= count).await?;
    assert_eq!(sent(), count, "inputs sent twice");
    Ok(())
}

/// Guards against tasks that are sent twice because the first press showed no visible notice.
#[tokio::test(flavor = "multi_thread")]
async fn every_button_that_sends_shows_notice_and_ignores_double_click() {
    drive(
        "every_button_that_sends_shows_notice_and_ignores_double_click",
        async |browser| {
            let studio = Studio::start(browser, &["--speed", "0"]).await?;
            browser.set_size(1280, 900).await?;
            let see = async |words: &str| browser.wait_for_notice(words, TIMEOUT).await;
            let prompt = starting("textbox", "prompt");
            let mut sent = 0;
            let mut expect_more = async |count: usize| {
                sent += count;
                check_sent(&studio, sent).await
            };

            // The form and its result.
            open(&studio, MODEL).await?;
            browser.paste(&prompt, "kelp").await?;
            press_twice(browser, &by("button", "Generate")).await?;
            see("Sent").await?;
            see("Completed").await?;
            expect_more(1).await?;
            browser.paste(&prompt, "kelp forest").await?;
            press_keys_twice(browser).await?;
            see("Sent").await?;
            see("Completed").await?;
            expect_more(1).await?;
            let result = browser.find(&by("region", "Result")).await?;
            press_twice(browser, &by("button", "Run again").within(&result)).await?;
            expect_more(1).await?;
            see("Completed").await?;
            press_twice(browser, &by("button", "Vary").within(&result)).await?;
            see("4 completed").await?;
            expect_more(4).await?;
            browser.paste(&prompt, "kelp [fail]").await?;
            browser.press(&by("button", "Generate")).await?;
            press_twice(browser, &by("button", "Retry").within(&result)).await?;
            browser.wait_for_text("Second attempt.", TIMEOUT).await?;
            see("Failed").await?;
            expect_more(2).await?;

            // A batch, its failed item, and one of its outputs.
            open(&studio, &format!("{MODEL}?mode=batch")).await?;
            let prompts = by("textbox", "Prompts");
            browser
                .paste(&prompts, "reef\nreef [fail]\nreef at dusk")
                .await?;
            browser.find(&by("button", "Generate 3")).await?;
            press_keys_twice(browser).await?;
            see("All rows are in a batch.").await?;
            expect_more(3).await?;
            press_twice(browser, &by("button", "Retry 1 failed")).await?;
            see("Sent again: 1 item.").await?;
            expect_more(1).await?;
            browser
                .wait_for_text("2 completed, 1 failed", TIMEOUT)
                .await?;
            browser.press(&starting("button", "Item 3: ")).await?;
            let large = browser.find(&by("dialog", "Output")).await?;
            press_twice(browser, &by("button", "Vary").within(&large)).await?;
            see(VARY).await?;
            expect_more(4).await?;
            browser.press(&by("button", "Close").within(&large)).await?;
            browser.press(&by("button", "Explore")).await?;
            let sweep = browser.find(&by("dialog", "Sweep")).await?;
            press_twice(browser, &by("button", "Vary").within(&sweep)).await?;
            see(VARY).await?;
            expect_more(4).await?;

            // The list of tasks, where the row may move out of the viewport after the press.
            open(&studio, "/tasks").await?;
            press_twice(browser, &by("button", "Retry: kelp [fail]")).await?;
            see("Sent again: 1 item.").await?;
            expect_more(1).await?;
            open(&studio, "/tasks").await?;
            press_twice(browser, &starting("button", "Retry 1 failed: ")).await?;
            see("Sent again: 1 item.").await?;
            expect_more(1).await?;

            // The page of a task.
            open(&studio, "/tasks?q=forest").await?;
            find_first(browser, &by("link", "kelp forest"))
                .await?
                .click()
                .await?;
            press_twice(browser, &by("button", "Vary")).await?;
            see(VARY).await?;
            expect_more(4).await?;
            press_twice(browser, &by("button", "Run again")).await?;
            see(RUN_AGAIN).await?;
            expect_more(1).await?;
            open(&studio, "/tasks?state=failed&q=kelp").await?;
            browser.press(&by("link", "kelp [fail]")).await?;
            press_twice(browser, &by("button", "Retry")).await?;
            see("Sent again, replacing this one.").await?;
            expect_more(1).await?;

            // A selection in the gallery.
            open(&studio, "/gallery?q=forest").await?;
            find_first_output(browser, "kelp forest")
                .await?
                .send_keys("x")
                .await?;
            let selection = browser.find(&by("region", "Selection")).await?;
            press_twice(browser, &by("button", "Vary").within(&selection)).await?;
            see("Sent 4, each with a new seed.").await?;
            expect_more(4).await
        },
    )
    .await;
}

/// Guards against a lightbox without a visible notice after Vary: on phones it was below the viewport, and the same
/// was reported for a filtered gallery.
#[tokio::test(flavor = "multi_thread")]
async fn lightbox_shows_notice_at_every_size_and_with_every_filter() {
    drive("lightbox_shows_notice_at_every_size_and_with_every_filter", async |browser| {
        let studio = Studio::start(browser, &["--speed", "0"]).await?;
        browser.set_size(1280, 900).await?;
        open(&studio, MODEL).await?;
        let prompt = "a quiet harbour at dawn with boats and gulls ".repeat(20);
        browser
            .paste(&starting("textbox", "prompt"), &prompt)
            .await?;
        browser.press(&by("button", "Generate")).await?;
        browser.wait_for_notice("Completed", TIMEOUT).await?;
        let open_first = async || -> Result<()> {
            let tile = find_first_output(browser, "a quiet harbour").await?;
            Ok(tile.send_keys(ENTER).await?)
        };
        open(&studio, "/gallery").await?;
        let tile = find_first_output(browser, "a quiet harbour").await?;
        tile.send_keys("f").await?;
        for (width, height) in [(1280, 900), (768, 900), (360, 740)] {
            for filter in ["Favorites", "harbour", "Images"] {
                open(&studio, "/gallery").await?;
                browser.find(&by("list", "Outputs")).await?;
                browser.set_size(1280, 900).await?;
                match filter {
                    "Images" => browser.press(&by("radio", filter)).await?,
                    "Favorites" => browser.press(&by("checkbox", filter)).await?,
                    _ => {
                        browser
                            .fill(&by("searchbox", "Search outputs"), filter)
                            .await?
                    }
                }
                browser.set_size(width, height).await?;
                browser.wait_until_settled().await?;
                open_first().await?;
                let large = browser.find(&by("dialog", "Output")).await?;
                press_twice(browser, &by("button", "Vary").within(&large)).await?;
                // A long prompt does not push the actions out of the viewport.
                let bottom = "
                    const { bottom } = document.querySelector('.lightbox-actions').getBoundingClientRect();
                    return bottom <= innerHeight || innerWidth < 900";
                let fits = browser.run(bottom, vec![]).await?;
                assert_eq!(fits, Value::Bool(true), "{width} px");
                let seen = browser.wait_for_notice(VARY, TIMEOUT).await;
                seen.map_err(|error| format!("{width} px, filtered by {filter}: {error}"))?;
            }
        }
        // The next output, and an output that is opened again, are scrolled to the picture.
        let top = "
            const { top, bottom } = document.querySelector('.stage img').getBoundingClientRect();
            return top >= 0 && top < innerHeight / 2 && bottom > top ? 'in sight' : `at ${top}`";
        let focused = browser.client.active_element().await?;
        focused.send_keys(RIGHT).await?;
        wait_for_value(browser, "the next picture", top, "in sight").await?;
        browser
            .client
            .active_element()
            .await?
            .send_keys(ESCAPE)
            .await?;
        browser.wait_until_gone(&by("dialog", "Output")).await?;
        open_first().await?;
        wait_for_value(browser, "the picture after reopening", top, "in sight").await
    })
    .await;
}

/// Guards against a press of Resubmit without a notice.
#[tokio::test(flavor = "multi_thread")]
async fn resubmit_shows_notice() {
    drive("resubmit_shows_notice", async |browser| {
        let studio = Studio::start(browser, &["--speed", "0"]).await?;
        // With an idempotency key, the page would resend the call by itself.
        studio.proxy.hide_idempotency_keys();
        browser.set_size(1280, 900).await?;
        open(&studio, MODEL).await?;
        let lost = Rule::next(1, "/v2/generate", Fault::DropAfter);
        studio.proxy.add(lost);
        browser
            .paste(&starting("textbox", "prompt"), "kelp")
            .await?;
        browser.press(&by("button", "Generate")).await?;
        press_twice(browser, &by("button", "Resubmit")).await?;
        browser.wait_for_notice("Sent again.", TIMEOUT).await?;
        check_sent(&studio, 2).await
    })
    .await;
}
