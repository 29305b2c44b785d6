//! What narrows the gallery.

use atelier_end_to_end::find::by;
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::becomes;
use serde_json::{Value, json};

use crate::{STORE, Studio, TIMEOUT, visit};

/// Guards against a bar of filters over nothing, and against none where it is the filters that leave nothing.
#[tokio::test(flavor = "multi_thread")]
async fn there_are_filters_once_there_is_something_to_narrow() {
    drive("there_are_filters_once", async |browser| {
        let service = Service::with_site(&["--speed", "0"]).await?;
        let studio = Studio { browser, service };
        let shown = "
            const bar = document.querySelector('[aria-label=\"Search outputs\"]');
            return !bar ? 'none yet' : bar.checkVisibility() ? 'in sight' : 'hidden'";
        for address in ["/gallery", "/gallery?favorites=yes&q=jade"] {
            studio.open(address).await?;
            browser.see_text("Nothing made yet.", TIMEOUT).await?;
            becomes(browser, "filters of nothing", shown, "hidden").await?;
        }
        let stored = browser.run(STORE, vec![json!(1)]).await?;
        assert_eq!(stored, Value::Bool(true));
        studio.open("/gallery?favorites=yes").await?;
        browser.see_text("No output matches.", TIMEOUT).await?;
        becomes(browser, "filters that find nothing", shown, "in sight").await?;
        browser.press(&by("link", "Show all outputs")).await?;
        studio.sees_outputs(2).await?;
        becomes(browser, "filters", shown, "in sight").await
    })
    .await;
}

/// Guards against two black chips of which nobody can tell whether they exclude each other.
#[tokio::test(flavor = "multi_thread")]
async fn favorites_do_not_look_like_a_kind() {
    visit("favorites_do_not_look", 1, async |studio| {
        let browser = studio.browser;
        browser.press(&by("checkbox", "Favorites")).await?;
        browser.see_text("No output matches.", TIMEOUT).await?;
        let looks = "
            const looks = [...document.querySelectorAll('.gallery-filters .chip input:checked + span')]
                .map(it => [it.innerText.trim(), getComputedStyle(it).backgroundColor]);
            // Colours change gradually.
            if (document.querySelector('.gallery-filters').getAnimations({ subtree: true }).length) return 'changing';
            const [[all, ink], [favorites, other]] = [...looks, ['', ''], ['', '']];
            return `${all} and ${favorites}: ${ink === other ? 'the same' : 'told apart'}`";
        becomes(browser, "what is selected", looks, "All and Favorites: told apart").await
    })
    .await;
}
