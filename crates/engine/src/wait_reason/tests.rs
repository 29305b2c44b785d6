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

/// Of who can send, as this account.
fn able(account: &Account) -> Sending<'_> {
    Sending {
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

/// Guards against a task that is Queued for ever without a word of why.
#[test]
fn every_reason_is_named() {
    let account = Account {
        address: "http://x".into(),
        uid: "u".into(),
    };
    let limited = BlockReason::RateLimited(9_000);
    let reason = |task: &Task, has_credentials, block_reason| {
        let sending = Sending {
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
    assert!(reason(&task("http://x", "v"), true, None).contains("User ID again, v"));
    let mut paused = task("http://x", "u");
    paused.paused = true;
    assert!(reason(&paused, true, None).contains("paused"));
}

/// Guards against a person who looks for what is set already.
#[test]
fn what_is_missing_alone_is_named() {
    let account = Account {
        address: "http://x".into(),
        uid: "u".into(),
    };
    let sending = |missing| Sending {
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
        let said = |task| wait_reason(task, sending(missing), 0).unwrap_or_default();
        assert!(said(&mine).starts_with(queued), "{}", said(&mine));
        assert!(said(&running).starts_with(followed), "{}", said(&running));
    }
}

/// Guards against `Generating. You can close this page.` at a task that no tab asks about.
#[test]
fn what_goes_on_without_being_asked_about_says_so() {
    let account = Account {
        address: "http://x".into(),
        uid: "u".into(),
    };
    let reason = |task: &Task, has_credentials| {
        let sending = Sending {
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
    // Guards against a token that was removed in the middle of a batch, with no word of what was not sent.
    let none = Sending {
        access: access(false),
        ..able(&account)
    };
    assert!(waits_for_account(&task("http://x", "u"), none));
    // Guards against words about credentials where the service takes guests, and is only away.
    let away = Sending {
        access: Access::Unknown,
        ..able(&account)
    };
    assert_eq!(wait_reason(&running("http://x", "guest"), away, 0), None);
    let queued = wait_reason(&task("http://x", "guest"), away, 0).unwrap();
    // Nor about other tasks, of which none is before it.
    let unanswered = "Waiting to be sent: the service has not answered yet.";
    assert!(queued.starts_with(unanswered), "{queued}");
}

/// Guards against `Sending the request.` at what a frozen tab was to send.
#[test]
fn what_another_tab_has_that_is_asleep_says_what_wakes_it() {
    let account = Account {
        address: String::new(),
        uid: "me".into(),
    };
    let reason = |task: &Task, is_leader_asleep| {
        let sending = Sending {
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
    let said = reason(&submitting, true).unwrap();
    assert!(said.ends_with(WAKE_IT), "{said}");
    // Its state is from before: the tab may have sent it, and not said so.
    assert!(!said.contains("Nothing has left"), "{said}");
    let said = reason(&in_state(TaskState::Queued), true).unwrap();
    assert!(said.contains(WAKE_IT), "{said}");
    let running = in_state(TaskState::Running {
        id: atelier_contract::TaskId("1".into()),
        word: atelier_contract::StatusWord::Processing,
    });
    assert_eq!(reason(&running, false), None);
    let said = reason(&running, true).unwrap();
    assert!(said.starts_with("It goes on at the service."), "{said}");
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

/// Guards against `Waiting to be sent. Two at a time wait for their answers.` in a tab that makes no calls any
/// more, and `You can close this page.` where it does not ask about a task.
#[test]
fn what_a_newer_atelier_has_taken_over_is_not_waited_for_here() {
    let account = Account {
        address: String::new(),
        uid: "me".into(),
    };
    let sending = Sending {
        is_superseded: true,
        ..able(&account)
    };
    let reason = |task: &Task| wait_reason(task, sending, 0);
    // Tasks of another service, and of another person.
    for task in [task("", "me"), task("http://y", "you")] {
        let said = reason(&task).unwrap();
        assert!(said.starts_with("Not sent from here: "), "{said}");
        assert!(!said.contains("Waiting"), "{said}");
    }
    let running = Task {
        state: TaskState::Running {
            id: atelier_contract::TaskId("1".into()),
            word: atelier_contract::StatusWord::Processing,
        },
        ..task("", "me")
    };
    let said = reason(&running).unwrap();
    assert!(said.starts_with("Not followed from here: "), "{said}");
}

/// Guards against `Nothing has left this browser` at what was sent before.
#[test]
fn what_was_sent_before_may_be_billed() {
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

/// Guards against words about running tasks next to one that was never sent.
#[test]
fn offline_it_says_when_this_one_is_sent() {
    let account = Account {
        address: String::new(),
        uid: "me".into(),
    };
    let sending = Sending {
        block_reason: Some(&BlockReason::Offline),
        ..able(&account)
    };
    let reason = wait_reason(&task("", "me"), sending, 0).unwrap();
    assert_eq!(
        reason,
        "You are offline: it is sent once the network is back. Nothing has left this browser."
    );
}

/// Guards against `Generating. You can close this page.` next to a status that is not asked for a day.
#[test]
fn a_long_wait_is_said_where_a_task_goes_on() {
    let account = Account {
        address: "http://x".into(),
        uid: "u".into(),
    };
    let mut task = task("http://x", "u");
    let id = TaskId("1".into());
    let word = StatusWord::Processing;
    task.state = TaskState::Running { id, word };
    for (until, said) in [(30_000, false), (3_600_000, true)] {
        let limited = BlockReason::RateLimited(until);
        let sending = Sending {
            block_reason: Some(&limited),
            ..able(&account)
        };
        let reason = wait_reason(&task, sending, 0);
        assert_eq!(
            reason.is_some_and(|reason| reason.contains("is asked again in")),
            said
        );
    }
}

/// Guards against `Nothing has left this browser` once a call was made, also after the limit that the service asked for.
#[test]
fn what_left_and_was_refused_is_not_said_to_be_here_still() {
    let account = Account {
        address: String::new(),
        uid: "me".into(),
    };
    let superseded = Sending {
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
        let said = wait_reason(task, able(&account), 0).unwrap();
        assert!(
            said.ends_with("The service has accepted nothing so far."),
            "{said}"
        );
        let said = wait_reason(task, superseded, 0).unwrap();
        assert!(!said.contains("nothing was sent"), "{said}");
        let taken_back = Task {
            taken_back: true,
            ..task.clone()
        };
        let said = wait_reason(&taken_back, able(&account), 0).unwrap();
        assert!(
            said.starts_with("Taken back before the service accepted it."),
            "{said}"
        );
    }
    let again = Task {
        resubmitted: true,
        ..task("", "me")
    };
    let said = wait_reason(&again, superseded, 0).unwrap();
    assert!(
        said.contains("only an earlier submission may be billed"),
        "{said}"
    );
}

/// Its first attempt has left, and may have been billed.
#[test]
fn a_retry_says_that_only_it_is_here_still() {
    let account = Account {
        address: String::new(),
        uid: "me".into(),
    };
    let retry = Task {
        retry_of: Some(TaskKey("j".into())),
        ..task("", "me")
    };
    let said = wait_reason(&retry, able(&account), 0).unwrap();
    assert!(
        said.ends_with("This retry has not left this browser."),
        "{said}"
    );
    let refused = Task {
        not_before: Some(1),
        ..retry
    };
    let said = wait_reason(&refused, able(&account), 0).unwrap();
    let wanted = "The service has not accepted this retry so far.";
    assert!(said.ends_with(wanted), "{said}");
    let superseded = Sending {
        is_superseded: true,
        ..able(&account)
    };
    let said = wait_reason(&refused, superseded, 0).unwrap();
    let wanted = "if not, the service has not accepted this retry.";
    assert!(said.contains(wanted), "{said}");
}
