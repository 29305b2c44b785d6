//! An output shown large: in full screen, one after the other by itself, and how close it is.

use std::time::Duration;

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::fault::FaultProxy;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::generation::generate;
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::becomes;
use serde_json::json;

use crate::{ENTER, STORE, TIMEOUT, visit};

const SHOWN: &str = "return new URLSearchParams(location.search).get('lightbox') ?? ''";
const SECONDS_5: Duration = Duration::from_secs(5);

/// The second of four outputs is shown large, by a clock that stands.
async fn slideshow(name: &str, steps: impl AsyncFnOnce(&Browser, &FaultProxy) -> Result<()>) {
    drive(name, async |browser| {
        let service = Service::with_site(&["--speed", "0"]).await?;
        let proxy = FaultProxy::start(&service.address()).await?;
        let gallery = format!("{}/gallery", proxy.address());
        browser.set_size(1280, 900).await?;
        browser.open(&gallery).await?;
        browser.see_text("Nothing made yet.", TIMEOUT).await?;
        browser.run(STORE, vec![json!(2)]).await?;
        proxy.control_clock(browser).await?;
        let second = format!("{gallery}?lightbox=made-00001/1");
        browser.open(&second).await?;
        browser.see_text("2 of 4", TIMEOUT).await?;
        browser.stop_clock().await?;
        steps(browser, &proxy).await
    })
    .await;
}

/// Guards against a slideshow that goes on under the hand of a person, or never ends.
#[tokio::test(flavor = "multi_thread")]
async fn a_slideshow_moves_on_until_a_person_does_or_it_ends() {
    slideshow("a_slideshow_moves_on", async |browser, proxy| {
        let dialog = browser.find(&by("dialog", "Output")).await?;
        let button = |name: &str| by("button", name).within(&dialog);
        browser.press(&button("Slideshow")).await?;
        browser.find(&button("Stop slideshow")).await?;
        proxy.let_pass(browser, Duration::from_secs(4)).await?;
        becomes(browser, "what is shown before 5 s", SHOWN, "made-00001/1").await?;
        proxy.let_pass(browser, Duration::from_secs(1)).await?;
        becomes(browser, "what is shown after 5 s", SHOWN, "made-00000/0").await?;
        browser.find(&button("Stop slideshow")).await?;
        // What a person does stops it.
        browser.press(&button("Previous")).await?;
        browser.find(&button("Slideshow")).await?;
        becomes(browser, "what is shown by hand", SHOWN, "made-00001/1").await?;
        browser.press(&button("Slideshow")).await?;
        browser.press(&button("Stop slideshow")).await?;
        proxy.let_pass(browser, SECONDS_5).await?;
        becomes(browser, "what is shown once stopped", SHOWN, "made-00001/1").await?;
        // So does the end.
        browser.press(&button("Slideshow")).await?;
        proxy.let_pass(browser, SECONDS_5).await?;
        becomes(browser, "the third", SHOWN, "made-00000/0").await?;
        browser.find(&button("Stop slideshow")).await?;
        proxy.let_pass(browser, SECONDS_5).await?;
        becomes(browser, "the last", SHOWN, "made-00000/1").await?;
        let last = browser.find(&button("Slideshow")).await?;
        assert_eq!(last.attr("aria-disabled").await?.as_deref(), Some("true"));
        Ok(())
    })
    .await;
}

/// Guards against a slideshow that goes on behind what covers it, or after it was closed.
#[tokio::test(flavor = "multi_thread")]
async fn a_slideshow_stops_where_it_is_covered_or_closed() {
    slideshow("a_slideshow_stops_covered", async |browser, proxy| {
        let dialog = browser.find(&by("dialog", "Output")).await?;
        let button = |name: &str| by("button", name).within(&dialog);
        browser.press(&button("Slideshow")).await?;
        browser.press(&button("Compare")).await?;
        let compared = browser.find(&by("dialog", "Compare")).await?;
        proxy.let_pass(browser, SECONDS_5).await?;
        browser
            .press(&by("button", "Close").within(&compared))
            .await?;
        browser.find(&button("Slideshow")).await?;
        becomes(browser, "what is shown", SHOWN, "made-00001/1").await?;
        browser.press(&button("Slideshow")).await?;
        browser.press(&button("Close")).await?;
        browser.find_gone(&by("dialog", "Output")).await?;
        proxy.let_pass(browser, SECONDS_5).await?;
        becomes(browser, "what is shown after Close", SHOWN, "").await
    })
    .await;
}

/// Guards against a film that is cut off after five seconds, or that repeats for ever.
#[tokio::test(flavor = "multi_thread")]
async fn a_film_is_played_to_its_end_first() {
    drive("a_film_is_played_to_its_end", async |browser| {
        let service = Service::with_site(&["--speed", "0"]).await?;
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
            const [film, picture] = ['video', 'img'].map(it => document.querySelector(`.stage > ${it}`));
            return film?.videoWidth ? `film${film.loop ? ' that repeats' : ''}` : picture?.naturalWidth ? 'picture' : 'nothing'";
        becomes(browser, "a film", shown, "film that repeats").await?;
        browser.stop_clock().await?;
        browser
            .press(&by("button", "Slideshow").within(&dialog))
            .await?;
        becomes(browser, "one that ends", shown, "film").await?;
        // Paused it has not come to its end, however long that takes.
        let pause = "document.querySelector('.stage > video').pause()";
        browser.run(pause, vec![]).await?;
        proxy.let_pass(browser, Duration::from_secs(40)).await?;
        becomes(browser, "the film", shown, "film").await?;
        let end = "
            const film = document.querySelector('.stage > video');
            film.currentTime = film.duration - 0.05;
            return film.play()";
        browser.run(end, vec![]).await?;
        becomes(browser, "what comes after it", shown, "picture").await
    })
    .await;
}

/// Guards against a picture that never has the whole screen, and against Enter that takes it where it presses a button.
#[tokio::test(flavor = "multi_thread")]
async fn enter_shows_the_picture_in_full_screen() {
    visit("enter_shows_full_screen", 2, async |studio| {
        let browser = studio.browser;
        studio.press_tile("Image: cobalt harbour 1").await?;
        let dialog = browser.find(&by("dialog", "Output")).await?;
        let is_full = "return Boolean(document.fullscreenElement?.querySelector('.stage img'))";
        studio.keys(ENTER).await?;
        becomes(browser, "whether it is in full screen", is_full, true).await?;
        let panel = "return document.querySelector('.lightbox-panel').checkVisibility()";
        becomes(browser, "whether the panel is in sight", panel, false).await?;
        // Guards against controls that no movement of the mouse brings back.
        let stirred = "return document.fullscreenElement.matches('.stirred')";
        becomes(browser, "whether controls are in sight", stirred, false).await?;
        let stir = "
            const moved = new PointerEvent('pointermove', { bubbles: true });
            document.querySelector('.stage').dispatchEvent(moved);
            return new Promise((done) => setTimeout(
                () => done(document.fullscreenElement.matches('.stirred'))))";
        assert_eq!(browser.run(stir, vec![]).await?, true);
        becomes(browser, "whether controls are in sight", stirred, false).await?;
        browser
            .press(&by("button", "Leave full screen").within(&dialog))
            .await?;
        becomes(browser, "whether it is in full screen", is_full, false).await?;
        browser
            .press(&by("button", "Full screen").within(&dialog))
            .await?;
        becomes(browser, "whether it is in full screen", is_full, true).await?;
        browser
            .press(&by("button", "Leave full screen").within(&dialog))
            .await?;
        becomes(browser, "whether it is in full screen", is_full, false).await?;
        // A button has Enter for itself.
        let focus = "document.querySelector('dialog[aria-label=Output] [aria-label=Next]').focus()";
        browser.run(focus, vec![]).await?;
        studio.keys(ENTER).await?;
        browser.see_text("2 of 4", TIMEOUT).await?;
        becomes(browser, "whether it is in full screen", is_full, false).await
    })
    .await;
}

/// Guards against a zoom that does not say how close it is: 100 % is a pixel of the picture for each of CSS.
#[tokio::test(flavor = "multi_thread")]
async fn zoom_is_shown_in_per_cent_of_the_picture() {
    visit("zoom_is_in_per_cent", 1, async |studio| {
        let browser = studio.browser;
        studio.press_tile("Image: amber harbour 0").await?;
        browser.find(&by("dialog", "Output")).await?;
        let is_right = "
            const [picture, said] = ['.stage > img', '.lightbox-percent'].map(it => document.querySelector(it));
            const { width, height } = picture.getBoundingClientRect();
            const drawn = Math.min(width / picture.naturalWidth, height / picture.naturalHeight);
            const isWhole = Math.abs(picture.clientWidth - width) < 1;
            return said.textContent === `${Math.round(drawn * 100)}%` && isWhole === !WANTED
                ? 'right' : `${said.textContent} of ${drawn}`";
        let wanted = |is_close: bool| is_right.replace("WANTED", &is_close.to_string());
        becomes(browser, "the per cents of a whole picture", &wanted(false), "right").await?;
        studio.keys("+").await?;
        becomes(browser, "the per cents of a closer one", &wanted(true), "right").await?;
        studio.keys("0").await?;
        browser.set_size(700, 700).await?;
        becomes(browser, "the per cents in a smaller window", &wanted(false), "right").await
    })
    .await;
}
