use wasm_bindgen_test::wasm_bindgen_test;

use super::*;

const TASK: &str = r#"{"key":"k","account":{"address":"https://s.example","uid":"me"},"model":{"category":"image","subcategory":"a"},"model_name":"A","input":{"model":{"category":"image","subcategory":"a"},"values":{"prompt":"p","seed":18446744073709551615}},"created":1,"state":{"state":"running","id":"t","word":"processing"},"watching":true,"favorites":[2],"later":{"z":1}}"#;

fn task() -> Task {
    let task = json::read(TASK).and_then(Task::from_value);
    task.expect("a task")
}

/// Reads a text, and sees to it that it is written in the same words.
fn read(text: &str) -> TabMessage {
    let message = TabMessage::read(text).unwrap_or_else(|| panic!("unread: {text}"));
    assert_eq!(message.to_value().to_string(), text);
    message
}

#[wasm_bindgen_test]
fn words_are_what_they_always_were() {
    assert!(matches!(read(r#""Tick""#), TabMessage::Tick));
    assert!(matches!(read(r#""Wake""#), TabMessage::Wake));
    assert!(matches!(read(r#""Doubt""#), TabMessage::Doubt));
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
fn tasks_are_told_as_they_are_stored() {
    let TabMessage::Task(told) = read(&format!(r#"{{"Task":{TASK}}}"#)) else {
        panic!("a task");
    };
    assert_eq!(*told, task());
    assert_eq!(told.input.values()["seed"], u64::MAX);
    assert!(told.extra.contains_key("later"));
    let TabMessage::Unstored(told) = read(&format!(r#"{{"Unstored":{TASK}}}"#)) else {
        panic!("a task that was not stored");
    };
    assert_eq!(*told, task());
    // One alone as the versions before batches told it, who know no other.
    for (text, count) in [
        (format!(r#"{{"Submitted":{TASK}}}"#), 1),
        (format!(r#"{{"Submitted":[{TASK},{TASK}]}}"#), 2),
        (r#"{"Submitted":[]}"#.to_owned(), 0),
    ] {
        let TabMessage::Submitted(tasks, _) = read(&text) else {
            panic!("what was submitted");
        };
        assert_eq!(tasks, vec![task(); count]);
    }
    let one = TabMessage::read(&format!(r#"{{"Submitted":[{TASK}]}}"#));
    assert!(matches!(one, Some(TabMessage::Submitted(tasks, _)) if tasks == [task()]));
    let TabMessage::TakenIn(tasks) = read(&format!(r#"{{"TakenIn":[{TASK}]}}"#)) else {
        panic!("what was taken in");
    };
    assert_eq!(tasks, [task()]);
}

#[wasm_bindgen_test]
fn what_a_person_does_is_told_by_its_old_names() {
    for (word, wanted) in [
        ("cancel", Action::Cancel),
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
        assert_eq!((key.0.as_str(), action), ("k", wanted));
    }
    for (word, wanted) in [
        ("pause", BatchAction::Pause),
        ("resume", BatchAction::Resume),
        ("stop", BatchAction::Stop),
    ] {
        let text = format!(r#"{{"ActOnBatch":["b","{word}"]}}"#);
        let TabMessage::ActOnBatch(batch, action, None) = read(&text) else {
            panic!("an action on a batch");
        };
        assert_eq!((batch.0.as_str(), action), ("b", wanted));
        let text = format!(r#"{{"ActOnBatch":["b","{word}"],"at":17}}"#);
        let TabMessage::ActOnBatch(batch, action, Some(17)) = read(&text) else {
            panic!("an action on a batch, and when");
        };
        assert_eq!((batch.0.as_str(), action), ("b", wanted));
    }
    assert!(matches!(read(r#"{"Removed":"k"}"#), TabMessage::Removed(key) if key.0 == "k"));
    for text in ["k/1", "k/", "/", ""] {
        let wanted = CopyRequest::read(text);
        let message = read(&format!(r#"{{"Shown":"{text}"}}"#));
        assert!(matches!(message, TabMessage::CopyRequested(request) if request == wanted));
    }
    for is in [true, false] {
        let text = format!(r#"{{"Favorite":{{"output":"k/1","is":{is}}}}}"#);
        let TabMessage::Favorite(output, told) = read(&text) else {
            panic!("a favorite");
        };
        assert_eq!((output.as_str(), told), ("k/1", is));
    }
}

#[wasm_bindgen_test]
fn how_the_leader_stands_is_told_by_its_old_names() {
    for (told, wanted) in [
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
        let TabMessage::State(reason, error) = read(&format!(r#"{{"State":{{{told}}}}}"#)) else {
            panic!("a state");
        };
        assert_eq!((reason, error), (wanted, None));
    }
    for (word, wanted) in [
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
        assert_eq!((reason, error), (Some(BlockReason::Offline), Some(wanted)));
    }
    // What only a later version knows of it says nothing here, and the rest of it counts.
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
fn what_only_another_version_says_is_none() {
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

/// Guards against secrets in `localStorage`, through which messages go where there is no other way.
#[wasm_bindgen_test]
fn secrets_are_told_in_memory_alone() {
    let values = serde_json::json!({"api_key": "sk-CASE"});
    let secrets = Secrets::from_iter([(task().key.0, values)]);
    let message = TabMessage::Submitted(vec![task()], secrets.clone());
    assert!(!message.to_value().to_string().contains("sk-CASE"));
    let told = message.with_secrets().expect("secrets").to_string();
    let Some(TabMessage::Submitted(tasks, heard)) = TabMessage::read(&told) else {
        panic!("not read: {told}");
    };
    assert!(tasks == [task()] && heard == secrets);
    let without = TabMessage::Submitted(vec![task()], Secrets::new());
    assert!(without.with_secrets().is_none());
}
