//! A batch at a service that honours idempotency keys.

use crate::studio::{BATCH, numbered_prompts, run_until_settled};
use atelier_end_to_end::fault::{Fault, Rule};
use std::collections::BTreeSet;

/// Guards against asking the user to resolve items that a retry with the same keys can recover, and against paying
/// twice for such a retry.
#[tokio::test(flavor = "multi_thread")]
async fn lost_responses_of_a_batch_are_recovered_with_the_same_keys() {
    let name = "lost_responses_of_a_batch_are_recovered_with_the_same_keys";
    run_until_settled(name, &["--speed", "0"], async |studio| {
        studio.allow_calls(1, BATCH);
        studio.proxy.add(Rule::next(1, BATCH, Fault::DropAfter));
        studio
            .proxy
            .add(Rule::next(1, BATCH, Fault::CutBatch { keep: 3 }));
        let prompts = numbered_prompts("settled", 25);
        studio.send(&prompts).await?;
        studio.wait_for_counts("25 completed").await?;
        assert_eq!(
            studio.proxy.remaining_rules(),
            0,
            "not every fault occurred"
        );
        let calls = studio.generate_calls();
        let ids: BTreeSet<&String> = calls.iter().flat_map(|call| &call.accepted).collect();
        let keys: BTreeSet<&String> = calls.iter().flat_map(|call| &call.keys).collect();
        assert_eq!((ids.len(), keys.len()), (25, 25));
        assert!(studio.sent_prompts().len() > 25, "nothing was sent again");
        Ok(())
    })
    .await;
}
