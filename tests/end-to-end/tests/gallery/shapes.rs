//! The shape of a tile.

use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, until};

use crate::{Studio, TIMEOUT};

/// Guards against pictures that are cut to squares because their shape was left at the model's default.
#[tokio::test(flavor = "multi_thread")]
async fn a_picture_has_its_shape_where_the_inputs_do_not_say_it() {
    let name = "a_picture_has_its_shape";
    drive(name, async |browser| {
        let service = Service::with_site(&["--speed", "0"]).await?;
        let studio = Studio { browser, service };
        studio.open("/models/image/strata").await?;
        let prompt = starting("textbox", "prompt");
        browser.fill(&prompt, "harbour at dusk").await?;
        browser.press(&by("button", "Generate")).await?;
        browser
            .find_for(&by("button", "Run again"), TIMEOUT)
            .await?;
        browser.press(&by("link", "Gallery")).await?;
        for visit in ["the first", "one from what is kept"] {
            studio.sees_outputs(1).await?;
            let script = "
                const { width, height } = document.querySelector('[data-output]').getBoundingClientRect();
                return width / height";
            until(format!("a tile of 3 by 2, {visit}"), TIMEOUT, async || {
                let shape = browser.run(script, vec![]).await?;
                Ok(match shape.as_f64() {
                    Some(shape) if (shape - 1.5).abs() < 0.02 => Seen::Yes(()),
                    _ => Seen::NotYet(format!("it is {shape}")),
                })
            })
            .await?;
            browser.reload().await?;
        }
        Ok(())
    })
    .await;
}
