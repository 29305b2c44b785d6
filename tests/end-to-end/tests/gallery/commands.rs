//! Commands, and the list of keys.

use atelier_end_to_end::Result;
use atelier_end_to_end::find::by;
use atelier_end_to_end::wait::gives;
use serde_json::Value;

use crate::{CONTROL, ENTER, ESCAPE, Studio, TIMEOUT, visit};

/// Looks for a command by some of its letters and does it.
async fn command(studio: &Studio<'_>, letters: &str, name: &str) -> Result<()> {
    studio.keys(&format!("{CONTROL}k")).await?;
    let dialog = studio.browser.find(&by("dialog", "Commands")).await?;
    studio.keys(letters).await?;
    let option = by("option", name).within(&dialog);
    studio.browser.find(&option).await?;
    studio.keys(ENTER).await?;
    studio.browser.find_gone(&by("dialog", "Commands")).await
}

/// Guards against commands that lead to places and do nothing there.
#[tokio::test(flavor = "multi_thread")]
async fn commands_do_what_the_page_offers() {
    visit("commands_do", 2, async |studio| {
        let browser = studio.browser;
        command(studio, "dark the", "Dark theme Action").await?;
        browser
            .find(&by("button", "Theme: dark. Switch to system"))
            .await?;
        let scheme = "return getComputedStyle(document.documentElement).colorScheme";
        assert_eq!(
            browser.run(scheme, vec![]).await?,
            Value::String("dark".into())
        );
        browser.reload().await?;
        browser
            .find(&by("button", "Theme: dark. Switch to system"))
            .await?;
        // Keys are heard once the whole program is here.
        studio.sees_outputs(4).await?;

        command(studio, "failed", "Show failed tasks Action").await?;
        studio.is_at("/tasks?state=failed").await?;

        studio.open("/tasks/made-00001").await?;
        browser.see_text("cobalt harbour 1", TIMEOUT).await?;
        command(studio, "edit", "Edit Action").await?;
        browser.see_text("Changed in the form:", TIMEOUT).await?;
        command(studio, "compose", "Compose a batch Action").await?;
        studio.is_at("?mode=batch").await?;

        studio.open("/tasks/made-00001").await?;
        browser.see_text("cobalt harbour 1", TIMEOUT).await?;
        browser.stop_clock().await?;
        command(studio, "remove", "Remove Action").await?;
        browser.find(&by("heading", "Tasks")).await?;
        browser.press(&by("button", "Undo")).await?;
        browser.see_text("2 tasks", TIMEOUT).await
    })
    .await;
}

/// Guards against commands that only who reads the documentation finds.
#[tokio::test(flavor = "multi_thread")]
async fn commands_can_be_seen_without_knowing_their_keys() {
    visit("commands_can_be_seen", 1, async |studio| {
        let browser = studio.browser;
        browser.set_size(1280, 900).await?;
        let open = by("button", "Go to…");
        browser.press(&open).await?;
        browser.find(&by("dialog", "Commands")).await?;
        studio.keys(ESCAPE).await?;
        browser.find_gone(&by("dialog", "Commands")).await?;
        let focused = "return document.activeElement.textContent";
        gives(browser, "the focus back on it", focused, |seen| {
            seen.as_str()
                .is_some_and(|seen| seen.trim().starts_with("Go to…"))
        })
        .await
    })
    .await;
}

/// Guards against key caps with nothing on them: the key `+` was read as one that joins two.
#[tokio::test(flavor = "multi_thread")]
async fn every_key_has_its_cap() {
    visit("every_key_has_its_cap", 1, async |studio| {
        let browser = studio.browser;
        studio.open("/gallery?open=shortcuts").await?;
        browser.find(&by("dialog", "Keyboard shortcuts")).await?;
        let caps =
            "return [...document.querySelectorAll('dialog kbd')].map(cap => cap.textContent)";
        let caps = browser.run(caps, vec![]).await?;
        let caps: Vec<&str> = (caps.as_array().into_iter().flatten())
            .filter_map(Value::as_str)
            .collect();
        assert!(caps.contains(&"+"), "no key + among {caps:?}");
        assert!(!caps.contains(&""), "a cap without a key among {caps:?}");
        Ok(())
    })
    .await;
}
