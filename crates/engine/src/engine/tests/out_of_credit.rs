//! Tests batches that a service stops accepting because the account is out of credit or has reached a limit.

use atelier_contract::ApiError;
use serde_json::{Value, json};

use super::harness::Harness;
use crate::engine::{Call, CallKind};
use crate::{BatchKey, Phase, Task, TaskKey, TaskState};

const WORDS: &str = "Your balance is $0.00.";

fn out_of_credit() -> ApiError {
    ApiError::from_status(
        402,
        Some(&json!({"success": false, "message": WORDS})),
        None,
    )
}

/// Returns the response to a batch call that accepts the first items and refuses the others with 402.
fn accepted_of(call: &Call, accepted: usize) -> Result<Value, ApiError> {
    refused_after(call, accepted, 402)
}

/// Like [`accepted_of`], with another status for the refused items.
fn refused_after(call: &Call, accepted: usize, refusal: u16) -> Result<Value, ApiError> {
    answered(call, |index| match index < accepted {
        true => 200,
        false => refusal,
    })
}

/// Returns the response to a batch call with these statuses.
fn answered(call: &Call, status: impl Fn(usize) -> u16) -> Result<Value, ApiError> {
    let results: Vec<Value> = (0..call.tasks.len())
        .map(|index| {
            let status = status(index);
            let body = match status {
                200 => {
                    let id = format!("{}-id", call.tasks[index].0);
                    json!({"success": true, "data": {"id": id, "status": "queued"}})
                }
                _ => json!({"success": false, "message": WORDS}),
            };
            json!({"index": index, "status": status, "body": body})
        })
        .collect();
    Ok(json!({"success": true, "data": {"results": results}}))
}

fn phases(harness: &Harness, phase: Phase) -> usize {
    harness
        .engine
        .tasks()
        .filter(|task| task.state.phase() == phase)
        .count()
}

/// The state of the queued tasks: whether they are paused, and the refusal that paused them.
struct Unsent {
    is_paused: bool,
    refusal: Option<ApiError>,
}

fn unsent(harness: &Harness) -> Unsent {
    let tasks = harness.engine.tasks();
    let paused: Vec<&Task> = tasks
        .filter(|task| task.state.phase() == Phase::Queued && task.paused)
        .collect();
    let refusal = |task: &&Task| Some(task.poll_error.as_ref()?.error.clone());
    Unsent {
        is_paused: !paused.is_empty(),
        refusal: paused.iter().find_map(refusal),
    }
}

/// Guards against a batch whose items fail one by one with the same message once the balance is used up.
#[test]
fn a_batch_pauses_at_the_first_402_until_resumed() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 30);
    let call = harness.call();
    let accepted = 3;
    harness.answer(&call, accepted_of(&call, accepted));
    assert_eq!(phases(&harness, Phase::Running), accepted);
    assert_eq!(phases(&harness, Phase::Queued), 30 - accepted);
    assert_eq!(phases(&harness, Phase::Failed), 0);
    let paused = unsent(&harness);
    assert!(paused.is_paused);
    assert!(
        paused
            .refusal
            .is_some_and(|error| error.user_message().contains(WORDS))
    );

    harness.now += 3_600_000;
    let sent = harness
        .calls()
        .into_iter()
        .filter(|call| call.kind == CallKind::Generate);
    assert_eq!(sent.count(), 0, "it is not retried automatically");

    harness.engine.resume_batch(&BatchKey("a".into()));
    assert_eq!(unsent(&harness).refusal, None);
    let mut sent: Vec<TaskKey> = Vec::new();
    for _ in 0..20 {
        for call in harness.calls() {
            if call.kind == CallKind::Generate {
                sent.extend(call.tasks.clone());
                harness.answer(&call, accepted_of(&call, call.tasks.len()));
            }
        }
        harness.now += 1_000;
    }
    sent.sort();
    let before = sent.len();
    sent.dedup();
    assert_eq!(
        (sent.len(), before),
        (30 - accepted, 30 - accepted),
        "each item once, without the accepted ones"
    );
}

/// If the whole call is refused, the items are not sent one by one to check each.
#[test]
fn a_402_for_the_whole_call_requeues_all_items() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 30);
    let call = harness.call();
    harness.answer(&call, Err(out_of_credit()));
    assert_eq!(phases(&harness, Phase::Queued), 30);
    assert!(harness.calls().is_empty());
    harness.engine.resume_batch(&BatchKey("a".into()));
    assert_eq!(harness.call().tasks.len(), call.tasks.len());
}

/// A single task has no batch to resume.
#[test]
fn a_single_task_fails_at_a_402() {
    let mut harness = Harness::new();
    harness.submit(&["a"]);
    let call = harness.call();
    harness.answer(&call, Err(out_of_credit()));
    assert_eq!(harness.phase("a"), Phase::Failed);
}

/// Guards against items that fail one by one, as if the credentials were refused, once a monthly quota is used up
/// (403).
#[test]
fn a_batch_pauses_at_the_second_403_with_the_same_message() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 30);
    let call = harness.call();
    assert!(call.tasks.len() > 5, "several items are refused at once");
    harness.answer(&call, refused_after(&call, 3, 403));
    assert_eq!(phases(&harness, Phase::Running), 3);
    assert_eq!(phases(&harness, Phase::Failed), 1);
    assert_eq!(phases(&harness, Phase::Queued), 26);
    let paused = unsent(&harness);
    assert!(paused.is_paused);
    let words = paused.refusal.map(|error| error.user_message());
    assert!(words.is_some_and(|words| words.contains("403") && words.contains(WORDS)));
    assert!(
        !harness.engine.is_refused(),
        "it is not about the credentials"
    );

    for message in messages_of_failed(&harness) {
        assert!(!ApiError::is_about_credentials(&message), "{message}");
        assert!(message.contains(WORDS), "{message}");
    }

    // The limit still applies: one more task fails, and the batch is paused again.
    harness.engine.resume_batch(&BatchKey("a".into()));
    let call = generate_call(&mut harness);
    harness.answer(&call, refused_after(&call, 0, 403));
    assert_eq!(phases(&harness, Phase::Failed), 2);
    assert!(unsent(&harness).is_paused);

    harness.engine.resume_batch(&BatchKey("a".into()));
    for _ in 0..20 {
        for call in harness.calls() {
            if call.kind == CallKind::Generate {
                harness.answer(&call, refused_after(&call, call.tasks.len(), 403));
            }
        }
        harness.now += 1_000;
    }
    assert_eq!(phases(&harness, Phase::Queued), 0);
    assert_eq!(phases(&harness, Phase::Failed), 2);
}

/// Items that are refused for their own input don't pause the batch, even if one is refused repeatedly.
#[test]
fn a_403_between_accepted_items_concerns_its_input() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 30);
    let call = harness.call();
    let status = |index: usize| match index % 2 {
        0 => 200,
        _ => 403,
    };
    let refused = (0..call.tasks.len())
        .filter(|index| status(*index) == 403)
        .count();
    harness.answer(&call, answered(&call, status));
    assert_eq!(phases(&harness, Phase::Failed), refused);
    assert!(!unsent(&harness).is_paused);
}

/// The quota may be used up before any item is accepted. The message must not advise to check the credentials.
#[test]
fn a_403_about_a_quota_does_not_refuse_the_credentials() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 30);
    let call = harness.call();
    harness.answer(&call, refused_after(&call, 0, 403));
    assert!(!harness.engine.is_refused());
    assert_eq!(phases(&harness, Phase::Failed), 1);
    assert_eq!(phases(&harness, Phase::Queued), 29);
    assert!(unsent(&harness).is_paused);

    let mut harness = Harness::new();
    harness.submit(&["a"]);
    let call = harness.call();
    let body = json!({"success": false, "message": WORDS});
    harness.answer(&call, Err(ApiError::from_status(403, Some(&body), None)));
    assert!(!harness.engine.is_refused());
    let messages = messages_of_failed(&harness);
    assert!(messages[0].starts_with(&format!("The service says: {WORDS}")));
}

/// If no item of the batch was accepted, the message of a 403 shows whether it concerns the credentials.
#[test]
fn a_403_about_the_token_refuses_the_credentials() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 30);
    let call = harness.call();
    let body = json!({"success": false, "message": "Invalid token."});
    harness.answer(&call, Err(ApiError::from_status(403, Some(&body), None)));
    assert!(harness.engine.is_refused());
    let about_credentials = |message: &String| ApiError::is_about_credentials(message);
    assert!(messages_of_failed(&harness).iter().all(about_credentials));
    assert!(harness.calls().is_empty());
}

/// Accepted items of the same response count even if they are after the refused item.
#[test]
fn a_403_before_accepted_items_does_not_refuse_the_credentials() {
    let mut harness = Harness::new();
    harness.submit_batch("a", 30);
    let call = harness.call();
    harness.answer(
        &call,
        answered(&call, |index| if index == 0 { 403 } else { 200 }),
    );
    let messages = messages_of_failed(&harness);
    assert_eq!(messages.len(), 1);
    assert!(
        !ApiError::is_about_credentials(&messages[0]),
        "{messages:?}"
    );
    assert!(messages[0].contains(WORDS), "{messages:?}");
    assert!(!harness.engine.is_refused());
}

fn messages_of_failed(harness: &Harness) -> Vec<String> {
    let messages = harness.engine.tasks().filter_map(|task| match &task.state {
        TaskState::Failed { message, .. } => Some(message.clone()),
        _ => None,
    });
    messages.collect()
}

fn generate_call(harness: &mut Harness) -> Call {
    for _ in 0..20 {
        let sent = harness
            .calls()
            .into_iter()
            .find(|call| call.kind == CallKind::Generate);
        if let Some(call) = sent {
            return call;
        }
        harness.now += 1_000;
    }
    panic!("nothing is sent");
}
