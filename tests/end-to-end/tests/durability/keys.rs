//! A service that honours idempotency keys: the page recovers lost responses without asking the user.

use crate::studio::{Studio, run_until_settled};
use atelier_end_to_end::fault::{Fault, Rule};
use atelier_end_to_end::ledger::is_generate;
use std::collections::BTreeSet;

const FAULTS: [(&str, Fault); 4] = [
    (
        "error",
        Fault::Status {
            status: 500,
            retry_after: None,
        },
    ),
    ("dropped before", Fault::DropBefore),
    ("dropped after", Fault::DropAfter),
    ("not json", Fault::NotJson),
];

/// Returns the number of tasks that the service created for this prompt, and the idempotency keys with which it was sent.
fn tasks_and_keys(studio: &Studio<'_>, prompt: &str) -> (usize, Vec<String>) {
    let calls = studio.proxy.calls();
    let mine = calls
        .iter()
        .filter(|call| is_generate(call) && call.prompts == [prompt]);
    let ids: BTreeSet<&String> = mine.clone().flat_map(|call| &call.accepted).collect();
    let keys: BTreeSet<&String> = mine.flat_map(|call| &call.keys).collect();
    (ids.len(), keys.into_iter().cloned().collect())
}

/// Guards against asking the user to resolve a lost response that a retry with the same key can recover, and against
/// paying twice for such a retry.
#[tokio::test(flavor = "multi_thread")]
async fn lost_responses_are_recovered_with_the_same_key() {
    let name = "lost_responses_are_recovered_with_the_same_key";
    run_until_settled(name, &["--speed", "0"], async |studio| {
        for (prompt, fault) in FAULTS {
            let form = studio.open_model().await?;
            studio.proxy.add(Rule::next(1, "/v2/generate", fault));
            studio.generate(&form, prompt).await?;
            studio.show_tasks().await?;
            studio.wait_for_states(&[(prompt, "Completed")]).await?;
            assert_eq!(studio.proxy.remaining_rules(), 0, "the fault did not occur");
            assert_eq!(studio.times_sent(prompt), 2, "{prompt}");
            let (tasks, keys) = tasks_and_keys(studio, prompt);
            assert_eq!((tasks, keys.len()), (1, 1), "{prompt}: {keys:?}");
            assert_ne!(keys, [""], "the task was sent without a key");
        }
        Ok(())
    })
    .await;
}

/// The page is closed before the response arrives. Guards against asking the user to resolve the task, and against
/// paying for it twice.
#[tokio::test(flavor = "multi_thread")]
async fn the_next_visit_recovers_a_response_that_a_closed_page_missed() {
    let name = "the_next_visit_recovers_a_response_that_a_closed_page_missed";
    run_until_settled(name, &["--speed", "0"], async |studio| {
        for (prompt, fault) in FAULTS {
            let form = studio.open_model().await?;
            studio.proxy.add(Rule::next(2, "/v2/generate", fault));
            studio.press_generate(&form, prompt).await?;
            studio
                .sees("the request", |calls| {
                    calls.iter().any(|call| call.prompts == [prompt])
                })
                .await?;
            studio.open_tasks().await?;
            studio.wait_for_states(&[(prompt, "Completed")]).await?;
            let (tasks, keys) = tasks_and_keys(studio, prompt);
            assert_eq!((tasks, keys.len()), (1, 1), "{prompt}: {keys:?}");
        }
        Ok(())
    })
    .await;
}
