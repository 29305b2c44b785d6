//! Failed items and lost responses.

use crate::studio::{
    BATCH, SINGLE, TIMEOUT, error, numbered_prompts, rate_limited, run_steps, run_until_settled,
    run_without_keys_until_settled,
};
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::wait::wait_for_value;
use std::time::Duration;

/// Guards against a retry of all items, at the full price, and against retried items that are added to the batch instead of
/// replacing the failed ones.
#[tokio::test(flavor = "multi_thread")]
async fn retry_replaces_only_the_failed_items() {
    let name = "retry_replaces_only_the_failed_items";
    run_until_settled(name, &["--speed", "0"], async |studio| {
        let mut prompts = numbered_prompts("mixed", 12);
        for at in [2, 5, 11] {
            prompts[at].push_str(" [fail]");
            studio.ledger.exempt_prompts.insert(prompts[at].clone());
        }
        let failing: Vec<String> = [2, 5, 11].map(|at| prompts[at].clone()).into();
        studio.send(&prompts).await?;
        studio.wait_for_counts("9 completed, 3 failed").await?;
        assert_eq!(studio.sent_prompts(), prompts);
        assert_eq!(studio.items_in_state("Failed").await?, [3, 6, 12]);

        studio.press("Retry 3 failed").await?;
        for prompt in &failing {
            studio.ledger.ask(prompt);
        }
        studio
            .sees("the three failed items again", |_| {
                studio.sent_prompts().len() >= 15
            })
            .await?;
        studio.wait_until_settled().await?;
        studio.wait_for_counts("9 completed, 3 failed").await?;
        let mut again = studio.sent_prompts().split_off(12);
        again.sort();
        assert_eq!(again, failing);
        assert_eq!(studio.call_sizes(), [10, 2, 3]);
        assert_eq!(studio.items().await?.len(), 12);
        assert_eq!(studio.items_in_state("Failed").await?, [3, 6, 12]);
        Ok(())
    })
    .await;
}

/// Guards against one invalid item that makes the other nine of its call fail.
#[tokio::test(flavor = "multi_thread")]
async fn items_of_a_refused_call_are_sent_singly_and_can_be_retried() {
    let name = "items_of_a_refused_call_are_sent_singly_and_can_be_retried";
    run_until_settled(name, &["--speed", "0"], async |studio| {
        studio.proxy.add(Rule::next(1, BATCH, error(400)));
        studio.proxy.add(Rule::next(2, SINGLE, error(422)));
        let prompts = numbered_prompts("apart", 8);
        studio.send(&prompts).await?;
        studio.wait_for_counts("6 completed, 2 failed").await?;
        assert_eq!(studio.items_in_state("Failed").await?, [1, 2]);
        studio.press("Retry 2 failed").await?;
        for prompt in &prompts[..2] {
            studio.ledger.ask(prompt);
        }
        studio.wait_for_counts("8 completed").await?;
        assert_eq!(studio.items().await?.len(), 8);
        // All in one call, then each in a call, then the two failed ones again.
        assert_eq!(studio.sent_prompts().len(), 8 + 8 + 2);
        Ok(())
    })
    .await;
}

/// Guards against a lost response that affects items of other calls, or after which items are sent again that may have been
/// billed.
#[tokio::test(flavor = "multi_thread")]
async fn a_lost_response_makes_only_the_items_of_its_call_unconfirmed() {
    let name = "a_lost_response_makes_only_the_items_of_its_call_unconfirmed";
    run_without_keys_until_settled(name, &["--speed", "0"], async |studio| {
        studio.allow_calls(1, BATCH);
        studio.proxy.add(Rule::next(1, BATCH, Fault::DropAfter));
        let prompts = numbered_prompts("lost", 25);
        studio.send(&prompts).await?;
        let lost: Vec<usize> = (11..=20).collect();
        studio
            .wait_for_counts("15 completed, 10 unconfirmed")
            .await?;
        assert_eq!(studio.items_in_state("Unconfirmed").await?, lost);
        studio.reload().await?;
        studio
            .wait_for_counts("15 completed, 10 unconfirmed")
            .await?;
        assert_eq!(studio.items_in_state("Unconfirmed").await?, lost);
        assert_eq!(studio.sent_prompts(), prompts, "something was sent again");

        studio
            .press_both("Resubmit unconfirmed", "Send them again")
            .await?;
        for prompt in &prompts[10..20] {
            studio.ledger.ask(prompt);
        }
        studio.wait_for_counts("25 completed").await?;
        let mut again = studio.sent_prompts().split_off(25);
        again.sort();
        assert_eq!(again, prompts[10..20]);
        assert_eq!(
            studio.call_sizes().last(),
            Some(&10),
            "not sent in one call"
        );
        Ok(())
    })
    .await;
}

/// Items without an entry in the reply become Unconfirmed. The others continue.
#[tokio::test(flavor = "multi_thread")]
async fn a_reply_with_missing_entries_makes_only_those_items_unconfirmed() {
    let name = "a_reply_with_missing_entries_makes_only_those_items_unconfirmed";
    run_without_keys_until_settled(name, &["--speed", "0"], async |studio| {
        let cut = Fault::CutBatch { keep: 7 };
        studio.proxy.add(Rule::next(1, BATCH, cut));
        let prompts = numbered_prompts("cut", 14);
        studio.send(&prompts).await?;
        studio
            .wait_for_counts("11 completed, 3 unconfirmed")
            .await?;
        assert_eq!(studio.items_in_state("Unconfirmed").await?, [8, 9, 10]);
        assert_eq!(studio.sent_prompts(), prompts);
        studio
            .press_both("Dismiss unconfirmed", "Dismiss them")
            .await?;
        for prompt in &prompts[7..10] {
            studio.ledger.exempt_prompts.insert(prompt.clone());
        }
        studio.wait_for_counts("11 completed, 3 removed").await
    })
    .await;
}

/// Guards against calls during a rate limit, and against a batch that stops at one. The ledger checks that no call is made
/// before `Retry-After`.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_continues_after_a_rate_limit() {
    let name = "a_batch_continues_after_a_rate_limit";
    run_until_settled(name, &["--speed", "0"], async |studio| {
        studio.allow_calls(1, BATCH);
        studio.proxy.add(Rule::next(1, BATCH, rate_limited(4)));
        let prompts = numbered_prompts("limited", 25);
        studio.send(&prompts).await?;
        studio.wait_for_counts("25 completed").await?;
        assert_eq!(studio.call_sizes(), [10, 10, 10, 5]);
        let calls = studio.generate_calls();
        let not_before = calls[1].not_before.ok_or("the call was not refused")?;
        assert!(
            calls[2].at >= not_before,
            "the next call was {:?} early",
            not_before - calls[2].at
        );
        assert!(not_before - calls[1].at > Duration::from_secs(3));
        Ok(())
    })
    .await;
}

/// Guards against `Sent: 2 items` above two refused items, and against an Explore button without outputs.
#[tokio::test(flavor = "multi_thread")]
async fn refused_items_are_not_shown_as_sent() {
    let name = "refused_items_are_not_shown_as_sent";
    run_steps(name, &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.proxy.add(Rule::every("/v2/*", error(422)));
        studio.send(&numbered_prompts("refused", 2)).await?;
        studio.wait_for_counts("2 failed").await?;
        let shown = "
            const texts = [...document.querySelectorAll('.answer, .run-controls button')];
            return texts.filter(it => it.checkVisibility()).map(it => it.innerText.trim()).filter(it => it).join()";
        let expected = "Retry 2 failed,Edit and run again,Remove batch";
        wait_for_value(browser, "messages and buttons", shown, expected).await
    })
    .await;
}

/// Guards against rows that fail one by one with the same message once the balance is empty.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_without_credit_pauses_until_it_is_resumed() {
    let name = "a_batch_without_credit_pauses_until_it_is_resumed";
    run_until_settled(name, &["--speed", "0"], async |studio| {
        studio.allow_calls(1, BATCH);
        studio.proxy.add(Rule::next(1, BATCH, error(402)));
        let prompts = numbered_prompts("paid", 25);
        studio.send(&prompts).await?;
        let text = "Paused: 15 items not accepted yet. The service refused (HTTP 402).";
        studio.browser.wait_for_text(text, TIMEOUT).await?;
        studio.wait_for_counts("10 completed, 15 queued").await?;
        studio.press("Resume").await?;
        studio.wait_for_counts("25 completed").await?;
        assert_eq!(studio.call_sizes(), [10, 10, 10, 5]);
        Ok(())
    })
    .await;
}
