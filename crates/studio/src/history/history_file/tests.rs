use std::sync::LazyLock;

use super::*;
use serde_json::json;

const NOW: Millis = 9_000;

fn account(address: &str, uid: &str) -> Account {
    Account {
        address: address.into(),
        uid: uid.into(),
    }
}

fn here<'a>(account: &'a Account, origin: &'a str) -> LocalContext<'a> {
    LocalContext {
        account,
        origin,
        names: &NAMES,
        now: NOW,
    }
}

/// The account names of a browser with two users.
static NAMES: LazyLock<AccountNames> = LazyLock::new(|| {
    let mut names = AccountNames::default();
    for address in ["https://studio.example", "https://service.example"] {
        for uid in ["user-81", "user-82"] {
            let name = format!(
                "name {}",
                uid.len() + address.len() + usize::from(uid.ends_with('2'))
            );
            names.add(&account(address, uid), "", || name);
        }
    }
    names
});

fn task(key: &str, state: Value) -> Task {
    serde_json::from_value(json!({
        "key": key,
        "account": {"address": "", "uid": "user-81"},
        "model": {"category": "image", "subcategory": "tessera"},
        "model_name": "Tessera",
        "input": {
            "model": {"category": "image", "subcategory": "tessera"},
            "values": {"prompt": "a lighthouse", "seed": u64::MAX}
        },
        "created": 5_000,
        "state": state,
        "favorites": [0],
        "idempotency_key": "k-1",
        "not_before": 99_000,
        "retry_of": "an-older-one",
        "batch": {"batch": "b1", "index": 3},
        "made_from": {"task": "parent", "position": 1}
    }))
    .unwrap()
}

fn ready(key: &str) -> Task {
    task(
        key,
        json!({"state": "ready", "id": "t", "outputs": ["/outputs/1.png", "data:image/png;base64,AA"]}),
    )
}

fn running(key: &str) -> Task {
    task(
        key,
        json!({"state": "running", "id": "t-7", "word": "processing"}),
    )
}

fn batch() -> Batch {
    Batch::from_value(json!({
        "key": "b1", "model": {"category": "image", "subcategory": "tessera"},
        "model_name": "Tessera", "name": "cats", "created": 4_000, "size": 4
    }))
    .unwrap()
}

fn output() -> ExportedOutput {
    let copy = CachedOutput {
        key: "a/0".into(),
        url: "/outputs/1.png".into(),
        bytes: 3,
        kept: 1,
        shown: 2,
    };
    ExportedOutput::of(&copy, 7, "image/png", b"")
}

#[test]
fn a_history_survives_a_round_trip() {
    let own = account("", "user-81");
    let there = here(&own, "https://studio.example");
    let tasks = [ready("a"), running("b")];
    let text = write(&[&tasks[0], &tasks[1]], &[batch()], &[output()], there);
    let imported = read(&text, Owner::Named, there).unwrap();
    assert_eq!((imported.damaged, imported.unfollowed), (0, 0));
    assert_eq!(imported.batches, [batch()]);
    assert_eq!(imported.outputs, [output()]);
    assert_eq!(output().file, "outputs/00007.png");
    let [ready, running] = &imported.tasks[..] else {
        panic!("{:?}", imported.tasks);
    };
    let mut expected = tasks[0].clone();
    expected.idempotency_key = None;
    expected.not_before = None;
    expected.state = serde_json::from_value(json!({"state": "ready", "id": "t", "outputs": [
        "https://studio.example/outputs/1.png", "data:image/png;base64,AA"
    ]}))
    .unwrap();
    assert_eq!(*ready, expected);
    assert!(running.watching && running.is_active());
    assert_eq!(running.account, own);
}

/// Outputs that a service sent as data are counted, and each of their files once.
#[test]
fn outputs_that_came_as_data_are_counted_and_their_files_once() {
    let reference = "data:image/png;stored=1a-4000000,";
    let outputs =
        json!({"state": "ready", "id": "id", "outputs": [reference, reference, "https://a/b.png"]});
    let task = task("a", outputs);
    let message = stored_message(&[&task]);
    assert_eq!(
        message.as_deref(),
        Some("2 outputs that came as data, 3 MB")
    );
    assert_eq!(stored_message(&[&ready("b")]), None);
}

#[test]
fn no_credentials_leave_the_browser() {
    let own = account("https://service.example", "user-81");
    let text = write(
        &[&ready("a")],
        &[],
        &[],
        here(&own, "https://studio.example"),
    );
    assert!(!text.contains("user-81") && !text.contains("k-1"), "{text}");
}

#[test]
fn running_tasks_are_followed_only_by_the_same_user_at_the_same_service() {
    let own = account("", "user-81");
    let text = write(
        &[&running("b")],
        &[],
        &[],
        here(&own, "https://studio.example"),
    );
    let read_by = |address: &str, uid: &str, origin: &str| {
        let imported = read(&text, Owner::Named, here(&account(address, uid), origin)).unwrap();
        let task = imported.tasks[0].clone();
        assert_eq!(imported.unfollowed, usize::from(!task.watching));
        (task.watching, task.account.address, task.account.uid)
    };
    let same = (true, String::new(), "user-81".to_owned());
    assert_eq!(read_by("", "user-81", "https://studio.example"), same);
    // This is the same service with an absolute address.
    let whole = "https://studio.example".to_owned();
    let same = (true, whole.clone(), "user-81".to_owned());
    assert_eq!(read_by(&whole, "user-81", "http://127.0.0.1:8080"), same);
    // Another user, no user, and another service.
    let nobodys = (false, String::new(), String::new());
    assert_eq!(read_by("", "user-82", &whole), nobodys);
    assert_eq!(read_by("", "", &whole), nobodys);
    let elsewhere = (false, whole.clone(), String::new());
    assert_eq!(read_by("", "user-81", "http://127.0.0.1:8080"), elsewhere);
}

/// Guards against a file with the preview of a running task, and against a browser that shows it.
#[test]
fn progress_is_neither_exported_nor_imported() {
    let own = account("", "user-81");
    let there = here(&own, "https://studio.example");
    let mut task = running("a");
    task.progress = Some("step 3".into());
    task.fraction = Some(0.3);
    task.preview = Some("/outputs/a/preview.png".into());
    let text = write(&[&task], &[], &[], there);
    for absent in ["step 3", "fraction", "preview"] {
        assert!(!text.contains(absent), "{absent} is in {text}");
    }
    let mut file: Value = serde_json::from_str(&text).unwrap();
    file["tasks"][0]["fraction"] = json!(0.3);
    file["tasks"][0]["preview"] = json!("/outputs/a/preview.png");
    let imported = read(&file.to_string(), Owner::Named, there).unwrap();
    assert!(!imported.tasks[0].has_progress());
}

/// Sending imported tasks would charge them again.
#[test]
fn no_imported_task_is_sent() {
    let own = account("", "user-81");
    let there = here(&own, "https://studio.example");
    let tasks = ["queued", "submitting"].map(|state| task(state, json!({"state": state})));
    let text = write(&[&tasks[0], &tasks[1]], &[], &[], there);
    let imported = read(&text, Owner::Named, there).unwrap();
    assert_eq!(imported.tasks.len(), 2);
    for task in imported.tasks {
        assert_eq!(task.state.phase(), Phase::Unconfirmed);
        assert_eq!((task.idempotency_key, task.not_before), (None, None));
    }
}

#[test]
fn removed_tasks_and_those_that_were_taken_back_are_not_exported() {
    let own = account("", "user-81");
    let there = here(&own, "https://studio.example");
    let mut removed = ready("a");
    removed.removed = Some(8_000);
    let mut taken_back = task("b", json!({"state": "queued"}));
    taken_back.taken_back = true;
    let text = write(&[&removed, &taken_back], &[], &[], there);
    assert_eq!(
        read(&text, Owner::Named, there),
        Ok(ImportedHistory::default())
    );
}

#[test]
fn invalid_files_are_rejected_with_a_message() {
    let own = account("", "user-81");
    let there = here(&own, "https://studio.example");
    for (text, expected) in [
        ("", "damaged"),
        ("{\"atelier_history\": 1, \"tas", "damaged"),
        ("[]", "damaged"),
        ("{\"atelier_history\": 1, \"tasks\": {}}", "damaged"),
        (
            "{\"atelier\": 1, \"items\": []}",
            "isn't an Atelier history file",
        ),
        (
            "{\"atelier_history\": 3, \"tasks\": []}",
            "newer version of Atelier",
        ),
    ] {
        let error = read(text, Owner::Named, there).unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

/// An empty key would address all records.
#[test]
fn damaged_records_are_skipped_and_counted() {
    let own = account("", "user-81");
    let there = here(&own, "https://studio.example");
    let good = json::read(&write(&[&ready("a")], &[batch()], &[output()], there)).unwrap();
    let mut bad = good.clone();
    let mut tasks = vec![good["tasks"][0].clone(), json!(null), json!({"account": 3})];
    for key in ["", "a/", "../a", "a"] {
        let mut task = good["tasks"][0].clone();
        task["key"] = key.into();
        tasks.push(task);
    }
    bad["tasks"] = tasks.into();
    bad["batches"][0]["key"] = "".into();
    bad["outputs"][0]["output"] = "/0".into();
    let imported = read(&bad.to_string(), Owner::Named, there).unwrap();
    assert_eq!(imported.tasks.len(), 1);
    assert!(imported.batches.is_empty() && imported.outputs.is_empty());
    assert_eq!(imported.damaged, 8);
}

#[test]
fn times_from_a_fast_clock_are_limited_to_now() {
    let own = account("", "user-81");
    let there = here(&own, "https://studio.example");
    let mut ahead = ready("a");
    ahead.created = u64::MAX;
    let text = write(&[&ahead], &[], &[], there);
    assert_eq!(
        read(&text, Owner::Named, there).unwrap().tasks[0].created,
        NOW
    );
}

#[test]
fn the_result_is_reported() {
    let message = |result: ImportResult| result.user_message();
    let new = ImportResult {
        tasks: 3,
        known: 1,
        ..ImportResult::default()
    };
    assert_eq!(message(new), "3 tasks imported; 1 other is there already.");
    let twice = ImportResult {
        known: 4,
        ..ImportResult::default()
    };
    assert_eq!(message(twice), "Nothing new: 4 tasks are there already.");
    // The message must mention known tasks that are followed from now on.
    let mine = ImportResult {
        followed: 2,
        ..ImportResult::default()
    };
    assert_eq!(
        message(mine),
        "2 tasks are yours, and followed from now on."
    );
    let mine = ImportResult { known: 1, ..mine };
    assert_eq!(
        message(mine),
        "2 tasks are yours, and followed from now on. 1 other task is there already."
    );
    let mine = ImportResult { tasks: 3, ..mine };
    assert_eq!(
        message(mine),
        "2 tasks are yours, and followed from now on. 3 tasks imported; 1 other is there already."
    );
    let all = ImportResult {
        tasks: 1,
        outputs: 2,
        damaged: 1,
        ..ImportResult::default()
    };
    assert_eq!(
        message(all),
        "1 task imported. 2 outputs are kept. 1 record is damaged and left out."
    );
}

/// With a checksum of the User ID, a reader could test guesses.
#[test]
fn a_file_does_not_reveal_the_user_id() {
    let own = account("", "user-81");
    let mut names = AccountNames::default();
    let written = |names: &AccountNames| {
        let there = LocalContext {
            names,
            ..here(&own, "https://studio.example")
        };
        write(&[&ready("a")], &[], &[], there)
    };
    let user = |text: &str| {
        let value: Value = serde_json::from_str(text).unwrap();
        value["tasks"][0]["account"]["user"].clone()
    };
    assert_eq!(user(&written(&names)), Value::Null);
    names.add(&own, "https://studio.example", || "drawn".to_owned());
    names.add(&own, "https://studio.example", || "drawn later".to_owned());
    assert_eq!(user(&written(&names)), "drawn");
}

/// The user confirms that the tasks are theirs. Tasks of another service are not followed.
#[test]
fn in_another_browser_the_importer_can_claim_running_tasks() {
    let own = account("", "user-81");
    let studio = "https://studio.example";
    let text = write(&[&running("b")], &[], &[], here(&own, studio));
    let elsewhere = AccountNames::default();
    let watched = |owner: Owner, uid: &str, origin: &str| {
        let own = account("", uid);
        let there = LocalContext {
            names: &elsewhere,
            ..here(&own, origin)
        };
        read(&text, owner, there).unwrap().tasks[0].watching
    };
    assert!(!watched(Owner::Named, "user-81", studio));
    assert!(watched(Owner::Importer, "user-81", studio));
    assert!(!watched(Owner::Importer, "", studio));
    assert!(!watched(
        Owner::Importer,
        "user-81",
        "http://127.0.0.1:8080"
    ));
}

/// Files of version 1 contain a checksum of the User ID.
#[test]
fn a_file_of_version_1_is_followed_by_the_same_user() {
    let own = account("", "user-81");
    let there = here(&own, "https://studio.example");
    let mut file: Value = serde_json::from_str(&write(&[&running("b")], &[], &[], there)).unwrap();
    file[VERSION_FIELD] = 1.into();
    file["tasks"][0]["account"]["user"] = sum("user-81").into();
    let imported = read(&file.to_string(), Owner::Named, there).unwrap();
    assert!(imported.tasks[0].watching);
    file["tasks"][0]["account"]["user"] = sum("user-82").into();
    let imported = read(&file.to_string(), Owner::Named, there).unwrap();
    assert!(!imported.tasks[0].watching);
}
