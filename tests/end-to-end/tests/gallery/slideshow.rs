//! The slideshow, full screen and zoom of the lightbox.

use std::time::Duration;

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::FaultProxy;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::generation::generate;
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::wait_for_value;
use serde_json::json;

use crate::{ENTER, STORE, TIMEOUT, run_steps};

/// A script that returns the output in the lightbox.
const SHOWN: &str = "return new URLSearchParams(location.search).get('lightbox') ?? ''";
const SLIDE: Duration = Duration::from_secs(5);

/// Runs the steps with the second of four outputs in the lightbox, while the clock is stopped.
async fn slideshow(name: &str, steps: impl AsyncFnOnce(&Browser, &FaultProxy) -> Result<()>) {
    drive(name, async |browser| {
        let service = Service::start_with_site(&["--speed", "0"]).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        let gallery = format!("{}/gallery", proxy.address());
        browser.set_size(1280, 900).await?;
        browser.open(&gallery).await?;
        browser.wait_for_text("No outputs yet.", TIMEOUT).await?;
        browser.run(STORE, vec![json!(2)]).await?;
        proxy.control_clock(browser).await?;
        let second = format!("{gallery}?lightbox=made-00001/1");
        browser.open(&second).await?;
        browser.wait_for_text("2 of 4", TIMEOUT).await?;
        browser.stop_clock().await?;
        steps(browser, &proxy).await
    })
    .await;
}

/// Guards against a slideshow that continues after the user has changed the output, or that never ends.
#[tokio::test(flavor = "multi_thread")]
async fn a_slideshow_runs_until_the_user_steps_or_it_ends() {
    slideshow("a_slideshow_moves_on", async |browser, proxy| {
        let dialog = browser.find(&by("dialog", "Output")).await?;
        let button = |name: &str| by("button", name).within(&dialog);
        browser.press(&button("Slideshow")).await?;
        browser.find(&button("Stop slideshow")).await?;
        proxy
            .advance_clock_by_seconds(browser, Duration::from_secs(4))
            .await?;
        wait_for_value(browser, "the output before 5 s", SHOWN, "made-00001/1").await?;
        proxy
            .advance_clock_by_seconds(browser, Duration::from_secs(1))
            .await?;
        wait_for_value(browser, "the output after 5 s", SHOWN, "made-00000/0").await?;
        browser.find(&button("Stop slideshow")).await?;
        // A press on Previous stops it.
        browser.press(&button("Previous")).await?;
        browser.find(&button("Slideshow")).await?;
        wait_for_value(browser, "the output after Previous", SHOWN, "made-00001/1").await?;
        browser.press(&button("Slideshow")).await?;
        browser.press(&button("Stop slideshow")).await?;
        proxy.advance_clock_by_seconds(browser, SLIDE).await?;
        wait_for_value(browser, "the output after Stop", SHOWN, "made-00001/1").await?;
        // The slideshow also stops at the end.
        browser.press(&button("Slideshow")).await?;
        proxy.advance_clock_by_seconds(browser, SLIDE).await?;
        wait_for_value(browser, "the third output", SHOWN, "made-00000/0").await?;
        browser.find(&button("Stop slideshow")).await?;
        proxy.advance_clock_by_seconds(browser, SLIDE).await?;
        wait_for_value(browser, "the last output", SHOWN, "made-00000/1").await?;
        let last = browser.find(&button("Slideshow")).await?;
        assert_eq!(last.attr("aria-disabled").await?.as_deref(), Some("true"));
        Ok(())
    })
    .await;
}

/// Guards against a slideshow that continues behind another dialog or after the lightbox was closed.
#[tokio::test(flavor = "multi_thread")]
async fn a_slideshow_stops_when_it_is_covered_or_closed() {
    slideshow("a_slideshow_stops_covered", async |browser, proxy| {
        let dialog = browser.find(&by("dialog", "Output")).await?;
        let button = |name: &str| by("button", name).within(&dialog);
        browser.press(&button("Slideshow")).await?;
        browser.press(&button("Compare")).await?;
        let compared = browser.find(&by("dialog", "Compare")).await?;
        proxy.advance_clock_by_seconds(browser, SLIDE).await?;
        browser
            .press(&by("button", "Close").within(&compared))
            .await?;
        browser.find(&button("Slideshow")).await?;
        wait_for_value(browser, "the output", SHOWN, "made-00001/1").await?;
        browser.press(&button("Slideshow")).await?;
        browser.press(&button("Close")).await?;
        browser.wait_until_gone(&by("dialog", "Output")).await?;
        proxy.advance_clock_by_seconds(browser, SLIDE).await?;
        wait_for_value(browser, "no output after Close", SHOWN, "").await
    })
    .await;
}

/// Guards against a video that is cut off after five seconds, or that repeats forever.
#[tokio::test(flavor = "multi_thread")]
async fn a_slideshow_plays_a_video_to_its_end() {
    drive("a_slideshow_plays_a_video_to_its_end", async |browser| {
        let service = Service::start_with_site(&["--speed", "0"]).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        let address = proxy.address();
        browser.set_size(900, 900).await?;
        for (model, prompt) in [
            ("image/tessera", "a red window"),
            ("video/silk", "red silk"),
        ] {
            generate(browser, &address, model, prompt).await?;
        }
        proxy.control_clock(browser).await?;
        browser.open(&format!("{address}/gallery")).await?;
        browser
            .press(&starting("button", "Video: red silk"))
            .await?;
        let dialog = browser.find(&by("dialog", "Output")).await?;
        let shown = "
            const [video, image] = ['video', 'img'].map(it => document.querySelector(`.stage > ${it}`));
            return video?.videoWidth ? `video${video.loop ? ' that repeats' : ''}` : image?.naturalWidth ? 'image' : 'nothing'";
        wait_for_value(browser, "a video", shown, "video that repeats").await?;
        browser.stop_clock().await?;
        browser
            .press(&by("button", "Slideshow").within(&dialog))
            .await?;
        wait_for_value(browser, "a video that ends", shown, "video").await?;
        // A paused video has not ended, however long it is paused.
        let pause = "document.querySelector('.stage > video').pause()";
        browser.run(pause, vec![]).await?;
        proxy.advance_clock_by_seconds(browser, Duration::from_secs(40)).await?;
        wait_for_value(browser, "the video", shown, "video").await?;
        let end = "
            const video = document.querySelector('.stage > video');
            video.currentTime = video.duration - 0.05;
            return video.play()";
        browser.run(end, vec![]).await?;
        wait_for_value(browser, "the next output", shown, "image").await
    })
    .await;
}

/// Guards against an image that can't be shown in full screen, and against Enter that opens full screen while a button has the
/// focus.
#[tokio::test(flavor = "multi_thread")]
async fn enter_shows_the_image_in_full_screen() {
    run_steps("enter_shows_the_image_in_full_screen", 2, async |studio| {
        let browser = studio.browser;
        studio.press_tile("Image: cobalt harbour 1").await?;
        let dialog = browser.find(&by("dialog", "Output")).await?;
        let is_full = "return Boolean(document.fullscreenElement?.querySelector('.stage img'))";
        studio.press_keys(ENTER).await?;
        wait_for_value(browser, "whether it is in full screen", is_full, true).await?;
        let panel = "return document.querySelector('.lightbox-panel').checkVisibility()";
        wait_for_value(browser, "whether the panel is visible", panel, false).await?;
        // Guards against controls that do not reappear when the mouse moves.
        let has_controls = "return document.fullscreenElement.matches('.stirred')";
        wait_for_value(browser, "whether controls are visible", has_controls, false).await?;
        let move_pointer = "
            const moved = new PointerEvent('pointermove', { bubbles: true });
            document.querySelector('.stage').dispatchEvent(moved);
            return new Promise((done) => setTimeout(
                () => done(document.fullscreenElement.matches('.stirred'))))";
        assert_eq!(browser.run(move_pointer, vec![]).await?, true);
        wait_for_value(browser, "whether controls are visible", has_controls, false).await?;
        browser
            .press(&by("button", "Leave full screen").within(&dialog))
            .await?;
        wait_for_value(browser, "whether it is in full screen", is_full, false).await?;
        browser
            .press(&by("button", "Full screen").within(&dialog))
            .await?;
        wait_for_value(browser, "whether it is in full screen", is_full, true).await?;
        browser
            .press(&by("button", "Leave full screen").within(&dialog))
            .await?;
        wait_for_value(browser, "whether it is in full screen", is_full, false).await?;
        // On a focused button, Enter presses the button.
        let focus = "document.querySelector('dialog[aria-label=Output] [aria-label=Next]').focus()";
        browser.run(focus, vec![]).await?;
        studio.press_keys(ENTER).await?;
        browser.wait_for_text("2 of 4", TIMEOUT).await?;
        wait_for_value(browser, "whether it is in full screen", is_full, false).await
    })
    .await;
}

/// Guards against a zoom without its percentage. At 100 %, each pixel of the image is one CSS pixel.
#[tokio::test(flavor = "multi_thread")]
async fn the_zoom_is_shown_as_a_percentage_of_the_image_size() {
    let name = "the_zoom_is_shown_as_a_percentage_of_the_image_size";
    run_steps(name, 1, async |studio| {
        let browser = studio.browser;
        studio.press_tile("Image: amber harbour 0").await?;
        browser.find(&by("dialog", "Output")).await?;
        let is_right = "
            const [picture, label] = ['.stage > img', '.lightbox-percent'].map(it => document.querySelector(it));
            const { width, height } = picture.getBoundingClientRect();
            const drawn = Math.min(width / picture.naturalWidth, height / picture.naturalHeight);
            const isWhole = Math.abs(picture.clientWidth - width) < 1;
            return label.textContent === `${Math.round(drawn * 100)}%` && isWhole === !WANTED
                ? 'right' : `${label.textContent} of ${drawn}`";
        let wanted = |is_zoomed: bool| is_right.replace("WANTED", &is_zoomed.to_string());
        wait_for_value(browser, "the percentage of the whole image", &wanted(false), "right").await?;
        studio.press_keys("+").await?;
        wait_for_value(browser, "the percentage of the zoomed image", &wanted(true), "right").await?;
        studio.press_keys("0").await?;
        browser.set_size(700, 700).await?;
        wait_for_value(browser, "the percentage in a smaller window", &wanted(false), "right").await
    })
    .await;
}
