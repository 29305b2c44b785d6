//! The list of commands and the list of keyboard shortcuts.

use atelier_end_to_end::Result;
use atelier_end_to_end::find::{by, starting};
use atelier_end_to_end::wait::{wait_for_match, wait_for_value};
use serde_json::{Value, json};

use crate::{CONTROL, ENTER, ESCAPE, Studio, TIMEOUT, run_steps};

/// Finds a command by some of its letters and runs it.
async fn run_command(studio: &Studio<'_>, letters: &str, name: &str) -> Result<()> {
    studio.press_keys(&format!("{CONTROL}k")).await?;
    let dialog = studio.browser.find(&by("dialog", "Commands")).await?;
    studio.press_keys(letters).await?;
    let option = by("option", name).within(&dialog);
    studio.browser.find(&option).await?;
    studio.press_keys(ENTER).await?;
    studio
        .browser
        .wait_until_gone(&by("dialog", "Commands"))
        .await
}

/// Guards against a list in which the only commands are links to pages.
#[tokio::test(flavor = "multi_thread")]
async fn commands_include_the_actions_of_the_page() {
    let name = "commands_include_the_actions_of_the_page";
    run_steps(name, 2, async |studio| {
        let browser = studio.browser;
        run_command(studio, "dark the", "Dark theme Action").await?;
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
        // Shortcuts work once the whole program is loaded.
        studio.wait_for_outputs(4).await?;

        run_command(studio, "failed", "Show failed tasks Action").await?;
        studio.wait_for_address("/tasks?state=failed").await?;

        studio.open("/tasks/made-00001").await?;
        browser.wait_for_text("cobalt harbour 1", TIMEOUT).await?;
        run_command(studio, "edit", "Edit Action").await?;
        browser
            .wait_for_text("Changed in the form:", TIMEOUT)
            .await?;
        run_command(studio, "compose", "Compose a batch Action").await?;
        studio.wait_for_address("?mode=batch").await?;

        studio.open("/tasks/made-00001").await?;
        browser.wait_for_text("cobalt harbour 1", TIMEOUT).await?;
        browser.stop_clock().await?;
        run_command(studio, "remove", "Remove Action").await?;
        browser.find(&by("heading", "Tasks")).await?;
        browser.press(&by("button", "Undo")).await?;
        browser.wait_for_text("2 tasks", TIMEOUT).await
    })
    .await;
}

/// Guards against a search that finds nothing because the text is not part of a command's name, for instance a word in
/// the middle of a prompt.
#[tokio::test(flavor = "multi_thread")]
async fn text_that_matches_no_command_can_be_searched_for() {
    let name = "text_that_matches_no_command_can_be_searched_for";
    run_steps(name, 2, async |studio| {
        run_command(
            studio,
            "no such thing",
            "Search all outputs for “no such thing” Gallery",
        )
        .await?;
        studio.wait_for_address("/gallery?q=no such thing").await?;
        studio.open("/gallery").await?;
        studio.wait_for_outputs(4).await?;
        studio.press_keys(&format!("{CONTROL}k")).await?;
        studio.press_keys("no such thing").await?;
        let tasks = by("option", "Search all tasks for “no such thing” Tasks");
        studio.browser.press(&tasks).await?;
        studio.wait_for_address("/tasks?q=no such thing").await
    })
    .await;
}

/// Guards against a list of commands that only readers of the documentation find.
#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_commands_has_a_button() {
    run_steps("the_list_of_commands_has_a_button", 1, async |studio| {
        let browser = studio.browser;
        browser.set_size(1280, 900).await?;
        let open = by("button", "Go to…");
        browser.press(&open).await?;
        browser.find(&by("dialog", "Commands")).await?;
        studio.press_keys(ESCAPE).await?;
        browser.wait_until_gone(&by("dialog", "Commands")).await?;
        let focused = "return document.activeElement.textContent";
        wait_for_match(browser, "the focus back on it", focused, |seen| {
            seen.as_str()
                .is_some_and(|seen| seen.trim().starts_with("Go to…"))
        })
        .await
    })
    .await;
}

/// Guards against empty key caps: the key `+` was parsed as a separator of two keys.
#[tokio::test(flavor = "multi_thread")]
async fn no_key_in_the_list_of_shortcuts_is_empty() {
    let name = "no_key_in_the_list_of_shortcuts_is_empty";
    run_steps(name, 1, async |studio| {
        let browser = studio.browser;
        studio.open("/gallery?open=shortcuts").await?;
        browser.find(&by("dialog", "Keyboard shortcuts")).await?;
        let caps =
            "return [...document.querySelectorAll('dialog kbd')].map(cap => cap.textContent)";
        let caps = browser.run(caps, vec![]).await?;
        let caps: Vec<&str> = (caps.as_array().into_iter().flatten())
            .filter_map(Value::as_str)
            .collect();
        assert!(caps.contains(&"+"), "no key + in {caps:?}");
        assert!(!caps.contains(&""), "an empty key cap in {caps:?}");
        Ok(())
    })
    .await;
}

/// Guards against losing focus when a dialog is closed that was opened over another dialog, or while no element had the
/// focus.
#[tokio::test(flavor = "multi_thread")]
async fn closing_dialogs_returns_the_focus_to_the_page() {
    let name = "closing_dialogs_returns_the_focus_to_the_page";
    run_steps(name, 2, async |studio| {
        let browser = studio.browser;
        browser.set_size(1280, 900).await?;
        let focused = "
            const it = document.activeElement;
            return it.getAttribute('aria-label') ?? it.id";
        let tile = "Image: cobalt harbour 1";
        let on_tile =
            format!("document.querySelector('.tile-open[aria-label=\"{tile}\"]').focus()");
        browser.run(&on_tile, vec![]).await?;
        studio.press_keys("?").await?;
        browser.find(&by("dialog", "Keyboard shortcuts")).await?;
        studio.press_keys(&format!("{CONTROL}k")).await?;
        let commands = by("dialog", "Commands");
        browser.find(&commands).await?;
        studio.press_keys(ESCAPE).await?;
        browser.wait_until_gone(&commands).await?;
        wait_for_value(browser, "the focus", focused, tile).await?;
        // The shortcut that opens the list also closes it.
        studio.press_keys(&format!("{CONTROL}k")).await?;
        browser.find(&commands).await?;
        studio.press_keys(&format!("{CONTROL}k")).await?;
        browser.wait_until_gone(&commands).await?;
        wait_for_value(browser, "the focus", focused, tile).await?;

        studio
            .open("/gallery?compare=made-00000/0,made-00001/0")
            .await?;
        let compare = browser.find(&by("dialog", "Compare")).await?;
        browser
            .find(&by("button", "Favorite 2").within(&compare))
            .await?;
        studio.press_keys(ESCAPE).await?;
        browser.wait_until_gone(&by("dialog", "Compare")).await?;
        wait_for_value(browser, "the focus", focused, "main").await
    })
    .await;
}

const HOME: &str = "\u{e011}";
const END: &str = "\u{e010}";

/// Guards against losing focus when the pressed button disappears, and against a gallery without shortcuts for its
/// first and last tile.
#[tokio::test(flavor = "multi_thread")]
async fn undo_focuses_the_restored_tile() {
    run_steps("undo_focuses_the_restored_tile", 8, async |studio| {
        let browser = studio.browser;
        let focused =
            "return document.activeElement.dataset.output ?? document.activeElement.tagName";
        let select = "document.querySelector('.tile-open[data-output=\"made-00003/0\"]').focus()";
        browser.run(select, vec![]).await?;
        studio.press_keys(END).await?;
        let last =
            "return [...document.querySelectorAll('.tile-open')].at(-1) === document.activeElement";
        wait_for_value(browser, "the last tile focused", last, json!(true)).await?;
        studio.press_keys(HOME).await?;
        let first = "return document.querySelector('.tile-open') === document.activeElement";
        wait_for_value(browser, "the first tile focused", first, json!(true)).await?;
        browser.run(select, vec![]).await?;
        studio.press_keys("x").await?;
        browser.stop_clock().await?;
        browser.press(&starting("button", "Remove")).await?;
        browser.press(&by("button", "Undo")).await?;
        browser.start_clock().await?;
        wait_for_value(browser, "the focus", focused, "made-00003/0").await
    })
    .await;
}
