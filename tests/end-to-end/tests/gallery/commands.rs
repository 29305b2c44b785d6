//! Commands, and the list of keys.

use atelier_end_to_end::Result;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::{becomes, gives};
use serde_json::{Value, json};

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

/// Guards against letters that lead nowhere: a prompt's tenth word is in no name of the list.
#[tokio::test(flavor = "multi_thread")]
async fn what_no_command_is_called_is_searched_for() {
    visit("what_no_command_is_called", 2, async |studio| {
        command(
            studio,
            "no such thing",
            "Search all outputs for “no such thing” Gallery",
        )
        .await?;
        studio.is_at("/gallery?q=no such thing").await?;
        studio.open("/gallery").await?;
        studio.sees_outputs(4).await?;
        studio.keys(&format!("{CONTROL}k")).await?;
        studio.keys("no such thing").await?;
        let tasks = by("option", "Search all tasks for “no such thing” Tasks");
        studio.browser.press(&tasks).await?;
        studio.is_at("/tasks?q=no such thing").await
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

/// Guards against keys that go nowhere once a dialog is closed: what had the focus was another dialog, or nothing.
#[tokio::test(flavor = "multi_thread")]
async fn the_focus_stays_on_the_page_when_dialogs_close() {
    visit("the_focus_stays", 2, async |studio| {
        let browser = studio.browser;
        browser.set_size(1280, 900).await?;
        let focused = "
            const it = document.activeElement;
            return it.getAttribute('aria-label') ?? it.id";
        let tile = "Image: cobalt harbour 1";
        let on_tile =
            format!("document.querySelector('.tile-open[aria-label=\"{tile}\"]').focus()");
        browser.run(&on_tile, vec![]).await?;
        studio.keys("?").await?;
        browser.find(&by("dialog", "Keyboard shortcuts")).await?;
        studio.keys(&format!("{CONTROL}k")).await?;
        let commands = by("dialog", "Commands");
        browser.find(&commands).await?;
        studio.keys(ESCAPE).await?;
        browser.find_gone(&commands).await?;
        becomes(browser, "the focus", focused, tile).await?;
        // The keys that open it close it.
        studio.keys(&format!("{CONTROL}k")).await?;
        browser.find(&commands).await?;
        studio.keys(&format!("{CONTROL}k")).await?;
        browser.find_gone(&commands).await?;
        becomes(browser, "the focus", focused, tile).await?;

        studio
            .open("/gallery?compare=made-00000/0,made-00001/0")
            .await?;
        let compare = browser.find(&by("dialog", "Compare")).await?;
        browser
            .find(&by("button", "Favorite 2").within(&compare))
            .await?;
        studio.keys(ESCAPE).await?;
        browser.find_gone(&by("dialog", "Compare")).await?;
        becomes(browser, "the focus", focused, "main").await
    })
    .await;
}

const HOME: &str = "\u{e011}";
const END: &str = "\u{e010}";

/// Guards against a focus that is lost with the button that was pressed, and against ends that no key leads to.
#[tokio::test(flavor = "multi_thread")]
async fn keys_go_on_at_a_tile_that_was_brought_back() {
    visit("keys_go_on_at_a_tile", 8, async |studio| {
        let browser = studio.browser;
        let focused =
            "return document.activeElement.dataset.output ?? document.activeElement.tagName";
        let select = "document.querySelector('.tile-open[data-output=\"made-00003/0\"]').focus()";
        browser.run(select, vec![]).await?;
        studio.keys(END).await?;
        let last =
            "return [...document.querySelectorAll('.tile-open')].at(-1) === document.activeElement";
        becomes(browser, "the last", last, json!(true)).await?;
        studio.keys(HOME).await?;
        let first = "return document.querySelector('.tile-open') === document.activeElement";
        becomes(browser, "the first", first, json!(true)).await?;
        browser.run(select, vec![]).await?;
        studio.keys("x").await?;
        browser.stop_clock().await?;
        browser.press(&starting("button", "Remove")).await?;
        browser.press(&by("button", "Undo")).await?;
        browser.start_clock().await?;
        becomes(browser, "the focus", focused, "made-00003/0").await
    })
    .await;
}
