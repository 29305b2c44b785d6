//! Swiping through the outputs in the lightbox.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::generation::generate;
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::wait_for_value;
use serde_json::json;

/// Swipes right across the video in the lightbox, at `height` percent of its height above its lower edge.
async fn swipe(browser: &Browser, height: u32) -> Result<()> {
    let script = "
        const { left, bottom, width, height } = document.querySelector('.stage video').getBoundingClientRect();
        const at = (part) => [{ x: left + width * part, y: bottom - height * arguments[0] / 100 }];
        return [['touchStart', at(0.3)], ['touchMove', at(0.5)], ['touchMove', at(0.8)], ['touchEnd', []]]";
    let events = browser.run(script, vec![height.into()]).await?;
    for event in events.as_array().into_iter().flatten() {
        let touch = json!({ "type": event[0], "touchPoints": event[1] });
        browser.devtools("Input.dispatchTouchEvent", touch).await?;
    }
    Ok(())
}

/// Guards against a video that can't be swiped to the next output.
#[tokio::test(flavor = "multi_thread")]
async fn a_video_is_swiped_on_its_image_and_not_on_its_controls() {
    let name = "a_video_is_swiped_on_its_image_and_not_on_its_controls";
    drive(name, async |browser| {
        let service = Service::start_with_site(&["--speed", "0"]).await?;
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
            const [video, image] = ['video', 'img'].map(it => document.querySelector(`.stage > ${it}`));
            return video?.videoWidth ? 'video' : image?.naturalWidth ? 'image' : 'nothing'";
        wait_for_value(browser, "a video", shown, "video").await?;
        swipe(browser, 4).await?;
        // If the first swipe had changed the output, there would be no video to swipe.
        swipe(browser, 60).await?;
        wait_for_value(browser, "the previous output", shown, "image").await
    })
    .await;
}
