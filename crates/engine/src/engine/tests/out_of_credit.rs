//! Batches that a service stops accepting because the account has no credit left.

use atelier_contract::ApiError;
use serde_json::{Value, json};

use super::hand::Hand;
use crate::batch::Batch;
use crate::batch::summary::BatchSummary;
use crate::engine::{Call, CallKind};
use crate::{BatchKey, Phase, TaskKey};

const WORDS: &str = "Your balance is $0.00.";

fn out_of_credit() -> ApiError {
    ApiError::from_status(
        402,
        Some(&json!({"success": false, "message": WORDS})),
        None,
    )
}

/// The reply to a batch call whose first items are accepted and whose others are refused.
fn accepted_of(call: &Call, accepted: usize) -> Result<Value, ApiError> {
    let results: Vec<Value> = (0..call.tasks.len())
        .map(|index| {
            let (status, body) = match index < accepted {
                true => {
                    let id = format!("{}-id", call.tasks[index].0);
                    (
                        200,
                        json!({"success": true, "data": {"id": id, "status": "queued"}}),
                    )
                }
                false => (402, json!({"success": false, "message": WORDS})),
            };
            json!({"index": index, "status": status, "body": body})
        })
        .collect();
    Ok(json!({"success": true, "data": {"results": results}}))
}

fn phases(hand: &Hand, phase: Phase) -> usize {
    hand.engine
        .tasks()
        .filter(|task| task.state.phase() == phase)
        .count()
}

fn summary(hand: &Hand) -> BatchSummary {
    let model = json!({"category": "image", "subcategory": "a"});
    let batch: Batch = serde_json::from_value(json!({
        "key": "a", "model": model, "model_name": "A", "name": "A", "created": 0, "size": 30
    }))
    .unwrap();
    BatchSummary::of(&batch.items(hand.engine.tasks()))
}

/// Guards against a batch of 300 whose rows failed one by one once the balance was empty, each with the same words.
#[test]
fn a_batch_pauses_at_the_first_402_and_goes_on_with_one_press() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 30);
    let call = hand.call();
    let accepted = 3;
    hand.answer(&call, accepted_of(&call, accepted));
    assert_eq!(phases(&hand, Phase::Running), accepted);
    assert_eq!(phases(&hand, Phase::Queued), 30 - accepted);
    assert_eq!(phases(&hand, Phase::Failed), 0);
    let paused = summary(&hand);
    assert!(paused.is_paused);
    assert!(
        paused
            .refusal
            .is_some_and(|error| error.user_message().contains(WORDS))
    );

    hand.now += 3_600_000;
    let sent = hand
        .calls()
        .into_iter()
        .filter(|call| call.kind == CallKind::Generate);
    assert_eq!(sent.count(), 0, "it is not tried by itself");

    hand.engine.resume_batch(&BatchKey("a".into()));
    assert_eq!(summary(&hand).refusal, None);
    let mut sent: Vec<TaskKey> = Vec::new();
    for _ in 0..20 {
        for call in hand.calls() {
            if call.kind == CallKind::Generate {
                sent.extend(call.tasks.clone());
                hand.answer(&call, accepted_of(&call, call.tasks.len()));
            }
        }
        hand.now += 1_000;
    }
    sent.sort();
    let before = sent.len();
    sent.dedup();
    assert_eq!(
        (sent.len(), before),
        (30 - accepted, 30 - accepted),
        "each once, the accepted never"
    );
}

/// Where the whole call is refused, no item of it is sent alone to find that out once more.
#[test]
fn a_402_for_the_whole_call_keeps_all_its_items_waiting() {
    let mut hand = Hand::new();
    hand.submit_batch("a", 30);
    let call = hand.call();
    hand.answer(&call, Err(out_of_credit()));
    assert_eq!(phases(&hand, Phase::Queued), 30);
    assert!(hand.calls().is_empty());
    hand.engine.resume_batch(&BatchKey("a".into()));
    assert_eq!(hand.call().tasks.len(), call.tasks.len());
}

/// A single task has no batch that could be resumed.
#[test]
fn a_single_task_fails_with_the_words_of_the_service() {
    let mut hand = Hand::new();
    hand.submit(&["a"]);
    let call = hand.call();
    hand.answer(&call, Err(out_of_credit()));
    assert_eq!(hand.phase("a"), Phase::Failed);
}
