//! Every press is a task, or is answered.

use crate::studio::{MODEL, TIMEOUT, play};
use atelier_end_to_end::fault::{Fault, RetryAfter, Rule};
use atelier_end_to_end::find::{by, containing};
use std::time::Duration;

/// Guards against a guard that takes another input for a double click: nine of twelve presses were
/// swallowed.
#[tokio::test(flavor = "multi_thread")]
async fn twelve_prompts_one_every_150_ms_are_twelve_tasks() {
    let name = "twelve_prompts_one_every_150_ms";
    play(name, &["--speed", "0"], async |studio| {
        let presses = "
            for (let n = 0; n < 12; n += 1) {
                type(`another ${n}`);
                button('Generate').click();
                await pause(150);
            }";
        studio.hand(presses).await?;
        studio.sees_sent(12).await?;
        // They leave side by side, and may overtake each other.
        let mut sent = studio.prompts_sent();
        sent.sort();
        let mut wanted: Vec<String> = (0..12).map(|n| format!("another {n}")).collect();
        wanted.sort();
        assert_eq!(sent, wanted);
        assert_eq!(studio.stored_tasks().await?, 12);
        Ok(())
    })
    .await;
}

/// Guards against a double click that is paid twice, and against one that is not answered.
#[tokio::test(flavor = "multi_thread")]
async fn a_double_click_is_one_task_and_is_told_so() {
    let name = "a_double_click_is_one_task";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.stop_clock().await?;
        // Guards against words that promise what the next press does not do.
        let state = "
            const button = [...document.querySelectorAll('form button')]
                .find(each => each.innerText.trim() === 'Generate');
            const said = [...document.querySelectorAll('form [role=status]')]
                .map(each => each.innerText.trim()).find(text => text.startsWith('Sent.'));
            return [button.getAttribute('aria-disabled'), said ?? null]";
        let twice = "type('once'); await pause(50); await twice('Generate', 120); await pause(0);";
        let at_once = studio
            .hand(&format!("{twice} return (() => {{ {state} }})()"))
            .await?;
        assert_eq!(at_once, serde_json::json!(["true", "Sent."]));
        studio.advance_clock(Duration::from_secs(1)).await?;
        browser
            .see_text("Sent once. Press again for another one.", TIMEOUT)
            .await?;
        let then = browser.run(state, vec![]).await?;
        assert_eq!(then[0], serde_json::Value::Null);
        studio.sees_sent(1).await?;
        assert_eq!(studio.stored_tasks().await?, 1);
        // Assistive technology hears it, too.
        let live = "
            return [...document.querySelectorAll('form [role=status]')]
                .map(each => each.innerText.trim()).filter(text => text.startsWith('Sent once.')).length";
        assert_eq!(browser.run(live, vec![]).await?.as_u64(), Some(1));
        // Meant as it was said.
        studio
            .hand("await pause(900); button('Generate').click();")
            .await?;
        studio.sees_sent(2).await?;
        assert_eq!(studio.prompts_sent(), ["once", "once"]);
        Ok(())
    })
    .await;
}

/// Guards against a press of Generate that meets nothing: what said that the service wants fewer calls moved all of
/// the page as it came and as it went.
#[tokio::test(flavor = "multi_thread")]
async fn what_holds_calls_up_moves_nothing() {
    let name = "what_holds_calls_up_moves_nothing";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.stop_clock().await?;
        let place = "return button('Generate').getBoundingClientRect().y";
        studio.type_prompt("one").await?;
        // With the typeface that comes late.
        browser.settled().await?;
        let before = studio.hand(place).await?;
        let refusal = Fault::Status {
            status: 429,
            retry_after: Some(RetryAfter::Seconds(10)),
        };
        let rule = Rule::next(1, "/v2/generate*", refusal);
        studio.proxy.add(rule);
        browser.press(&by("button", "Generate")).await?;
        browser.see_text("Rate-limited", TIMEOUT).await?;
        assert_eq!(studio.hand(place).await?, before, "as it came");
        studio.advance_clock(Duration::from_secs(10)).await?;
        browser.start_clock().await?;
        browser
            .find_for(&by("button", "Run again"), TIMEOUT)
            .await?;
        assert_eq!(studio.hand(place).await?, before, "as it went");
        Ok(())
    })
    .await;
}

/// Guards against a double click on Run again whose second half hides or cancels what its first half has sent.
#[tokio::test(flavor = "multi_thread")]
async fn a_double_click_on_run_again_leaves_the_new_task_in_sight() {
    let name = "a_double_click_on_run_again";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.type_prompt("once").await?;
        browser.press(&by("button", "Generate")).await?;
        let again = by("button", "Run again");
        browser.find_for(&again, TIMEOUT).await?;
        // Its status is not asked for while the clock stands.
        studio.stop_clock().await?;
        let twice = "
            const again = button('Run again');
            const { x, y, width, height } = again.getBoundingClientRect();
            const there = () => document.elementFromPoint(x + width / 2, y + height / 2).closest('button');
            const stops = () => ['Hide (keeps running)', 'Cancel'].includes(there()?.innerText.trim());
            again.click();
            while (!stops()) await pause(10);
            there().click();";
        studio.hand(twice).await?;
        browser.see_text("Sent once.", TIMEOUT).await?;
        browser.start_clock().await?;
        browser.find_for(&again, TIMEOUT).await?;
        studio.sees_sent(2).await?;
        assert_eq!(studio.stored_tasks().await?, 2);
        Ok(())
    })
    .await;
}

/// Guards against a double click on Retry that is paid twice.
#[tokio::test(flavor = "multi_thread")]
async fn a_double_click_on_retry_is_one_task_and_is_told_so() {
    let name = "a_double_click_on_retry";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        let refusal = Fault::Status {
            status: 400,
            retry_after: None,
        };
        studio.stop_clock().await?;
        studio.proxy.add(Rule::next(1, "/v2/generate", refusal));
        studio.type_prompt("refused").await?;
        browser.press(&by("button", "Generate")).await?;
        browser.find(&by("button", "Retry")).await?;
        studio.hand("await twice('Retry', 120);").await?;
        browser.see_text("Second attempt.", TIMEOUT).await?;
        browser.start_clock().await?;
        studio.sees_sent(2).await?;
        browser.see_text("Completed", TIMEOUT).await?;
        assert_eq!(studio.stored_tasks().await?, 2, "paid twice, or removed");
        assert_eq!(studio.prompts_sent().len(), 2);
        Ok(())
    })
    .await;
}

/// Guards against the second half of a double click on Resubmit, which met the Cancel that had taken
/// its place.
#[tokio::test(flavor = "multi_thread")]
async fn a_double_click_on_resubmit_sends_once_and_takes_nothing_back() {
    let name = "a_double_click_on_resubmit";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        // With a key the lost answer would settle itself.
        studio.proxy.hide_keys();
        studio.proxy.control_clock(browser).await?;
        studio.open(MODEL).await?;
        studio
            .proxy
            .add(Rule::next(1, "/v2/generate", Fault::DropAfter));
        studio.type_prompt("unanswered").await?;
        browser.press(&by("button", "Generate")).await?;
        browser.find(&by("button", "Resubmit")).await?;
        let before = studio.prompts_sent().len();
        // Held up, it stays Queued for long enough to be taken back.
        studio.proxy.add(Rule::every("/v2/generate", Fault::Hold));
        browser.stop_clock().await?;
        studio.hand("await twice('Resubmit', 120);").await?;
        browser.see_text("Sent again", TIMEOUT).await?;
        assert_eq!(studio.stored_tasks().await?, 1, "taken back");
        studio.proxy.clear();
        browser.start_clock().await?;
        browser.see_text("Completed", TIMEOUT).await?;
        assert_eq!(studio.prompts_sent().len(), before + 1);
        Ok(())
    })
    .await;
}

/// Guards against a double click on `Generate N` that is paid twice, or of which nothing is said.
#[tokio::test(flavor = "multi_thread")]
async fn a_double_click_on_generate_many_is_one_batch_and_is_told_so() {
    let name = "a_double_click_on_generate_many";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.stop_clock().await?;
        browser.press(&by("radio", "Batch")).await?;
        browser
            .paste(&by("textbox", "Prompts"), "one\ntwo\nthree")
            .await?;
        browser.find(&by("button", "Generate 3")).await?;
        studio.hand("await twice('Generate 3', 120);").await?;
        browser
            .see_text("Sent: 3 items in 1 call.", TIMEOUT)
            .await?;
        browser.start_clock().await?;
        studio.sees_sent(3).await?;
        browser.see_text("3 completed", TIMEOUT).await?;
        assert_eq!(studio.prompts_sent(), ["one", "two", "three"]);
        assert_eq!(studio.stored_tasks().await?, 3);
        Ok(())
    })
    .await;
}

/// Guards against a double click on `Retry N failed` that is paid twice, or that meets the button
/// which has taken its place.
#[tokio::test(flavor = "multi_thread")]
async fn a_double_click_on_retry_failed_is_one_retry_and_is_told_so() {
    let name = "a_double_click_on_retry_failed";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.proxy.control_clock(browser).await?;
        studio.open(MODEL).await?;
        browser.press(&by("radio", "Batch")).await?;
        let prompts = ["one [fail]", "two [fail]"];
        browser
            .paste(&by("textbox", "Prompts"), &prompts.join("\n"))
            .await?;
        browser.press(&by("button", "Generate 2")).await?;
        browser.find(&by("button", "Retry 2 failed")).await?;
        browser.stop_clock().await?;
        studio.hand("await twice('Retry 2 failed', 120);").await?;
        browser.see_text("Sent again: 2 items.", TIMEOUT).await?;
        browser.start_clock().await?;
        studio.sees_sent(4).await?;
        // Nothing was put into the table by the second press.
        browser.find(&by("button", "Generate")).await?;
        browser.find(&by("button", "Retry 2 failed")).await?;
        assert_eq!(studio.prompts_sent(), [prompts, prompts].concat());
        Ok(())
    })
    .await;
}

/// Guards against a double click on Remove that removes two: the task before takes the place of what is gone, and its
/// button that of what was pressed.
#[tokio::test(flavor = "multi_thread")]
async fn a_double_click_on_remove_removes_one() {
    let name = "a_double_click_on_remove";
    play(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.proxy.control_clock(browser).await?;
        studio.open(MODEL).await?;
        for prompt in ["one [fail]", "two [fail]"] {
            studio.type_prompt(prompt).await?;
            browser.press(&by("button", "Generate")).await?;
            let task = browser.find(&containing("article", prompt)).await?;
            let remove = by("button", "Remove").within(&task);
            browser.find_for(&remove, TIMEOUT).await?;
        }
        browser.stop_clock().await?;
        studio.hand("await twice('Remove', 150);").await?;
        browser.see_text("Removed 1 task.", TIMEOUT).await?;
        let left = browser.find(&containing("article", "one [fail]")).await?;
        browser.find(&by("button", "Retry").within(&left)).await?;
        Ok(())
    })
    .await;
}
