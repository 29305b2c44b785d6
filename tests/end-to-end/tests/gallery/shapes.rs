//! The aspect ratio of a tile.

use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, until};

use crate::{Studio, TIMEOUT};

/// Guards against images that are cut to squares because their inputs use the default aspect ratio.
#[tokio::test(flavor = "multi_thread")]
async fn a_tile_has_the_aspect_ratio_of_its_image_without_one_in_the_inputs() {
    let name = "a_tile_has_the_aspect_ratio_of_its_image_without_one_in_the_inputs";
    drive(name, async |browser| {
        let service = Service::start_with_site(&["--speed", "0"]).await?;
        let studio = Studio { browser, service };
        studio.open("/models/image/strata").await?;
        let prompt = starting("textbox", "prompt");
        browser.fill(&prompt, "harbour at dusk").await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .find_with_limit(&by("button", "Run again"), TIMEOUT)
            .await?;
        browser.press(&by("link", "Gallery")).await?;
        for visit in ["first visit", "from cached data"] {
            studio.wait_for_outputs(1).await?;
            let script = "
                const { width, height } = document.querySelector('[data-output]').getBoundingClientRect();
                return width / height";
            until(format!("a tile of 3 by 2, {visit}"), TIMEOUT, async || {
                let ratio = browser.run(script, vec![]).await?;
                Ok(match ratio.as_f64() {
                    Some(ratio) if (ratio - 1.5).abs() < 0.02 => Seen::Yes(()),
                    _ => Seen::NotYet(format!("the ratio is {ratio}")),
                })
            })
            .await?;
            browser.reload().await?;
        }
        Ok(())
    })
    .await;
}
