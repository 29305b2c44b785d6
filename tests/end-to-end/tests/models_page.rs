//! Tests of the model list: its cards, their order, and keyboard navigation.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, until, wait_for_value};
use serde_json::Value;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the name of each card and the path of its picture, if it is loaded.
const PICTURES: &str = "
    return [...document.querySelectorAll('.model-card')].map(card => {
        const picture = card.querySelector('img');
        const isLoaded = picture?.complete && picture.naturalWidth > 0;
        return `${card.querySelector('h3').innerText}: ${isLoaded ? new URL(picture.src).pathname : ''}`;
    })";

const FOCUSED: &str = "return document.activeElement.ariaLabel ?? document.activeElement.innerText";

/// Returns the layout shifts since the page load.
const SHIFTS: &str = "
    return new Promise(done => {
        new PerformanceObserver(list => done(list.getEntries().map(({ value, sources }) => ({
            value, of: sources.map(({ node }) => node?.className ?? node?.parentElement?.className),
        })))).observe({ type: 'layout-shift', buffered: true });
        setTimeout(() => done([]), 1000);
    })";

async fn texts(browser: &Browser, script: &str) -> Result<Vec<String>> {
    let texts = browser.run(script, vec![]).await?;
    let texts = texts.as_array().cloned().unwrap_or_default();
    Ok(texts
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect())
}

async fn wait_for_pictures(
    browser: &Browser,
    what: &str,
    is_expected: impl Fn(&[String]) -> bool,
) -> Result<()> {
    until(what, TIMEOUT, async || {
        let pictures = texts(browser, PICTURES).await?;
        Ok(match is_expected(&pictures) {
            true => Seen::Yes(()),
            false => Seen::NotYet(format!("cards: {pictures:?}")),
        })
    })
    .await
}

/// Guards against cards that all look the same, against layout shifts while pictures load, and against a card that
/// shows another user's output.
#[tokio::test(flavor = "multi_thread")]
async fn model_cards_show_posters_then_own_outputs() {
    drive(
        "model_cards_show_posters_then_own_outputs",
        async |browser| {
            let service = Service::start_with_site(&["--speed", "0"]).await?;
            let address = service.address();
            browser.set_size(1280, 2400).await?;
            browser.open(&address).await?;
            wait_for_pictures(browser, "a poster on each card", |pictures| {
                pictures.len() > 3 && pictures.iter().all(|picture| picture.contains("/posters/"))
            })
            .await?;
            let shifts = browser.run(SHIFTS, vec![]).await?;
            assert_eq!(shifts, Value::Array(Vec::new()));

            browser
                .open(&format!("{address}/models/image/strata"))
                .await?;
            let prompt = starting("textbox", "prompt");
            browser.fill(&prompt, "alpine lake").await?;
            browser.press(&by("button", "Generate")).await?;
            browser.wait_for_text("Completed", TIMEOUT).await?;
            browser.press(&by("link", "Models")).await?;
            wait_for_pictures(browser, "the generated picture", |pictures| {
                let strata = pictures
                    .iter()
                    .find(|picture| picture.starts_with("Strata: "));
                strata.is_some_and(|strata| {
                    strata.contains("/outputs/") && !strata.contains("/posters/")
                })
            })
            .await?;
            // On the next visit, the model used last comes first.
            browser.open(&address).await?;
            wait_for_pictures(browser, "Strata as the first card", |pictures| {
                pictures
                    .first()
                    .is_some_and(|first| first.starts_with("Strata"))
            })
            .await
        },
    )
    .await;
}

/// Guards against a first visit that shows only a list and suggests no first step.
#[tokio::test(flavor = "multi_thread")]
async fn welcome_button_generates_first_picture() {
    drive("welcome_button_generates_first_picture", async |browser| {
        let service = Service::start_with_site(&["--speed", "0"]).await?;
        let address = service.address();
        browser.open(&address).await?;
        let welcome = by("region", "Welcome");
        browser.find(&welcome).await?;
        browser.find(&by("link", "Connect it in Settings")).await?;
        // The button is disabled until the app has started.
        let generate = by("button", "Make a first picture");
        until("an enabled button", TIMEOUT, async || {
            let disabled = browser.find(&generate).await?.prop("disabled").await;
            Ok(match disabled {
                Ok(Some(disabled)) if disabled == "true" => Seen::NotYet(disabled),
                Ok(_) => Seen::Yes(()),
                // The app has replaced the static button.
                Err(error) => Seen::NotYet(error.to_string()),
            })
        })
        .await?;
        browser.press(&generate).await?;
        browser.wait_for_text("Completed", TIMEOUT).await?;
        browser.find(&starting("img", "Image: ")).await?;
        // The prompt is in the form, so that the user can edit it.
        let script = "return document.querySelector('textarea').value";
        let prompt = browser.run(script, vec![]).await?;
        assert_eq!(prompt, "An alpine lake at dawn, teal and rose");
        browser.open(&address).await?;
        browser.find(&by("button", "Favorite: Strata")).await?;
        let welcomes = browser.find_all(&welcome).await?;
        assert!(
            welcomes.is_empty(),
            "the welcome is shown although an output exists"
        );
        Ok(())
    })
    .await;
}

/// Guards against favorites that only one tab shows, or that are lost on reload.
#[tokio::test(flavor = "multi_thread")]
async fn favorite_model_comes_first_in_all_tabs() {
    drive("favorite_model_comes_first_in_all_tabs", async |browser| {
        let service = Service::start_with_site(&[]).await?;
        let address = service.address();
        browser.open(&address).await?;
        let heart = by("button", "Favorite: Tessera");
        browser.find(&heart).await?;
        let first = browser.client.window().await?;
        let second = browser.open_tab(&address).await?;
        browser.press(&heart).await?;
        browser.switch_to(&first).await?;
        until("the favorite in the other tab", TIMEOUT, async || {
            let pressed = browser.find(&heart).await?.attr("aria-pressed").await?;
            Ok(match pressed.as_deref() {
                Some("true") => Seen::Yes(()),
                other => Seen::NotYet(format!("aria-pressed is {other:?}")),
            })
        })
        .await?;
        browser.switch_to(&second).await?;
        browser.open(&address).await?;
        browser.find(&heart).await?;
        let cards = texts(browser, PICTURES).await?;
        assert!(cards[0].starts_with("Tessera"), "{cards:?}");
        Ok(())
    })
    .await;
}

/// Guards against categories next to each other, cards that leave half of a wide page empty, and text at 2560 px that
/// is as small as at 1440 px.
#[tokio::test(flavor = "multi_thread")]
async fn each_category_starts_new_row_and_largest_fills_page_width() {
    drive("each_category_starts_new_row_and_largest_fills_page_width", async |browser| {
        let service = Service::start_with_site(&[]).await?;
        let place = "
            const lists = [...document.querySelectorAll('.group-cards')].map(it => it.getBoundingClientRect());
            const cards = [...document.querySelectorAll('.model-card')].map(it => it.getBoundingClientRect());
            const { left, right } = document.querySelector('.grouped-grid').getBoundingClientRect();
            const areRows = lists.every((it, at) => Math.abs(it.left - left) < 1 && (!at || it.top >= lists[at - 1].bottom));
            const isFull = Math.abs(Math.max(...cards.map(it => it.right)) - right) < 2;
            return `${areRows ? 'rows' : 'columns'}, ${isFull ? 'full' : 'half empty'}`";
        let rem = "return parseFloat(getComputedStyle(document.documentElement).fontSize)";
        let mut sizes = Vec::new();
        for width in [768, 1440, 2560] {
            browser.set_size(width, 900).await?;
            browser.open(&service.address()).await?;
            browser.find(&by("button", "Favorite: Strata")).await?;
            wait_for_value(browser, &format!("the layout at {width}"), place, "rows, full").await?;
            sizes.push(browser.run(rem, vec![]).await?.as_f64().unwrap_or_default());
        }
        // Excludes the width of a scroll bar.
        assert!(sizes[0] == sizes[1] && sizes[2] > 1.2 * sizes[1], "{sizes:?}");
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keyboard_moves_to_search_and_between_cards() {
    drive(
        "keyboard_moves_to_search_and_between_cards",
        async |browser| {
            let service = Service::start_with_site(&[]).await?;
            browser.set_size(1280, 2400).await?;
            browser.open(&service.address()).await?;
            browser.find(&by("button", "Favorite: Strata")).await?;
            let cards = texts(
                browser,
                "return [...document.querySelectorAll('h3')].map(card => card.innerText)",
            )
            .await?;
            let keys = async |keys: &str, expected: &str| {
                browser
                    .client
                    .active_element()
                    .await?
                    .send_keys(keys)
                    .await?;
                let focused = browser.run(FOCUSED, vec![]).await?;
                assert_eq!(focused.as_str(), Some(expected), "after {keys:?}");
                Result::Ok(())
            };
            let (left, up, right, down) = ("\u{e012}", "\u{e013}", "\u{e014}", "\u{e015}");
            keys("/", "Search models").await?;
            keys(down, &cards[0]).await?;
            keys(right, &cards[1]).await?;
            keys(left, &cards[0]).await?;
            // Down moves to the next category, and Up back.
            let first_of_next = texts(
                browser,
                "const [first, next] = document.querySelectorAll('.group-cards');
             return [next.querySelector('h3').innerText]",
            )
            .await?;
            keys(down, &first_of_next[0]).await?;
            keys(up, &cards[0]).await?;
            // In the search field, the key types a slash.
            keys("/", "Search models").await?;
            keys("/", "Search models").await?;
            let typed = browser.find(&by("searchbox", "Search models")).await?;
            assert_eq!(typed.prop("value").await?.as_deref(), Some("/"));
            Ok(())
        },
    )
    .await;
}
