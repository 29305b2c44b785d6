//! A finger leads through the outputs that are shown large.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::generation::generate;
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::becomes;
use serde_json::json;

/// A finger goes to the right across the film that is shown large, so many hundredths of its height above its foot.
async fn swipe(browser: &Browser, above: u32) -> Result<()> {
    let script = "
        const { left, bottom, width, height } = document.querySelector('.stage video').getBoundingClientRect();
        const at = (part) => [{ x: left + width * part, y: bottom - height * arguments[0] / 100 }];
        return [['touchStart', at(0.3)], ['touchMove', at(0.5)], ['touchMove', at(0.8)], ['touchEnd', []]]";
    let events = browser.run(script, vec![above.into()]).await?;
    for event in events.as_array().into_iter().flatten() {
        let touch = json!({ "type": event[0], "touchPoints": event[1] });
        browser.devtools("Input.dispatchTouchEvent", touch).await?;
    }
    Ok(())
}

/// Guards against a film at which a finger that leads through the gallery comes to a stop.
#[tokio::test(flavor = "multi_thread")]
async fn a_film_is_swiped_away_by_its_picture_and_not_by_its_player() {
    drive("a_film_is_swiped_away", async |browser| {
        let service = Service::with_site(&["--speed", "0"]).await?;
        let address = service.address();
        browser.set_size(900, 900).await?;
        for (model, prompt) in [
            ("video/silk", "red silk"),
            ("image/tessera", "a red window"),
        ] {
            generate(browser, &address, model, prompt).await?;
        }
        let touch = json!({ "enabled": true, "maxTouchPoints": 1 });
        browser
            .devtools("Emulation.setTouchEmulationEnabled", touch)
            .await?;
        browser.press(&by("link", "Gallery")).await?;
        browser.press(&starting("button", "Video: red silk")).await?;
        browser.find(&by("dialog", "Output")).await?;
        let shown = "
            const [film, picture] = ['video', 'img'].map(it => document.querySelector(`.stage > ${it}`));
            return film?.videoWidth ? 'film' : picture?.naturalWidth ? 'picture' : 'nothing'";
        becomes(browser, "a film", shown, "film").await?;
        swipe(browser, 4).await?;
        // It would not be there any more.
        swipe(browser, 60).await?;
        becomes(browser, "the one before it", shown, "picture").await
    })
    .await;
}
