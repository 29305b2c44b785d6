//! Items that come to nothing, and answers that do not come.

use crate::studio::{
    BATCH, SINGLE, TIMEOUT, come_back_in, error, numbered, play, play_without_keys, visit,
};
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::wait::becomes;
use std::time::Duration;

/// Guards against a retry of everything, which costs as much again, and against items that are
/// added to the batch instead of taking the place of those that failed.
#[tokio::test(flavor = "multi_thread")]
async fn only_what_failed_is_retried_and_in_its_place() {
    let name = "only_what_failed_is_retried";
    play(name, &["--speed", "0"], async |studio| {
        let mut prompts = numbered("mixed", 12);
        for at in [2, 5, 11] {
            prompts[at].push_str(" [fail]");
            studio.ledger.given_up.insert(prompts[at].clone());
        }
        let failing: Vec<String> = [2, 5, 11].map(|at| prompts[at].clone()).into();
        studio.send(&prompts).await?;
        studio.see_counts("9 completed, 3 failed").await?;
        assert_eq!(studio.prompts_sent(), prompts);
        assert_eq!(studio.in_state("Failed").await?, [3, 6, 12]);

        studio.press("Retry 3 failed").await?;
        for prompt in &failing {
            studio.ledger.ask(prompt);
        }
        studio
            .sees("the three to be sent again", |_| {
                studio.prompts_sent().len() >= 15
            })
            .await?;
        studio.settled().await?;
        studio.see_counts("9 completed, 3 failed").await?;
        let mut again = studio.prompts_sent().split_off(12);
        again.sort();
        assert_eq!(again, failing);
        assert_eq!(studio.sizes(), [10, 2, 3]);
        assert_eq!(studio.items().await?.len(), 12);
        assert_eq!(studio.in_state("Failed").await?, [3, 6, 12]);
        Ok(())
    })
    .await;
}

/// Guards against one bad item that takes the nine next to it with it.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_call_is_taken_apart_and_a_retry_completes_it() {
    let name = "a_refused_call_is_taken_apart";
    play(name, &["--speed", "0"], async |studio| {
        studio.proxy.add(Rule::next(1, BATCH, error(400)));
        studio.proxy.add(Rule::next(2, SINGLE, error(422)));
        let prompts = numbered("apart", 8);
        studio.send(&prompts).await?;
        studio.see_counts("6 completed, 2 failed").await?;
        assert_eq!(studio.in_state("Failed").await?, [1, 2]);
        studio.press("Retry 2 failed").await?;
        for prompt in &prompts[..2] {
            studio.ledger.ask(prompt);
        }
        studio.see_counts("8 completed").await?;
        assert_eq!(studio.items().await?.len(), 8);
        // All at once, all singly, the two once more.
        assert_eq!(studio.prompts_sent().len(), 8 + 8 + 2);
        Ok(())
    })
    .await;
}

/// Guards against a lost answer that is laid to other calls' items, or mended by sending again what
/// may have been billed.
#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_leaves_exactly_its_calls_items_to_a_person() {
    let name = "a_lost_answer_of_a_batch";
    play_without_keys(name, &["--speed", "0"], async |studio| {
        studio.let_pass(1, BATCH);
        studio.proxy.add(Rule::next(1, BATCH, Fault::DropAfter));
        let prompts = numbered("lost", 25);
        studio.send(&prompts).await?;
        let lost: Vec<usize> = (11..=20).collect();
        studio.see_counts("15 completed, 10 unconfirmed").await?;
        assert_eq!(studio.in_state("Unconfirmed").await?, lost);
        studio.reload().await?;
        studio.see_counts("15 completed, 10 unconfirmed").await?;
        assert_eq!(studio.in_state("Unconfirmed").await?, lost);
        assert_eq!(studio.prompts_sent(), prompts, "something was sent again");

        studio
            .press_both("Resubmit unconfirmed", "Send them again")
            .await?;
        for prompt in &prompts[10..20] {
            studio.ledger.ask(prompt);
        }
        studio.see_counts("25 completed").await?;
        let mut again = studio.prompts_sent().split_off(25);
        again.sort();
        assert_eq!(again, prompts[10..20]);
        assert_eq!(studio.sizes().last(), Some(&10), "they left apart");
        Ok(())
    })
    .await;
}

/// A reply with fewer entries leaves those without one to a person; the others go on.
#[tokio::test(flavor = "multi_thread")]
async fn a_cut_reply_leaves_only_the_items_it_says_nothing_of() {
    let name = "a_cut_reply";
    play_without_keys(name, &["--speed", "0"], async |studio| {
        let cut = Fault::CutBatch { keep: 7 };
        studio.proxy.add(Rule::next(1, BATCH, cut));
        let prompts = numbered("cut", 14);
        studio.send(&prompts).await?;
        studio.see_counts("11 completed, 3 unconfirmed").await?;
        assert_eq!(studio.in_state("Unconfirmed").await?, [8, 9, 10]);
        assert_eq!(studio.prompts_sent(), prompts);
        studio
            .press_both("Dismiss unconfirmed", "Dismiss them")
            .await?;
        for prompt in &prompts[7..10] {
            studio.ledger.given_up.insert(prompt.clone());
        }
        studio.see_counts("11 completed, 3 removed").await
    })
    .await;
}

/// Guards against calls that go on into a rate limit, and against a batch that gives up at one.
/// That none is early, the ledger says.
#[tokio::test(flavor = "multi_thread")]
async fn a_rate_limit_in_the_middle_is_waited_for() {
    let name = "a_rate_limit_in_the_middle";
    play(name, &["--speed", "0"], async |studio| {
        studio.let_pass(1, BATCH);
        studio.proxy.add(Rule::next(1, BATCH, come_back_in(4)));
        let prompts = numbered("limited", 25);
        studio.send(&prompts).await?;
        studio.see_counts("25 completed").await?;
        assert_eq!(studio.sizes(), [10, 10, 10, 5]);
        let calls = studio.generate_calls();
        let over = calls[1].not_before.ok_or("the limit was not met")?;
        assert!(
            calls[2].at >= over,
            "it came {:?} early",
            over - calls[2].at
        );
        assert!(over - calls[1].at > Duration::from_secs(3));
        Ok(())
    })
    .await;
}

/// Guards against `Sent: 2 items` above two refusals, and against a way to look through outputs where there is none.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_refused_is_not_said_to_be_sent() {
    visit("what_was_refused", &["--speed", "0"], async |studio| {
        let browser = studio.browser;
        studio.proxy.add(Rule::every("/v2/*", error(422)));
        studio.send(&numbered("refused", 2)).await?;
        studio.see_counts("2 failed").await?;
        let shown = "
            const texts = [...document.querySelectorAll('.answer, .run-controls button')];
            return texts.filter(it => it.checkVisibility()).map(it => it.innerText.trim()).filter(it => it).join()";
        let left = "Retry 2 failed,Edit and run again,Remove batch";
        becomes(browser, "what is said and offered", shown, left).await
    })
    .await;
}

/// Guards against rows that fail one by one, each with the same words, once the balance is empty.
#[tokio::test(flavor = "multi_thread")]
async fn a_batch_without_credit_pauses_and_goes_on_with_one_press() {
    play(
        "a_batch_without_credit",
        &["--speed", "0"],
        async |studio| {
            studio.let_pass(1, BATCH);
            studio.proxy.add(Rule::next(1, BATCH, error(402)));
            let prompts = numbered("paid", 25);
            studio.send(&prompts).await?;
            let text = "Paused: 15 items not accepted yet. The service refused (HTTP 402).";
            studio.browser.see_text(text, TIMEOUT).await?;
            studio.see_counts("10 completed, 15 queued").await?;
            studio.press("Resume").await?;
            studio.see_counts("25 completed").await?;
            assert_eq!(studio.sizes(), [10, 10, 10, 5]);
            Ok(())
        },
    )
    .await;
}
