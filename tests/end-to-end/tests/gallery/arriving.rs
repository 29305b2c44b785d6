//! Outputs that are being made, and outputs that arrive while the gallery is open.

use atelier_end_to_end::Result;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::wait_for_value;

use crate::{Studio, TIMEOUT, run_steps};

/// Submits a task in the model's form.
async fn generate(studio: &Studio<'_>) -> Result<()> {
    let browser = studio.browser;
    let prompt = starting("textbox", "prompt");
    browser.fill(&prompt, "a harbour at night").await?;
    browser.press(&by("button", "Generate")).await
}

/// Guards against visible tiles that move when other outputs arrive.
#[tokio::test(flavor = "multi_thread")]
async fn visible_tiles_do_not_move_when_outputs_arrive() {
    let name = "visible_tiles_do_not_move_when_outputs_arrive";
    run_steps(name, 100, async |studio| {
        let browser = studio.browser;
        browser.run("scrollTo(0, 1500)", vec![]).await?;
        let position = "
            const tile = document.querySelector(`[data-output='made-00080/0']`);
            return tile ? Math.round(tile.getBoundingClientRect().top) : 'not there'";
        let is_there = "return !!document.querySelector(`[data-output='made-00080/0']`)";
        wait_for_value(browser, "a tile in sight", is_there, true).await?;
        let before = browser.run(position, vec![]).await?;

        let gallery = browser.tab().await?;
        let address = format!("{}/models/image/strata", studio.service.address());
        browser.open_tab(&address).await?;
        generate(studio).await?;
        browser
            .find_with_limit(&by("button", "Run again"), TIMEOUT)
            .await?;
        browser.close_tab().await?;
        browser.switch_to(&gallery).await?;
        studio.wait_for_outputs(201).await?;
        let arrived = by("button", "1 new output");
        browser.find(&arrived).await?;
        // Some browsers scroll by whole pixels only.
        let moved = format!(
            "const now = (() => {{ {position} }})(); return Math.abs(now - {before}) <= 1 || now"
        );
        wait_for_value(browser, "the position of the tile", &moved, true).await?;
        browser.press(&arrived).await?;
        let top = "return `${scrollY} ${document.querySelector('.tile').ariaPosInSet}`";
        wait_for_value(browser, "the newest output", top, "0 1").await?;
        browser.wait_until_gone(&arrived).await
    })
    .await;
}

/// Guards against a gallery that does not show outputs that are being made, or that counts them as outputs.
#[tokio::test(flavor = "multi_thread")]
async fn an_output_that_is_being_made_has_a_placeholder() {
    let name = "an_output_that_is_being_made_has_a_placeholder";
    drive(name, async |browser| {
        let service = Service::start_with_site(&["--speed", "1"]).await?;
        let studio = Studio { browser, service };
        browser.set_size(1280, 900).await?;
        studio.open("/models/image/strata").await?;
        generate(&studio).await?;
        browser.press(&by("link", "Gallery")).await?;
        let waiting = "return [...document.querySelectorAll('.tile-waiting')].map(it => it.pathname.slice(0, 7)).join()";
        wait_for_value(browser, "the placeholder", waiting, "/tasks/").await?;
        browser.wait_for_text("1 output in progress", TIMEOUT).await?;
        let tiles = "return document.querySelectorAll('.gallery li').length";
        wait_for_value(browser, "outputs", tiles, 0).await?;
        let press = "document.querySelector('.tile-waiting').click()";
        browser.run(press, vec![]).await?;
        studio.wait_for_address("/tasks/").await?;
        browser.client.back().await?;
        wait_for_value(browser, "outputs", tiles, 1).await?;
        wait_for_value(browser, "no placeholder", waiting, "").await
    })
    .await;
}
