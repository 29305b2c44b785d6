//! What is on its way to the gallery, and what comes while a person is there.

use atelier_end_to_end::Result;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::becomes;

use crate::{Studio, TIMEOUT, visit};

async fn generate(studio: &Studio<'_>) -> Result<()> {
    let browser = studio.browser;
    let prompt = starting("textbox", "prompt");
    browser.fill(&prompt, "a harbour at night").await?;
    browser.press(&by("button", "Generate")).await
}

/// Guards against tiles that move away under the eyes of a person as others come.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_sight_stays_while_outputs_come() {
    visit("what_is_in_sight_stays", 100, async |studio| {
        let browser = studio.browser;
        browser.run("scrollTo(0, 1500)", vec![]).await?;
        let place = "
            const tile = document.querySelector(`[data-output='made-00080/0']`);
            return tile ? Math.round(tile.getBoundingClientRect().top) : 'not there'";
        let is_there = "return !!document.querySelector(`[data-output='made-00080/0']`)";
        becomes(browser, "a tile in sight", is_there, true).await?;
        let before = browser.run(place, vec![]).await?;

        let gallery = browser.tab().await?;
        let address = format!("{}/models/image/strata", studio.service.address());
        browser.open_tab(&address).await?;
        generate(studio).await?;
        browser
            .find_for(&by("button", "Run again"), TIMEOUT)
            .await?;
        browser.close_tab().await?;
        browser.switch_to(&gallery).await?;
        studio.sees_outputs(201).await?;
        let arrived = by("button", "1 new output");
        browser.find(&arrived).await?;
        // Some browsers scroll by whole pixels alone.
        let moved = format!(
            "const now = (() => {{ {place} }})(); return Math.abs(now - {before}) <= 1 || now"
        );
        becomes(browser, "the place of the tile", &moved, true).await?;
        browser.press(&arrived).await?;
        let top = "return `${scrollY} ${document.querySelector('.tile').ariaPosInSet}`";
        becomes(browser, "the newest", top, "0 1").await?;
        browser.find_gone(&arrived).await
    })
    .await;
}

/// Guards against a gallery that shows nothing of what is being made, or counts it as an output.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_on_its_way_has_its_place() {
    drive("what_is_on_its_way", async |browser| {
        let service = Service::with_site(&["--speed", "1"]).await?;
        let studio = Studio { browser, service };
        browser.set_size(1280, 900).await?;
        studio.open("/models/image/strata").await?;
        generate(&studio).await?;
        browser.press(&by("link", "Gallery")).await?;
        let waiting = "return [...document.querySelectorAll('.tile-waiting')].map(it => it.pathname.slice(0, 7)).join()";
        becomes(browser, "what is on its way", waiting, "/tasks/").await?;
        browser.see_text("1 output on the way", TIMEOUT).await?;
        let tiles = "return document.querySelectorAll('.gallery li').length";
        becomes(browser, "outputs", tiles, 0).await?;
        let press = "document.querySelector('.tile-waiting').click()";
        browser.run(press, vec![]).await?;
        studio.is_at("/tasks/").await?;
        browser.client.back().await?;
        becomes(browser, "outputs", tiles, 1).await?;
        becomes(browser, "what is on its way", waiting, "").await
    })
    .await;
}
