//! Tests of pages for missing items, and of error pages.

use atelier_end_to_end::find::{by, containing};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::wait_for_value;

use crate::studio::TIMEOUT;

/// Guards against error pages without a title, and against an unknown model with a full-size form, modes and
/// downloads.
#[tokio::test(flavor = "multi_thread")]
async fn missing_pages_have_title_and_short_content() {
    drive("missing_pages_have_title_and_short_content", async |browser| {
        let service = Service::start_with_site(&["--speed", "0"]).await?;
        browser.set_size(1440, 900).await?;
        let titles = "
            const titles = [...document.querySelectorAll('h1')].filter(it => it.getBoundingClientRect().height > 20);
            return titles.map(it => it.innerText).join()";
        for (path, title) in [
            ("/tasks/nothing", "Task not found"),
            ("/batches/nothing", "Batch not found"),
        ] {
            let address = format!("{}{path}", service.address());
            browser.open(&address).await?;
            browser.wait_for_text("at this address in this browser.", TIMEOUT).await?;
            wait_for_value(browser, "the title", titles, title).await?;
        }
        let offered = "
            const inSight = [...document.querySelectorAll('main :is(a, button, input)')].filter(it => it.checkVisibility());
            return inSight.map(it => it.innerText.trim()).join()";
        let size = "
            const { top, bottom } = document.querySelector('main .page').getBoundingClientRect();
            return bottom - top < innerHeight * 0.7 && !document.querySelector('.result') ? 'small' : 'full page'";
        for mode in ["", "?mode=batch", "?mode=integrations"] {
            let address = format!("{}/models/image/nothing{mode}", service.address());
            browser.open(&address).await?;
            browser.wait_for_text("The service has no model image/nothing.", TIMEOUT).await?;
            wait_for_value(browser, "the offered actions", offered, "All models,image,Show all models").await?;
            wait_for_value(browser, "the height of the page", size, "small").await?;
        }
        browser.press(&by("link", "Show all models")).await?;
        browser.find(&by("heading", "Models")).await?;
        Ok(())
    })
    .await;
}

/// Guards against a Retry button far from the error message.
#[tokio::test(flavor = "multi_thread")]
async fn retry_is_placed_below_error() {
    drive("retry_is_placed_below_error", async |browser| {
        let service = Service::start_with_site(&["--speed", "0"]).await?;
        browser.set_size(1440, 900).await?;
        let address = service.address();
        browser.open(&format!("{address}/models/image/strata")).await?;
        let prompt = atelier_end_to_end::find::starting("textbox", "prompt");
        browser.fill(&prompt, "a storm [fail]").await?;
        browser.press(&by("button", "Generate")).await?;
        browser.find_with_limit(&by("button", "Retry"), TIMEOUT).await?;
        browser.press(&by("link", "Tasks")).await?;
        browser.press(&containing("link", "a storm")).await?;
        let distance = "
            const [why, retry] = ['.explained', '.task-actions > button:not([hidden])']
                .map(it => document.querySelector(`.task-page ${it}`)?.getBoundingClientRect());
            if (!why || !retry) return 'not there yet';
            const [below, offset] = [retry.top - why.bottom, retry.left - why.left].map(Math.round);
            return below >= 0 && below < 40 && Math.abs(offset) < 24 ? 'below it' : `${below} px below, ${offset} px to the right`";
        for width in [1440, 768, 360] {
            browser.set_size(width, 900).await?;
            wait_for_value(browser, "Retry", distance, "below it").await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against "No account needed." for a service address that is typed but was never reached.
#[tokio::test(flavor = "multi_thread")]
async fn no_account_needed_is_shown_only_for_reached_service() {
    drive(
        "no_account_needed_is_shown_only_for_reached_service",
        async |browser| {
            let service = Service::start_with_site(&["--speed", "0"]).await?;
            browser
                .open(&format!("{}/settings", service.address()))
                .await?;
            browser.wait_for_text("No account needed.", TIMEOUT).await?;
            let address = by("textbox", "Service address");
            browser.fill(&address, "https://elsewhere.example").await?;
            let shows_it =
                "return document.querySelector('main').innerText.includes('No account needed.')";
            wait_for_value(browser, "whether the text is shown", shows_it, false).await
        },
    )
    .await;
}
