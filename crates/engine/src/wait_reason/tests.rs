use super::*;
use crate::{TaskKey, TaskState};
use atelier_contract::{Draft, ModelId, Schema, StatusWord, TaskId};
use serde_json::json;

fn task(address: &str, uid: &str) -> Task {
    let body = json!({"success": true, "data": {
        "parameters": {"required": [], "optional": []}}});
    let schema = Schema::from_body(body, ModelId::new("image", "a")).unwrap();
    let input = schema.validate(&Draft::default(), false).unwrap();
    assert_eq!(
        input.model(),
        &ModelId {
            category: "image".into(),
            subcategory: "a".into()
        }
    );
    let account = Account {
        address: address.into(),
        uid: uid.into(),
    };
    Task::new(TaskKey("k".into()), account, "A".into(), input, 0)
}

/// Returns the state of a tab that can send with this account.
fn able(account: &Account) -> SendingState<'_> {
    SendingState {
        account,
        access: Access::Given,
        block_reason: None,
        is_leader_asleep: false,
        is_superseded: false,
    }
}

fn access(has_credentials: bool) -> Access {
    match has_credentials {
        true => Access::Given,
        false => Access::Missing(MissingCredentials::Both),
    }
}

/// Each queued task must have an explanation.
#[test]
fn every_wait_has_a_reason() {
    let account = Account {
        address: "http://x".into(),
        uid: "u".into(),
    };
    let limited = BlockReason::RateLimited(9_000);
    let reason = |task: &Task, has_credentials, block_reason| {
        let sending = SendingState {
            access: access(has_credentials),
            block_reason,
            ..able(&account)
        };
        wait_reason(task, sending, 1_000).unwrap_or_default()
    };
    let mine = task("http://x", "u");
    assert!(reason(&mine, true, None).starts_with("Waiting to be sent."));
    assert!(reason(&mine, true, Some(&limited)).contains("Rate-limited, next try in 8 s"));
    assert!(reason(&mine, false, None).starts_with(MissingCredentials::Both.user_message()));
    assert!(reason(&task("http://y", "u"), true, None).contains("http://y"));
    assert!(reason(&task("", "u"), true, None).contains("served this page"));
    assert!(reason(&task("http://x", "v"), true, None).contains("its User ID, v,"));
    let mut paused = task("http://x", "u");
    paused.paused = true;
    assert!(reason(&paused, true, None).contains("paused"));
}

/// The message must not ask for a field that is set.
#[test]
fn names_only_the_missing_credentials() {
    let account = Account {
        address: "http://x".into(),
        uid: "u".into(),
    };
    let sending = |missing| SendingState {
        access: Access::Missing(missing),
        ..able(&account)
    };
    let mine = task("http://x", "u");
    let running = Task {
        state: TaskState::Running {
            id: TaskId("1".into()),
            word: StatusWord::Processing,
        },
        ..mine.clone()
    };
    for (missing, queued, followed) in [
        (
            MissingCredentials::Token,
            "Access token is not set yet. Enter it in Settings. ",
            "Not followed: Access token is not set in Settings. ",
        ),
        (
            MissingCredentials::Both,
            "User ID and Access token are not set yet. Enter them in Settings. ",
            "Not followed: User ID and Access token are not set in Settings. ",
        ),
    ] {
        let message = |task| wait_reason(task, sending(missing), 0).unwrap_or_default();
        assert!(message(&mine).starts_with(queued), "{}", message(&mine));
        assert!(
            message(&running).starts_with(followed),
            "{}",
            message(&running)
        );
    }
}

/// A task that no tab polls must not show `Generating. You can close this page.`
#[test]
fn a_running_task_that_is_not_polled_shows_why() {
    let account = Account {
        address: "http://x".into(),
        uid: "u".into(),
    };
    let reason = |task: &Task, has_credentials| {
        let sending = SendingState {
            access: access(has_credentials),
            ..able(&account)
        };
        wait_reason(task, sending, 0)
    };
    let running = |address: &str, uid: &str| Task {
        state: crate::TaskState::Running {
            id: atelier_contract::TaskId("1".into()),
            word: atelier_contract::StatusWord::Processing,
        },
        ..task(address, uid)
    };
    assert_eq!(reason(&running("http://x", "u"), true), None);
    let without = reason(&running("http://x", "u"), false).unwrap();
    assert!(
        without.contains("User ID and Access token are not set"),
        "{without}"
    );
    assert!(
        reason(&running("http://x", "v"), true)
            .unwrap()
            .contains("its User ID, v,")
    );
    assert!(
        reason(&running("http://y", "u"), true)
            .unwrap()
            .contains("http://y")
    );
    let hidden = Task {
        watching: false,
        ..running("http://y", "u")
    };
    assert_eq!(reason(&hidden, true), None);
    let mine = able(&account);
    assert!(is_not_followed(&running("http://y", "u"), mine));
    assert!(!is_not_followed(&running("http://x", "u"), mine));
    assert!(!is_not_followed(&hidden, mine));
    assert!(
        !is_not_followed(&task("http://y", "u"), mine),
        "it was not sent"
    );
    assert!(waits_for_account(&task("http://y", "u"), mine));
    assert!(waits_for_account(&task("http://x", "v"), mine));
    assert!(!waits_for_account(&task("http://x", "u"), mine));
    assert!(!waits_for_account(&running("http://y", "u"), mine));
    // The token was removed while a batch was being sent.
    let none = SendingState {
        access: access(false),
        ..able(&account)
    };
    assert!(waits_for_account(&task("http://x", "u"), none));
    // The service accepts guests but is unavailable, so the message must not ask for credentials.
    let unavailable = SendingState {
        access: Access::Unknown,
        ..able(&account)
    };
    assert_eq!(
        wait_reason(&running("http://x", "guest"), unavailable, 0),
        None
    );
    let queued = wait_reason(&task("http://x", "guest"), unavailable, 0).unwrap();
    // The message doesn't mention other tasks, because no task precedes this one.
    let unanswered = "Waiting to be sent: the service has not answered yet.";
    assert!(queued.starts_with(unanswered), "{queued}");
}

/// A task of a frozen tab must not show `Sending the request.`
#[test]
fn tasks_of_a_sleeping_leader_show_how_to_wake_it() {
    let account = Account {
        address: String::new(),
        uid: "me".into(),
    };
    let reason = |task: &Task, is_leader_asleep| {
        let sending = SendingState {
            is_leader_asleep,
            ..able(&account)
        };
        wait_reason(task, sending, 0)
    };
    let in_state = |state| Task {
        state,
        ..task("", "me")
    };
    let submitting = in_state(TaskState::Submitting);
    assert_eq!(reason(&submitting, false), None);
    let message = reason(&submitting, true).unwrap();
    assert!(message.ends_with(WAKE_ADVICE), "{message}");
    // The state may be outdated, because the leader may have sent the task.
    assert!(!message.contains("Nothing has left"), "{message}");
    let message = reason(&in_state(TaskState::Queued), true).unwrap();
    assert!(message.contains(WAKE_ADVICE), "{message}");
    let running = in_state(TaskState::Running {
        id: atelier_contract::TaskId("1".into()),
        word: atelier_contract::StatusWord::Processing,
    });
    assert_eq!(reason(&running, false), None);
    let message = reason(&running, true).unwrap();
    assert!(
        message.starts_with("It keeps running at the service."),
        "{message}"
    );
    let hidden = Task {
        watching: false,
        ..running
    };
    assert_eq!(reason(&hidden, true), None);
    let ready = in_state(TaskState::Ready {
        id: atelier_contract::TaskId("1".into()),
        outputs: Vec::new(),
    });
    assert_eq!(reason(&ready, true), None);
}

/// A tab that makes no calls must not report that a task waits to be sent or is polled.
#[test]
fn a_superseded_tab_does_not_promise_to_send() {
    let account = Account {
        address: String::new(),
        uid: "me".into(),
    };
    let sending = SendingState {
        is_superseded: true,
        ..able(&account)
    };
    let reason = |task: &Task| wait_reason(task, sending, 0);
    // Tasks of another service and of another user.
    for task in [task("", "me"), task("http://y", "you")] {
        let message = reason(&task).unwrap();
        assert!(message.starts_with("Not sent from this tab: "), "{message}");
        assert!(!message.contains("Waiting"), "{message}");
    }
    let running = Task {
        state: TaskState::Running {
            id: atelier_contract::TaskId("1".into()),
            word: atelier_contract::StatusWord::Processing,
        },
        ..task("", "me")
    };
    let message = reason(&running).unwrap();
    assert!(
        message.starts_with("Not followed in this tab: "),
        "{message}"
    );
}

/// The task was sent before, so the message must not claim that nothing was sent.
#[test]
fn a_resubmission_may_be_billed() {
    let account = Account {
        address: String::new(),
        uid: "me".into(),
    };
    let sending = able(&account);
    let again = Task {
        resubmitted: true,
        ..task("", "me")
    };
    let reason = wait_reason(&again, sending, 0).unwrap();
    assert!(reason.ends_with("may be billed."), "{reason}");
}

/// The general offline message is about running tasks, but this task was never sent.
#[test]
fn offline_shows_when_the_task_is_sent() {
    let account = Account {
        address: String::new(),
        uid: "me".into(),
    };
    let sending = SendingState {
        block_reason: Some(&BlockReason::Offline),
        ..able(&account)
    };
    let reason = wait_reason(&task("", "me"), sending, 0).unwrap();
    assert_eq!(
        reason,
        "You are offline: it is sent once the network is back. Nothing has left this browser."
    );
}

/// While the status is not polled for a day, the message must show this.
#[test]
fn a_long_rate_limit_is_shown_at_running_tasks() {
    let account = Account {
        address: "http://x".into(),
        uid: "u".into(),
    };
    let mut task = task("http://x", "u");
    let id = TaskId("1".into());
    let word = StatusWord::Processing;
    task.state = TaskState::Running { id, word };
    for (until, message) in [(30_000, false), (3_600_000, true)] {
        let limited = BlockReason::RateLimited(until);
        let sending = SendingState {
            block_reason: Some(&limited),
            ..able(&account)
        };
        let reason = wait_reason(&task, sending, 0);
        assert_eq!(
            reason.is_some_and(|reason| reason.contains("is checked again in")),
            message
        );
    }
}

/// A call was made, so the message must not claim that nothing was sent. This applies to rate-limited tasks, too.
#[test]
fn a_refused_task_is_not_reported_as_unsent() {
    let account = Account {
        address: String::new(),
        uid: "me".into(),
    };
    let superseded = SendingState {
        is_superseded: true,
        ..able(&account)
    };
    let put_back = Task {
        submitted: Some(5),
        ..task("", "me")
    };
    let of_limit = Task {
        not_before: Some(9),
        ..task("", "me")
    };
    for task in [&put_back, &of_limit] {
        let message = wait_reason(task, able(&account), 0).unwrap();
        assert!(
            message.ends_with("The service has accepted nothing so far."),
            "{message}"
        );
        let message = wait_reason(task, superseded, 0).unwrap();
        assert!(!message.contains("nothing was sent"), "{message}");
        let taken_back = Task {
            taken_back: true,
            ..task.clone()
        };
        let message = wait_reason(&taken_back, able(&account), 0).unwrap();
        assert!(
            message.starts_with("Taken back before the service accepted it."),
            "{message}"
        );
    }
    let again = Task {
        resubmitted: true,
        ..task("", "me")
    };
    let message = wait_reason(&again, superseded, 0).unwrap();
    assert!(
        message.contains("only an earlier submission may be billed"),
        "{message}"
    );
}

/// The first attempt was sent and may have been billed.
#[test]
fn a_retry_is_reported_as_unsent_on_its_own() {
    let account = Account {
        address: String::new(),
        uid: "me".into(),
    };
    let retry = Task {
        retry_of: Some(TaskKey("j".into())),
        ..task("", "me")
    };
    let message = wait_reason(&retry, able(&account), 0).unwrap();
    assert!(
        message.ends_with("This retry has not left this browser."),
        "{message}"
    );
    let refused = Task {
        not_before: Some(1),
        ..retry
    };
    let message = wait_reason(&refused, able(&account), 0).unwrap();
    let wanted = "The service has not accepted this retry so far.";
    assert!(message.ends_with(wanted), "{message}");
    let superseded = SendingState {
        is_superseded: true,
        ..able(&account)
    };
    let message = wait_reason(&refused, superseded, 0).unwrap();
    let wanted = "if not, the service has not accepted this retry.";
    assert!(message.contains(wanted), "{message}");
}
