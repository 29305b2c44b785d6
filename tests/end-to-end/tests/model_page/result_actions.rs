//! Tests of the actions of a result: run again, vary, remove.

use crate::studio::{MODEL, TIMEOUT, run_steps};
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::{any, by, starting};
use atelier_end_to_end::wait::{Seen, until, wait_for_value};
use std::collections::HashSet;
use std::time::Duration;

/// Guards against a result that can't be reproduced because only the service chose its seed, and against a "Run
/// again" that sends nothing.
#[tokio::test(flavor = "multi_thread")]
async fn new_seed_is_sent_and_shown_and_run_again_uses_another() {
    let name = "new_seed_is_sent_and_shown_and_run_again_uses_another";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.type_prompt("lucky").await?;
        browser.press(&by("button", "Generate")).await?;
        browser.find(&by("button", "Run again")).await?;
        let seed = studio.seeds().remove(0);
        assert!(seed.parse::<u64>().is_ok(), "no seed was sent: {seed}");
        browser.wait_for_text(&seed, TIMEOUT).await?;

        browser.press(&by("link", "Use this seed")).await?;
        let field = by("spinbutton", "seed");
        until("the seed in the form", TIMEOUT, async || {
            let value = browser.find(&field).await?.prop("value").await?;
            Ok(match value.unwrap_or_default() {
                value if value == seed => Seen::Yes(()),
                other => Seen::NotYet(other),
            })
        })
        .await?;
        // The form shows that the seed is fixed, and a button clears it.
        browser
            .wait_for_text(&format!("Seed {seed} fixed"), TIMEOUT)
            .await?;
        browser.press(&by("button", "New seed each time")).await?;
        let left = browser.find(&field).await?.prop("value").await?;
        assert_eq!(left.as_deref(), Some(""));

        browser.press(&by("button", "Run again")).await?;
        studio.wait_for_sent(2).await?;
        assert_eq!(studio.sent_prompts(), ["lucky", "lucky"]);
        assert_ne!(studio.seeds()[1], seed);
        Ok(())
    })
    .await;
}

/// Guards against a double click on Vary that sends twice, and against variations without a link to the original.
#[tokio::test(flavor = "multi_thread")]
async fn variations_send_same_input_with_other_seeds() {
    let name = "variations_send_same_input_with_other_seeds";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.type_prompt("varied").await?;
        browser.press(&by("button", "Generate")).await?;
        let count = browser.find(&by("combobox", "How many variations")).await?;
        count.select_by_value("3").await?;
        studio.run_script("await twice('Vary', 120);").await?;
        studio.wait_for_sent(4).await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(studio.sent_prompts(), ["varied"; 4]);
        let seeds: HashSet<String> = studio.seeds().into_iter().collect();
        assert_eq!(seeds.len(), 4, "{seeds:?}");

        browser.press(&by("link", "Tasks")).await?;
        browser
            .wait_for_text("4 tasks (3 grouped in batches)", TIMEOUT)
            .await?;
        browser.find(&by("link", "3 variations of varied")).await?;
        browser.press(&starting("link", "Item 2: varied")).await?;
        // Each variation links to the others.
        browser.find(&by("link", "Variation 2")).await?;
        let siblings = browser.find(&by("navigation", "Variations")).await?;
        let sibling = starting("link", "Variation 3, ").within(&siblings);
        browser.press(&sibling).await?;
        browser.find(&by("link", "Variation 3")).await?;
        browser
            .press(&by("link", "Variation of an earlier task"))
            .await?;
        browser
            .wait_until_gone(&by("link", "Variation of an earlier task"))
            .await?;
        browser.wait_for_text(&studio.seeds()[0], TIMEOUT).await
    })
    .await;
}

/// Guards against a removal without Undo, and against a retry after which the failed task remains as a second row.
#[tokio::test(flavor = "multi_thread")]
async fn removed_task_can_be_restored_and_retry_adds_no_row() {
    let name = "removed_task_can_be_restored_and_retry_adds_no_row";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let refusal = Fault::Status {
            status: 400,
            retry_after: None,
        };
        studio.proxy.add(Rule::next(1, "/v2/generate", refusal));
        studio.type_prompt("once more").await?;
        browser.press(&by("button", "Generate")).await?;
        browser.press(&by("button", "Retry")).await?;
        browser.find(&by("button", "Run again")).await?;
        browser.wait_until_gone(&by("button", "Retry")).await?;
        browser.wait_for_text("Second attempt.", TIMEOUT).await?;

        studio.open(MODEL).await?;
        let at = browser.stop_clock().await?;
        browser.press_in_menu(&by("button", "Remove")).await?;
        browser.wait_until_gone(&by("button", "Run again")).await?;
        let stopped =
            format!("window.runningClock = window.Date.now; window.Date.now = () => {at};");
        studio.proxy.before_each_page(browser, &stopped).await?;
        // Undo also works after a reload.
        studio.open(MODEL).await?;
        browser.press(&by("button", "Undo")).await?;
        browser.start_clock().await?;
        browser.find(&by("button", "Run again")).await?;

        browser.press(&by("link", "Tasks")).await?;
        browser.wait_for_text("1 task", TIMEOUT).await?;
        let list = browser.find(&by("list", "Tasks")).await?;
        let rows = browser.find_all(&any("article").within(&list)).await?;
        assert_eq!(rows.len(), 1);
        // Remove does not apply to tasks that a filter hides.
        browser
            .fill(&by("searchbox", "Search tasks"), "nothing like it")
            .await?;
        browser.wait_for_text("0 tasks of 1", TIMEOUT).await?;
        browser
            .wait_until_gone(&starting("button", "Remove "))
            .await?;
        // The search also finds parameter values.
        let seed = studio.seeds().remove(0);
        browser
            .fill(&by("searchbox", "Search tasks"), &seed)
            .await?;
        browser.wait_for_text("1 task", TIMEOUT).await?;
        // The button names the number of tasks.
        browser
            .press(&by("button", "Clear 1 finished task"))
            .await?;
        until("no stored task", TIMEOUT, async || {
            Ok(match studio.stored_tasks().await? {
                0 => Seen::Yes(()),
                count => Seen::NotYet(count.to_string()),
            })
        })
        .await
    })
    .await;
}

/// Guards against a layout with one large variation and small thumbnails, and against images that shift each other
/// while they load.
#[tokio::test(flavor = "multi_thread")]
async fn variations_are_shown_in_equal_size_without_layout_shifts() {
    let name = "variations_are_shown_in_equal_size_without_layout_shifts";
    run_steps(name, &["--speed", "3"], async |studio| {
        let browser = studio.browser;
        browser.set_size(1440, 900).await?;
        studio.type_prompt("at a glance").await?;
        browser.press(&by("button", "Generate")).await?;
        let count = browser
            .find_with_limit(&by("combobox", "How many variations"), TIMEOUT)
            .await?;
        count.select_by_value("4").await?;
        browser.press(&by("button", "Vary")).await?;
        let keep = "
            const places = [...document.querySelectorAll('.together .variation')];
            window.places = places.map(place => place.getBoundingClientRect());
            return places.length";
        wait_for_value(browser, "places", keep, 4).await?;
        let compare = "
            const pictures = [...document.querySelectorAll('.together .picture > img')];
            const loaded = pictures.filter(picture => picture.naturalWidth).length;
            if (loaded !== 4) return `${loaded} pictures`;
            const now = pictures.map(picture => picture.getBoundingClientRect());
            const moved = now.flatMap((place, at) => ['left', 'top', 'right', 'bottom'].filter(
                side => Math.abs(place[side] - window.places[at][side]) > 2));
            const columns = new Set(now.map(place => Math.round(place.left))).size;
            return moved.length ? `moved: ${moved}` : `${columns} columns`";
        wait_for_value(browser, "four pictures", compare, "2 columns").await?;
        let result = browser.find(&by("region", "Result")).await?;
        browser.wait_for_text("Completed", TIMEOUT).await?;

        let hearts = by("button", "Favorite").within(&result);
        browser.find_all(&hearts).await?[2].click().await?;
        let large = by("button", "Show large").within(&result);
        browser.find_all(&large).await?[2].click().await?;
        let dialog = browser.find(&by("dialog", "Output")).await?;
        let heart = browser
            .find(&by("button", "Favorite").within(&dialog))
            .await?;
        assert_eq!(heart.attr("aria-pressed").await?.as_deref(), Some("true"));
        browser
            .press(&by("button", "Close").within(&dialog))
            .await?;

        // One press compares all of them.
        browser.press(&by("button", "Compare 4")).await?;
        let dialog = browser.find(&by("dialog", "Compare")).await?;
        let compared = "return document.querySelectorAll('.compared > li').length";
        wait_for_value(browser, "the compared outputs", compared, 4).await?;
        browser
            .press(&by("button", "Close").within(&dialog))
            .await?;

        // The previous result is listed below. Selecting it shows it alone; selecting a variation shows all
        // variations.
        let seen = "return document.querySelectorAll('.result > .task .picture > img').length";
        let other = by("button", "Show this one").within(&result);
        assert_eq!(browser.find_all(&other).await?.len(), 1);
        browser.press(&other).await?;
        wait_for_value(browser, "pictures", seen, 1).await?;
        let others = browser.find_all(&other).await?;
        assert_eq!(others.len(), 4);
        others[1].click().await?;
        wait_for_value(browser, "pictures", seen, 4).await
    })
    .await;
}
