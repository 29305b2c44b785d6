//! Tests of the browser driver, on a page in a data URL.

use atelier_end_to_end::browser::Scheme;
use atelier_end_to_end::find::{any, by, containing, starting};
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::{Seen, until};
use std::time::Duration;

const PAGE: &str = "data:text/html,<!doctype html><title>Page</title><main><h1>Models</h1>\
    <form aria-label='Input'><label>prompt <textarea></textarea></label><button>Generate</button>\
    <button hidden>Hidden</button></form><section aria-label='Result'></section>\
    <a href='%23'>Waves, a model</a></main>";

#[tokio::test(flavor = "multi_thread")]
async fn finds_elements_by_role_and_name() {
    drive("finds_elements_by_role_and_name", async |browser| {
        browser.open(PAGE).await?;
        browser.find(&by("heading", "Models")).await?;
        browser.find(&starting("link", "Waves")).await?;
        let form = browser.find(&by("form", "Input")).await?;
        browser.fill(&by("textbox", "prompt"), "a wave").await?;
        let button = browser.find(&any("button").within(&form)).await?;
        assert_eq!(browser.name_of(&button).await?, "Generate");
        assert!(
            browser
                .find_all(&containing("button", "Hidden"))
                .await?
                .is_empty()
        );
        let soon = Duration::from_millis(100);
        let error = browser
            .find_with_limit(&by("button", "Nothing"), soon)
            .await
            .unwrap_err();
        assert!(error.to_string().contains("Generate"), "{error}");
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn page_sees_offline_state() {
    drive("page_sees_offline_state", async |browser| {
        browser.open(PAGE).await?;
        for offline in [true, false] {
            browser.set_offline(offline).await?;
            until("navigator.onLine", Duration::from_secs(60), async || {
                let online = browser.run("return navigator.onLine", vec![]).await?;
                Ok(if online == !offline {
                    Seen::Yes(())
                } else {
                    Seen::NotYet(online.to_string())
                })
            })
            .await?;
        }
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn page_sees_color_scheme() {
    drive("page_sees_color_scheme", async |browser| {
        browser.open(PAGE).await?;
        for (scheme, dark) in [(Scheme::Dark, true), (Scheme::Light, false)] {
            browser.set_color_scheme(scheme).await?;
            let seen = browser.run(
                "return matchMedia('(prefers-color-scheme: dark)').matches",
                vec![],
            );
            assert_eq!(seen.await?, dark);
        }
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn downloads_are_saved() {
    drive("downloads_are_saved", async |browser| {
        browser.open(PAGE).await?;
        let script = "const link = document.createElement('a'); link.download = 'wave.py';
            link.href = URL.createObjectURL(new Blob(['print(1)'])); link.click()";
        browser.run(script, vec![]).await?;
        let files = browser.wait_for_downloads(1, "wave.py").await?;
        assert_eq!(std::fs::read_to_string(&files[0])?, "print(1)");
        Ok(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn full_page_screenshot_has_requested_size() {
    drive("full_page_screenshot_has_requested_size", async |browser| {
        browser.open(PAGE).await?;
        let picture = browser.downloads().join("page.png");
        browser.full_page(320, Scheme::Dark, &picture).await?;
        let bytes = std::fs::read(picture)?;
        // The width and height of a PNG are at fixed offsets.
        assert_eq!(bytes[16..24], [0, 0, 1, 64, 0, 0, 3, 132]);
        Ok(())
    })
    .await;
}
