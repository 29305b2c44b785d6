//! Filters of the gallery.

use atelier_end_to_end::find::by;
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::wait_for_value;
use serde_json::{Value, json};

use crate::{STORE, Studio, TIMEOUT, run_steps};

/// Guards against filters above an empty gallery, and against hidden filters when they match no output.
#[tokio::test(flavor = "multi_thread")]
async fn filters_are_shown_once_there_are_outputs() {
    let name = "filters_are_shown_once_there_are_outputs";
    drive(name, async |browser| {
        let service = Service::start_with_site(&["--speed", "0"]).await?;
        let studio = Studio { browser, service };
        let shown = "
            const bar = document.querySelector('[aria-label=\"Search outputs\"]');
            return !bar ? 'none yet' : bar.checkVisibility() ? 'in sight' : 'hidden'";
        for address in ["/gallery", "/gallery?favorites=yes&q=jade"] {
            studio.open(address).await?;
            browser.wait_for_text("No outputs yet.", TIMEOUT).await?;
            wait_for_value(browser, "filters of an empty gallery", shown, "hidden").await?;
        }
        let stored = browser.run(STORE, vec![json!(1)]).await?;
        assert_eq!(stored, Value::Bool(true));
        studio.open("/gallery?favorites=yes").await?;
        browser.wait_for_text("No output matches.", TIMEOUT).await?;
        wait_for_value(browser, "filters that match nothing", shown, "in sight").await?;
        browser.press(&by("link", "Show all outputs")).await?;
        studio.wait_for_outputs(2).await?;
        wait_for_value(browser, "filters", shown, "in sight").await
    })
    .await;
}

/// Guards against two selected chips of the same color, which look as if they excluded each other.
#[tokio::test(flavor = "multi_thread")]
async fn the_favorites_chip_differs_from_the_kind_chips() {
    let name = "the_favorites_chip_differs_from_the_kind_chips";
    run_steps(name, 1, async |studio| {
        let browser = studio.browser;
        browser.press(&by("checkbox", "Favorites")).await?;
        browser.wait_for_text("No output matches.", TIMEOUT).await?;
        let looks = "
            const looks = [...document.querySelectorAll('.gallery-filters .chip input:checked + span')]
                .map(it => [it.innerText.trim(), getComputedStyle(it).backgroundColor]);
            // Colors change gradually.
            if (document.querySelector('.gallery-filters').getAnimations({ subtree: true }).length) return 'changing';
            const [[all, ink], [favorites, other]] = [...looks, ['', ''], ['', '']];
            return `${all} and ${favorites}: ${ink === other ? 'same color' : 'different colors'}`";
        wait_for_value(browser, "the selected chips", looks, "All and Favorites: different colors").await
    })
    .await;
}

/// Guards against a gallery that can't be filtered by day or scrolled to a day.
#[tokio::test(flavor = "multi_thread")]
async fn a_day_can_be_searched_chosen_and_scrolled_to() {
    let name = "a_day_can_be_searched_chosen_and_scrolled_to";
    run_steps(name, 40, async |studio| {
        let browser = studio.browser;
        studio.wait_for_outputs(80).await?;
        browser
            .fill(&by("searchbox", "Search outputs"), "15 November 2023")
            .await?;
        studio.wait_for_outputs(20).await?;
        studio.open("/gallery").await?;
        studio.wait_for_outputs(80).await?;

        browser.press(&by("button", "Any date")).await?;
        let choose = "
            const [label, day] = arguments;
            const field = [...document.querySelectorAll('.filter-date')]
                .find(it => it.innerText.trim() === label).querySelector('input');
            field.value = day;
            field.dispatchEvent(new Event('change', { bubbles: true }));";
        let day = json!("2023-11-15");
        browser
            .run(choose, vec![json!("Jump to"), day.clone()])
            .await?;
        let seen = "
            const tile = document.querySelector('[data-output=\"made-00010/0\"]');
            const { top, bottom } = tile?.getBoundingClientRect() ?? { top: -1, bottom: -1 };
            return top >= 0 && bottom <= innerHeight && scrollY > 0 ? 'in sight' : 'elsewhere'";
        wait_for_value(browser, "the first output of the day", seen, "in sight").await?;
        studio.wait_for_outputs(80).await?;
        browser.run(choose, vec![json!("To"), day.clone()]).await?;
        studio.wait_for_outputs(22).await?;
        browser
            .run(choose, vec![json!("From"), json!("2023-11-16")])
            .await?;
        browser.wait_for_text("From is after To", TIMEOUT).await?;
        browser.run(choose, vec![json!("From"), day]).await?;
        studio.wait_for_outputs(20).await
    })
    .await;
}
