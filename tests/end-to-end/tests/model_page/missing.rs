//! Addresses of what is not there, and what is said there.

use atelier_end_to_end::find::{by, containing};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::becomes;

use crate::studio::TIMEOUT;

/// Guards against pages without a title, and a model that is none and has a form as high as the window, two modes and
/// two files all the same.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_has_a_title_and_little_else() {
    drive("what_is_not_there", async |browser| {
        let service = Service::with_site(&["--speed", "0"]).await?;
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
            browser.see_text("at this address in this browser.", TIMEOUT).await?;
            becomes(browser, "the title", titles, title).await?;
        }
        let offered = "
            const inSight = [...document.querySelectorAll('main :is(a, button, input)')].filter(it => it.checkVisibility());
            return inSight.map(it => it.innerText.trim()).join()";
        let high = "
            const { top, bottom } = document.querySelector('main .page').getBoundingClientRect();
            return bottom - top < innerHeight * 0.7 && !document.querySelector('.result') ? 'little' : 'a page full'";
        for mode in ["", "?mode=batch", "?mode=integrations"] {
            let address = format!("{}/models/image/nothing{mode}", service.address());
            browser.open(&address).await?;
            browser.see_text("The service has no model image/nothing.", TIMEOUT).await?;
            becomes(browser, "what leads on", offered, "All models,image,Show all models").await?;
            becomes(browser, "how much there is", high, "little").await?;
        }
        browser.press(&by("link", "Show all models")).await?;
        browser.find(&by("heading", "Models")).await?;
        Ok(())
    })
    .await;
}

/// Guards against a way out of a failure that is looked for at the other side of the page, or below what is not needed
/// then.
#[tokio::test(flavor = "multi_thread")]
async fn retry_stands_below_what_failed() {
    drive("retry_stands_below", async |browser| {
        let service = Service::with_site(&["--speed", "0"]).await?;
        browser.set_size(1440, 900).await?;
        let address = service.address();
        browser.open(&format!("{address}/models/image/strata")).await?;
        let prompt = atelier_end_to_end::find::starting("textbox", "prompt");
        browser.fill(&prompt, "a storm [fail]").await?;
        browser.press(&by("button", "Generate")).await?;
        browser.find_for(&by("button", "Retry"), TIMEOUT).await?;
        browser.press(&by("link", "Tasks")).await?;
        browser.press(&containing("link", "a storm")).await?;
        let distance = "
            const [why, retry] = ['.explained', '.task-actions > button:not([hidden])']
                .map(it => document.querySelector(`.task-page ${it}`)?.getBoundingClientRect());
            if (!why || !retry) return 'not there yet';
            const [below, beside] = [retry.top - why.bottom, retry.left - why.left].map(Math.round);
            return below >= 0 && below < 40 && Math.abs(beside) < 24 ? 'below it' : `${below} px below, ${beside} beside`";
        for width in [1440, 768, 360] {
            browser.set_size(width, 900).await?;
            becomes(browser, "Retry", distance, "below it").await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against a promise in the name of a service that was never reached: of an address that is only typed nothing
/// is known.
#[tokio::test(flavor = "multi_thread")]
async fn that_no_account_is_needed_is_said_of_who_has_told_it() {
    drive("that_no_account_is_needed", async |browser| {
        let service = Service::with_site(&["--speed", "0"]).await?;
        browser
            .open(&format!("{}/settings", service.address()))
            .await?;
        browser.see_text("No account needed.", TIMEOUT).await?;
        let address = by("textbox", "Service address");
        browser.fill(&address, "https://elsewhere.example").await?;
        let said = "return document.querySelector('main').innerText.includes('No account needed.')";
        becomes(browser, "what is said of it", said, false).await
    })
    .await;
}
