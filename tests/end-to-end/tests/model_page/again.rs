//! A result can be made again, varied and removed, and whatever is pressed does what it says.

use crate::studio::{MODEL, TIMEOUT, play};
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::find::{any, by, starting};
use atelier_end_to_end::wait::{Seen, becomes, until};
use std::collections::HashSet;
use std::time::Duration;

/// Guards against a result that can't be made again, because the service alone knew its seed, and
/// against a "Run again" that ran nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_seed_is_drawn_sent_and_shown_and_running_again_draws_another() {
    let name = "a_seed_is_drawn_sent_and_shown";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.type_prompt("lucky").await?;
        browser.press(&by("button", "Generate")).await?;
        browser.find(&by("button", "Run again")).await?;
        let seed = studio.seeds().remove(0);
        assert!(seed.parse::<u64>().is_ok(), "no seed was sent: {seed}");
        browser.see_text(&seed, TIMEOUT).await?;

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
        // What is fixed is said, and let go at a press.
        browser
            .see_text(&format!("Seed {seed} fixed"), TIMEOUT)
            .await?;
        browser.press(&by("button", "New seed each time")).await?;
        let left = browser.find(&field).await?.prop("value").await?;
        assert_eq!(left.as_deref(), Some(""));

        browser.press(&by("button", "Run again")).await?;
        studio.sees_sent(2).await?;
        assert_eq!(studio.prompts_sent(), ["lucky", "lucky"]);
        assert_ne!(studio.seeds()[1], seed);
        Ok(())
    })
    .await;
}

/// Guards against variations that cost a second press, and against variations of which the page does not say what they
/// are of.
#[tokio::test(flavor = "multi_thread")]
async fn variations_are_the_same_input_with_other_seeds() {
    let name = "variations_are_the_same_input";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.type_prompt("varied").await?;
        browser.press(&by("button", "Generate")).await?;
        let count = browser.find(&by("combobox", "How many variations")).await?;
        count.select_by_value("3").await?;
        studio.hand("await twice('Vary', 120);").await?;
        studio.sees_sent(4).await?;
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(studio.prompts_sent(), ["varied"; 4]);
        let seeds: HashSet<String> = studio.seeds().into_iter().collect();
        assert_eq!(seeds.len(), 4, "{seeds:?}");

        browser.press(&by("link", "Tasks")).await?;
        browser
            .see_text("4 tasks (3 grouped in batches)", TIMEOUT)
            .await?;
        browser.find(&by("link", "3 variations of varied")).await?;
        browser.press(&starting("link", "Item 2: varied")).await?;
        // Each has the others next to it.
        browser.find(&by("link", "Variation 2")).await?;
        let siblings = browser.find(&by("navigation", "Variations")).await?;
        let sibling = starting("link", "Variation 3, ").within(&siblings);
        browser.press(&sibling).await?;
        browser.find(&by("link", "Variation 3")).await?;
        browser
            .press(&by("link", "Variation of an earlier task"))
            .await?;
        browser
            .find_gone(&by("link", "Variation of an earlier task"))
            .await?;
        browser.see_text(&studio.seeds()[0], TIMEOUT).await
    })
    .await;
}

/// Guards against a removal without a way back, and against a dead twin next to what is sent again.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_removed_can_be_had_back_and_a_retry_is_one_row() {
    let name = "what_is_removed_can_be_had_back";
    play(name, &["--speed", "0"], async |studio| {
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
        browser.find_gone(&by("button", "Retry")).await?;
        browser.see_text("Second attempt.", TIMEOUT).await?;

        studio.open(MODEL).await?;
        let at = browser.stop_clock().await?;
        browser.press_in_menu(&by("button", "Remove")).await?;
        browser.find_gone(&by("button", "Run again")).await?;
        let stopped =
            format!("window.runningClock = window.Date.now; window.Date.now = () => {at};");
        studio.proxy.before_each_page(browser, &stopped).await?;
        // A reload in between changes nothing.
        studio.open(MODEL).await?;
        browser.press(&by("button", "Undo")).await?;
        browser.start_clock().await?;
        browser.find(&by("button", "Run again")).await?;

        browser.press(&by("link", "Tasks")).await?;
        browser.see_text("1 task", TIMEOUT).await?;
        let list = browser.find(&by("list", "Tasks")).await?;
        let rows = browser.find_all(&any("article").within(&list)).await?;
        assert_eq!(rows.len(), 1);
        // What a filter hides is left alone.
        browser
            .fill(&by("searchbox", "Search tasks"), "nothing like it")
            .await?;
        browser.see_text("0 tasks of 1", TIMEOUT).await?;
        browser.find_gone(&starting("button", "Remove ")).await?;
        // Found by a value.
        let seed = studio.seeds().remove(0);
        browser
            .fill(&by("searchbox", "Search tasks"), &seed)
            .await?;
        browser.see_text("1 task", TIMEOUT).await?;
        // Guards against a press that does not say how much it takes away.
        browser
            .press(&by("button", "Clear 1 finished task"))
            .await?;
        until("nothing left of it", TIMEOUT, async || {
            Ok(match studio.stored_tasks().await? {
                0 => Seen::Yes(()),
                count => Seen::NotYet(count.to_string()),
            })
        })
        .await
    })
    .await;
}

/// Guards against variations of which one is large and the others are stamps below it, and against pictures that push
/// each other about as they come.
#[tokio::test(flavor = "multi_thread")]
async fn variations_are_judged_at_a_glance() {
    let name = "variations_are_judged";
    play(name, &["--speed", "3"], async |studio| {
        let browser = studio.browser;
        browser.set_size(1440, 900).await?;
        studio.type_prompt("at a glance").await?;
        browser.press(&by("button", "Generate")).await?;
        let count = browser
            .find_for(&by("combobox", "How many variations"), TIMEOUT)
            .await?;
        count.select_by_value("4").await?;
        browser.press(&by("button", "Vary")).await?;
        let keep = "
            const places = [...document.querySelectorAll('.together .variation')];
            window.kept = places.map(place => place.getBoundingClientRect());
            return places.length";
        becomes(browser, "places", keep, 4).await?;
        let compare = "
            const pictures = [...document.querySelectorAll('.together .picture > img')];
            const there = pictures.filter(picture => picture.naturalWidth).length;
            if (there !== 4) return `${there} pictures`;
            const now = pictures.map(picture => picture.getBoundingClientRect());
            const moved = now.flatMap((place, at) => ['left', 'top', 'right', 'bottom'].filter(
                side => Math.abs(place[side] - window.kept[at][side]) > 2));
            const columns = new Set(now.map(place => Math.round(place.left))).size;
            return moved.length ? `moved: ${moved}` : `${columns} columns`";
        becomes(browser, "four pictures", compare, "2 columns").await?;
        let result = browser.find(&by("region", "Result")).await?;
        browser.see_text("Completed", TIMEOUT).await?;

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

        // And compared with one press.
        browser.press(&by("button", "Compare 4")).await?;
        let dialog = browser.find(&by("dialog", "Compare")).await?;
        let compared = "return document.querySelectorAll('.compared > li').length";
        becomes(browser, "what is compared", compared, 4).await?;
        browser
            .press(&by("button", "Close").within(&dialog))
            .await?;

        // What came before is below them, and alone again at a press; one of them brings back all.
        let seen = "return document.querySelectorAll('.result > .task .picture > img').length";
        let other = by("button", "Show this one").within(&result);
        assert_eq!(browser.find_all(&other).await?.len(), 1);
        browser.press(&other).await?;
        becomes(browser, "pictures", seen, 1).await?;
        let others = browser.find_all(&other).await?;
        assert_eq!(others.len(), 4);
        others[1].click().await?;
        becomes(browser, "pictures", seen, 4).await
    })
    .await;
}
