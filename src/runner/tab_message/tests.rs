use wasm_bindgen_test::wasm_bindgen_test;

use super::*;

const TASK: &str = r#"{"key":"k","account":{"address":"https://s.example","uid":"me"},"model":{"category":"image","subcategory":"a"},"model_name":"A","input":{"model":{"category":"image","subcategory":"a"},"values":{"prompt":"p","seed":18446744073709551615}},"created":1,"state":{"state":"running","id":"t","word":"processing"},"watching":true,"favorites":[2],"later":{"z":1}}"#;

fn task() -> Task {
    let task = json::read(TASK).and_then(Task::from_value);
    task.expect("a task")
}

/// Reads a message, and checks that writing it gives the same text.
fn read(text: &str) -> TabMessage {
    let message = TabMessage::read(text).unwrap_or_else(|| panic!("unread: {text}"));
    assert_eq!(message.to_value().to_string(), text);
    message
}

#[wasm_bindgen_test]
fn messages_without_content_keep_their_format() {
    assert!(matches!(read(r#""Tick""#), TabMessage::Tick));
    assert!(matches!(read(r#""Wake""#), TabMessage::Wake));
    assert!(matches!(read(r#""Doubt""#), TabMessage::ServiceUnreachable));
    assert!(matches!(read(r#""StateWanted""#), TabMessage::StateWanted));
    assert!(matches!(read(r#""Copies""#), TabMessage::Copies));
    assert!(matches!(read(r#""Stored""#), TabMessage::Stored));
    assert!(matches!(
        read(r#""CredentialsAccepted""#),
        TabMessage::CredentialsAccepted
    ));
    assert!(matches!(
        read(r#""SendUnkept""#),
        TabMessage::SendWithoutStorage
    ));
}

#[wasm_bindgen_test]
fn tasks_are_sent_in_their_stored_format() {
    let TabMessage::Task(sent) = read(&format!(r#"{{"Task":{TASK}}}"#)) else {
        panic!("a task");
    };
    assert_eq!(*sent, task());
    assert_eq!(sent.input.values()["seed"], u64::MAX);
    assert!(sent.extra.contains_key("later"));
    let TabMessage::Unstored(sent) = read(&format!(r#"{{"Unstored":{TASK}}}"#)) else {
        panic!("a task that was not stored");
    };
    assert_eq!(*sent, task());
    // A single task is sent in the format of the versions before batches, because they can't read a list.
    for (text, count) in [
        (format!(r#"{{"Submitted":{TASK}}}"#), 1),
        (format!(r#"{{"Submitted":[{TASK},{TASK}]}}"#), 2),
        (r#"{"Submitted":[]}"#.to_owned(), 0),
    ] {
        let TabMessage::Submitted(tasks, _) = read(&text) else {
            panic!("submitted tasks");
        };
        assert_eq!(tasks, vec![task(); count]);
    }
    let one = TabMessage::read(&format!(r#"{{"Submitted":[{TASK}]}}"#));
    assert!(matches!(one, Some(TabMessage::Submitted(tasks, _)) if tasks == [task()]));
    let TabMessage::Imported(tasks) = read(&format!(r#"{{"TakenIn":[{TASK}]}}"#)) else {
        panic!("imported tasks");
    };
    assert_eq!(tasks, [task()]);
}

#[wasm_bindgen_test]
fn actions_keep_their_format() {
    for (word, expected) in [
        ("cancel", Action::Cancel),
        ("cancel_at_service", Action::CancelAtService),
        ("resubmit", Action::Resubmit),
        ("dismiss", Action::Dismiss),
        ("stop_watching", Action::StopWatching),
        ("watch", Action::Watch),
        ("refetch", Action::Refetch),
        ("ask_again", Action::AskAgain),
        ("remove", Action::Remove),
        ("restore", Action::Restore),
        ("delete", Action::Delete),
    ] {
        let TabMessage::Act(key, action) = read(&format!(r#"{{"Act":["k","{word}"]}}"#)) else {
            panic!("an action");
        };
        assert_eq!((key.0.as_str(), action), ("k", expected));
    }
    for (word, expected) in [
        ("pause", BatchAction::Pause),
        ("resume", BatchAction::Resume),
        ("stop", BatchAction::Stop),
    ] {
        let text = format!(r#"{{"ActOnBatch":["b","{word}"]}}"#);
        let TabMessage::ActOnBatch(batch, action, None) = read(&text) else {
            panic!("an action on a batch");
        };
        assert_eq!((batch.0.as_str(), action), ("b", expected));
        let text = format!(r#"{{"ActOnBatch":["b","{word}"],"at":17}}"#);
        let TabMessage::ActOnBatch(batch, action, Some(17)) = read(&text) else {
            panic!("an action on a batch with a time");
        };
        assert_eq!((batch.0.as_str(), action), ("b", expected));
    }
    assert!(matches!(read(r#"{"Removed":"k"}"#), TabMessage::Removed(key) if key.0 == "k"));
    for text in ["k/1", "k/", "/", ""] {
        let expected = CopyRequest::read(text);
        let message = read(&format!(r#"{{"Shown":"{text}"}}"#));
        assert!(matches!(message, TabMessage::CopyRequested(request) if request == expected));
    }
    for is in [true, false] {
        let text = format!(r#"{{"Favorite":{{"output":"k/1","is":{is}}}}}"#);
        let TabMessage::Favorite(output, sent) = read(&text) else {
            panic!("a favorite");
        };
        assert_eq!((output.as_str(), sent), ("k/1", is));
    }
}

#[wasm_bindgen_test]
fn rate_limits_keep_their_format() {
    for (sent, expected) in [("", None), (r#","retry_after_ms":5000"#, Some(5_000))] {
        let text = format!(r#"{{"RateLimited":{{"address":"https://s.example"{sent}}}}}"#);
        let TabMessage::RateLimited(address, retry_after) = read(&text) else {
            panic!("a rate limit");
        };
        assert_eq!(
            (address.as_str(), retry_after),
            ("https://s.example", expected)
        );
    }
}

#[wasm_bindgen_test]
fn states_keep_their_format() {
    for (sent, expected) in [
        ("", None),
        (r#""hindrance":"Offline""#, Some(BlockReason::Offline)),
        (
            r#""hindrance":"Unauthorized""#,
            Some(BlockReason::Unauthorized),
        ),
        (r#""hindrance":"NotKept""#, Some(BlockReason::StorageError)),
        (
            r#""hindrance":{"RateLimited":7}"#,
            Some(BlockReason::RateLimited(7)),
        ),
        (
            r#""hindrance":{"Unanswered":8}"#,
            Some(BlockReason::Unanswered(8)),
        ),
    ] {
        let TabMessage::State(reason, error) = read(&format!(r#"{{"State":{{{sent}}}}}"#)) else {
            panic!("a state");
        };
        assert_eq!((reason, error), (expected, None));
    }
    for (word, expected) in [
        ("refused", StorageError::Refused),
        ("silent", StorageError::Silent),
        ("full", StorageError::Full),
        ("closed", StorageError::Closed),
        ("newer", StorageError::Newer),
    ] {
        let text = format!(r#"{{"State":{{"hindrance":"Offline","storage_error":"{word}"}}}}"#);
        let TabMessage::State(reason, error) = read(&text) else {
            panic!("a state");
        };
        assert_eq!(
            (reason, error),
            (Some(BlockReason::Offline), Some(expected))
        );
    }
    // A value that only a later version knows is ignored, and the rest of the message is read.
    let later = r#"{"State":{"later":1,"hindrance":{"Asleep":1},"storage_error":"full"}}"#;
    let Some(TabMessage::State(reason, error)) = TabMessage::read(later) else {
        panic!("a state");
    };
    assert_eq!((reason, error), (None, Some(StorageError::Full)));
    let later = r#"{"State":{"hindrance":"Offline","storage_error":{"later":1}}}"#;
    let Some(TabMessage::State(reason, error)) = TabMessage::read(later) else {
        panic!("a state");
    };
    assert_eq!((reason, error), (Some(BlockReason::Offline), None));
}

#[wasm_bindgen_test]
fn messages_of_another_version_are_not_read() {
    for text in [
        "",
        "{",
        "null",
        "7",
        "[]",
        "{}",
        r#""Later""#,
        r#""Task""#,
        r#"{"Later":{"key":"k"}}"#,
        r#"{"Task":{"key":"k"}}"#,
        r#"{"Task":[]}"#,
        r#"{"Unstored":"k"}"#,
        r#"{"Removed":{"key":"k"}}"#,
        r#"{"Submitted":"k"}"#,
        r#"{"Submitted":[{"key":"k"}]}"#,
        r#"{"TakenIn":{"key":"k"}}"#,
        r#"{"Act":["k"]}"#,
        r#"{"Act":["k","explode"]}"#,
        r#"{"Act":["k","cancel","now"]}"#,
        r#"{"Act":{"key":"k","action":"cancel"}}"#,
        r#"{"ActOnBatch":["b","explode"]}"#,
        r#"{"ActOnBatch":["b",1]}"#,
        r#"{"State":[]}"#,
        r#"{"Shown":{"output":"k/1"}}"#,
        r#"{"Favorite":"k/1"}"#,
        r#"{"Favorite":{"output":"k/1","is":1}}"#,
    ] {
        assert!(TabMessage::read(text).is_none(), "{text}");
    }
}

/// Guards against secrets in `localStorage`, which transports messages if no other channel is available.
#[wasm_bindgen_test]
fn secrets_are_sent_only_in_memory() {
    let values = serde_json::json!({"api_key": "sk-CASE"});
    let secrets = Secrets::from_iter([(task().key.0, values)]);
    let message = TabMessage::Submitted(vec![task()], secrets.clone());
    assert!(!message.to_value().to_string().contains("sk-CASE"));
    let sent = message.with_secrets().expect("secrets").to_string();
    let Some(TabMessage::Submitted(tasks, received)) = TabMessage::read(&sent) else {
        panic!("not read: {sent}");
    };
    assert!(tasks == [task()] && received == secrets);
    let without = TabMessage::Submitted(vec![task()], Secrets::new());
    assert!(without.with_secrets().is_none());
}
