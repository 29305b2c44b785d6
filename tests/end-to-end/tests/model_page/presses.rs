//! Tests of presses and double clicks: each creates a task or shows a notice.

use crate::studio::{MODEL, TIMEOUT, run_steps};
use atelier_end_to_end::fault::{Fault, RetryAfter, Rule};
use atelier_end_to_end::find::{by, containing};
use std::time::Duration;

/// Guards against double-click protection that drops presses with different input. It once dropped nine of twelve.
#[tokio::test(flavor = "multi_thread")]
async fn twelve_prompts_150_ms_apart_create_twelve_tasks() {
    let name = "twelve_prompts_150_ms_apart_create_twelve_tasks";
    run_steps(name, &["--speed", "0"], async |studio| {
        let presses = "
            for (let n = 0; n < 12; n += 1) {
                type(`another ${n}`);
                button('Generate').click();
                await pause(150);
            }";
        studio.run_script(presses).await?;
        studio.wait_for_sent(12).await?;
        // The calls are sent concurrently, in any order.
        let mut sent = studio.sent_prompts();
        sent.sort();
        let mut expected: Vec<String> = (0..12).map(|n| format!("another {n}")).collect();
        expected.sort();
        assert_eq!(sent, expected);
        assert_eq!(studio.stored_tasks().await?, 12);
        Ok(())
    })
    .await;
}

/// Guards against a double click that sends twice, and against one without a notice.
#[tokio::test(flavor = "multi_thread")]
async fn double_click_on_generate_creates_one_task_with_notice() {
    let name = "double_click_on_generate_creates_one_task_with_notice";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.stop_clock().await?;
        // The notice must not promise another task while the button is disabled.
        let state = "
            const button = [...document.querySelectorAll('form button')]
                .find(each => each.innerText.trim() === 'Generate');
            const notice = [...document.querySelectorAll('form [role=status]')]
                .map(each => each.innerText.trim()).find(text => text.startsWith('Sent.'));
            return [button.getAttribute('aria-disabled'), notice ?? null]";
        let twice = "type('once'); await pause(50); await twice('Generate', 120); await pause(0);";
        let at_once = studio
            .run_script(&format!("{twice} return (() => {{ {state} }})()"))
            .await?;
        assert_eq!(at_once, serde_json::json!(["true", "Sent."]));
        studio.advance_clock(Duration::from_secs(1)).await?;
        browser
            .wait_for_text("Sent once. Press again for another one.", TIMEOUT)
            .await?;
        let then = browser.run(state, vec![]).await?;
        assert_eq!(then[0], serde_json::Value::Null);
        studio.wait_for_sent(1).await?;
        assert_eq!(studio.stored_tasks().await?, 1);
        // The notice is in a live region.
        let live = "
            return [...document.querySelectorAll('form [role=status]')]
                .map(each => each.innerText.trim()).filter(text => text.startsWith('Sent once.')).length";
        assert_eq!(browser.run(live, vec![]).await?.as_u64(), Some(1));
        // Another press then creates another task.
        studio
            .run_script("await pause(900); button('Generate').click();")
            .await?;
        studio.wait_for_sent(2).await?;
        assert_eq!(studio.sent_prompts(), ["once", "once"]);
        Ok(())
    })
    .await;
}

/// Guards against a press that misses Generate because the rate-limit notice moved the page when it appeared or
/// disappeared.
#[tokio::test(flavor = "multi_thread")]
async fn rate_limit_notice_causes_no_layout_shift() {
    let name = "rate_limit_notice_causes_no_layout_shift";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.stop_clock().await?;
        let place = "return button('Generate').getBoundingClientRect().y";
        studio.type_prompt("one").await?;
        // Waits for the web font.
        browser.wait_until_settled().await?;
        let before = studio.run_script(place).await?;
        let refusal = Fault::Status {
            status: 429,
            retry_after: Some(RetryAfter::Seconds(10)),
        };
        let rule = Rule::next(1, "/v2/generate*", refusal);
        studio.proxy.add(rule);
        browser.press(&by("button", "Generate")).await?;
        browser.wait_for_text("Rate-limited", TIMEOUT).await?;
        assert_eq!(
            studio.run_script(place).await?,
            before,
            "when the notice appears"
        );
        studio.advance_clock(Duration::from_secs(10)).await?;
        browser.start_clock().await?;
        browser
            .find_with_limit(&by("button", "Run again"), TIMEOUT)
            .await?;
        assert_eq!(
            studio.run_script(place).await?,
            before,
            "when the notice disappears"
        );
        Ok(())
    })
    .await;
}

/// Guards against a double click on Run again whose second click hides or cancels the new task.
#[tokio::test(flavor = "multi_thread")]
async fn double_click_on_run_again_keeps_new_task() {
    let name = "double_click_on_run_again_keeps_new_task";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.type_prompt("once").await?;
        browser.press(&by("button", "Generate")).await?;
        let again = by("button", "Run again");
        browser.find_with_limit(&again, TIMEOUT).await?;
        // The page does not poll while the clock is stopped.
        studio.stop_clock().await?;
        let twice = "
            const again = button('Run again');
            const { x, y, width, height } = again.getBoundingClientRect();
            const target = () => document.elementFromPoint(x + width / 2, y + height / 2).closest('button');
            const stops = () => ['Hide (keeps running)', 'Cancel'].includes(target()?.innerText.trim());
            again.click();
            // The clock moves by less than the interval of a double click, however long the page takes.
            const yields = () => new Promise(done => setTimeout(done, 5));
            for (let step = 0; !stops(); step += 1) await (step < 30 ? pause(10) : yields());
            target().click();";
        studio.run_script(twice).await?;
        browser.wait_for_text("Sent once.", TIMEOUT).await?;
        browser.start_clock().await?;
        browser.find_with_limit(&again, TIMEOUT).await?;
        studio.wait_for_sent(2).await?;
        assert_eq!(studio.stored_tasks().await?, 2);
        Ok(())
    })
    .await;
}

/// Guards against a double click on Retry that sends twice.
#[tokio::test(flavor = "multi_thread")]
async fn double_click_on_retry_creates_one_task_with_notice() {
    let name = "double_click_on_retry_creates_one_task_with_notice";
    run_steps(name, &["--speed", "0"], async |studio| {
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
        studio.run_script("await twice('Retry', 120);").await?;
        browser.wait_for_text("Second attempt.", TIMEOUT).await?;
        browser.start_clock().await?;
        studio.wait_for_sent(2).await?;
        browser.wait_for_text("Completed", TIMEOUT).await?;
        assert_eq!(studio.stored_tasks().await?, 2, "sent twice, or removed");
        assert_eq!(studio.sent_prompts().len(), 2);
        Ok(())
    })
    .await;
}

/// Guards against a double click on Resubmit whose second click presses the Cancel button that replaced it.
#[tokio::test(flavor = "multi_thread")]
async fn double_click_on_resubmit_sends_once_and_cancels_nothing() {
    let name = "double_click_on_resubmit_sends_once_and_cancels_nothing";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        // With an idempotency key, the page would resend the call by itself.
        studio.proxy.hide_idempotency_keys();
        studio.proxy.control_clock(browser).await?;
        studio.open(MODEL).await?;
        studio
            .proxy
            .add(Rule::next(1, "/v2/generate", Fault::DropAfter));
        studio.type_prompt("unanswered").await?;
        browser.press(&by("button", "Generate")).await?;
        browser.find(&by("button", "Resubmit")).await?;
        let before = studio.sent_prompts().len();
        // While the call is held, the task stays Queued, so that it could be cancelled.
        studio.proxy.add(Rule::every("/v2/generate", Fault::Hold));
        browser.stop_clock().await?;
        studio.run_script("await twice('Resubmit', 120);").await?;
        browser.wait_for_text("Sent again", TIMEOUT).await?;
        assert_eq!(studio.stored_tasks().await?, 1, "cancelled");
        studio.proxy.clear();
        browser.start_clock().await?;
        browser.wait_for_text("Completed", TIMEOUT).await?;
        assert_eq!(studio.sent_prompts().len(), before + 1);
        Ok(())
    })
    .await;
}

/// Guards against a double click on `Generate N` that sends twice, or shows no notice.
#[tokio::test(flavor = "multi_thread")]
async fn double_click_on_generate_many_creates_one_batch_with_notice() {
    let name = "double_click_on_generate_many_creates_one_batch_with_notice";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.stop_clock().await?;
        browser.press(&by("radio", "Batch")).await?;
        browser
            .paste(&by("textbox", "Prompts"), "one\ntwo\nthree")
            .await?;
        browser.find(&by("button", "Generate 3")).await?;
        studio.run_script("await twice('Generate 3', 120);").await?;
        browser
            .wait_for_text("Sent: 3 items in 1 call.", TIMEOUT)
            .await?;
        browser.start_clock().await?;
        studio.wait_for_sent(3).await?;
        browser.wait_for_text("3 completed", TIMEOUT).await?;
        assert_eq!(studio.sent_prompts(), ["one", "two", "three"]);
        assert_eq!(studio.stored_tasks().await?, 3);
        Ok(())
    })
    .await;
}

/// Guards against a double click on `Retry N failed` that sends twice, or presses the button that replaced it.
#[tokio::test(flavor = "multi_thread")]
async fn double_click_on_retry_failed_retries_once_with_notice() {
    let name = "double_click_on_retry_failed_retries_once_with_notice";
    run_steps(name, &["--speed", "0"], async |studio| {
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
        studio
            .run_script("await twice('Retry 2 failed', 120);")
            .await?;
        browser
            .wait_for_text("Sent again: 2 items.", TIMEOUT)
            .await?;
        browser.start_clock().await?;
        studio.wait_for_sent(4).await?;
        // The second click added nothing to the table.
        browser.find(&by("button", "Generate")).await?;
        browser.find(&by("button", "Retry 2 failed")).await?;
        assert_eq!(studio.sent_prompts(), [prompts, prompts].concat());
        Ok(())
    })
    .await;
}

/// Guards against a double click on Remove that removes two tasks: the previous task moves up, with its Remove button
/// under the pointer.
#[tokio::test(flavor = "multi_thread")]
async fn double_click_on_remove_removes_one_task() {
    let name = "double_click_on_remove_removes_one_task";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.proxy.control_clock(browser).await?;
        studio.open(MODEL).await?;
        for prompt in ["one [fail]", "two [fail]"] {
            studio.type_prompt(prompt).await?;
            browser.press(&by("button", "Generate")).await?;
            let task = browser.find(&containing("article", prompt)).await?;
            let remove = by("button", "Remove").within(&task);
            browser.find_with_limit(&remove, TIMEOUT).await?;
        }
        browser.stop_clock().await?;
        studio.run_script("await twice('Remove', 150);").await?;
        browser.wait_for_text("Removed 1 task.", TIMEOUT).await?;
        let left = browser.find(&containing("article", "one [fail]")).await?;
        browser.find(&by("button", "Retry").within(&left)).await?;
        Ok(())
    })
    .await;
}
