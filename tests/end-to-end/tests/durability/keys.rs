//! A service that honours idempotency keys: lost answers settle themselves, and no person is asked.

use crate::studio::{Studio, play};
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

/// The tasks that the service made of this prompt, and the keys under which it was sent.
fn taken(studio: &Studio<'_>, prompt: &str) -> (usize, Vec<String>) {
    let calls = studio.proxy.calls();
    let mine = calls
        .iter()
        .filter(|call| is_generate(call) && call.prompts == [prompt]);
    let ids: BTreeSet<&String> = mine.clone().flat_map(|call| &call.accepted).collect();
    let keys: BTreeSet<&String> = mine.flat_map(|call| &call.keys).collect();
    (ids.len(), keys.into_iter().cloned().collect())
}

/// Guards against lost answers that are left to a person where the service could settle them, and
/// against paying twice for it.
#[tokio::test(flavor = "multi_thread")]
async fn lost_answers_settle_themselves() {
    let name = "lost_answers_settle_themselves";
    play(name, &["--speed", "0"], async |studio| {
        for (prompt, fault) in FAULTS {
            let form = studio.open_model().await?;
            studio.proxy.add(Rule::next(1, "/v2/generate", fault));
            studio.generate(&form, prompt).await?;
            studio.show_tasks().await?;
            studio.see(&[(prompt, "Completed")]).await?;
            assert_eq!(studio.proxy.rules_left(), 0, "the fault was not met");
            assert_eq!(studio.sent(prompt), 2, "{prompt}");
            let (tasks, keys) = taken(studio, prompt);
            assert_eq!((tasks, keys.len()), (1, 1), "{prompt}: {keys:?}");
            assert_ne!(keys, [""], "without a key");
        }
        Ok(())
    })
    .await;
}

/// Guards against a request that is left to a person, or paid twice, because the page was closed
/// before its answer came.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_closed_before_an_answer_asks_for_it_at_the_next_visit() {
    let name = "a_page_closed_before_an_answer_asks_for_it";
    play(name, &["--speed", "0"], async |studio| {
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
            studio.see(&[(prompt, "Completed")]).await?;
            let (tasks, keys) = taken(studio, prompt);
            assert_eq!((tasks, keys.len()), (1, 1), "{prompt}: {keys:?}");
        }
        Ok(())
    })
    .await;
}
