//! A batch at a service that honours idempotency keys.

use crate::studio::{BATCH, numbered, play};
use atelier_end_to_end::fault::{Fault, Rule};
use std::collections::BTreeSet;

/// Guards against items that are left to a person where the service could settle them, and against
/// paying twice for them.
#[tokio::test(flavor = "multi_thread")]
async fn lost_answers_of_a_batch_settle_themselves() {
    let name = "lost_answers_of_a_batch_settle_themselves";
    play(name, &["--speed", "0"], async |studio| {
        studio.let_pass(1, BATCH);
        studio.proxy.add(Rule::next(1, BATCH, Fault::DropAfter));
        studio
            .proxy
            .add(Rule::next(1, BATCH, Fault::CutBatch { keep: 3 }));
        let prompts = numbered("settled", 25);
        studio.send(&prompts).await?;
        studio.see_counts("25 completed").await?;
        assert_eq!(studio.proxy.rules_left(), 0, "not every fault was met");
        let calls = studio.generate_calls();
        let ids: BTreeSet<&String> = calls.iter().flat_map(|call| &call.accepted).collect();
        let keys: BTreeSet<&String> = calls.iter().flat_map(|call| &call.keys).collect();
        assert_eq!((ids.len(), keys.len()), (25, 25));
        assert!(studio.prompts_sent().len() > 25, "nothing was sent again");
        Ok(())
    })
    .await;
}
