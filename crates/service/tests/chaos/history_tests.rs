use super::*;

fn record(kind: Kind, id: &str, sent: u64, answer: Answer) -> Record {
    Record {
        client: "a".into(),
        call: sent,
        attempt: 0,
        server: 0,
        kind,
        key: None,
        id: Some(id.into()),
        sent,
        answered: sent + 10,
        answer,
        is_given_up: false,
    }
}

fn accepted(key: &str, id: &str) -> Record {
    Record {
        key: Some(key.into()),
        ..record(Kind::Generate, id, 0, Answer::Accepted)
    }
}

fn status(id: &str, sent: u64, answer: Answer) -> Record {
    record(Kind::Status, id, sent, answer)
}

fn output(id: &str, path: &str) -> Record {
    let paths = vec![path.to_owned()];
    record(Kind::Response, id, 200, Answer::Output { paths })
}

fn file(id: &str, digest: &str) -> Record {
    let answer = Answer::File {
        path: "/outputs/1".into(),
        bytes: 5,
        digest: digest.into(),
    };
    record(Kind::File, id, 300, answer)
}

fn stored(id: &str, bytes: i64) -> Record {
    let status = "completed".into();
    record(Kind::Stored, id, 900, Answer::Stored { status, bytes })
}

fn missing(what: &str) -> Answer {
    Answer::NotFound { what: what.into() }
}

/// Returns the violations of a correct history with these additional records.
fn violations(more: Vec<Record>) -> Vec<Violation> {
    let mut records = vec![
        accepted("k", "1"),
        status("1", 20, Answer::Unfinished),
        status("1", 100, Answer::Completed),
        output("1", "/outputs/1"),
        file("1", "x"),
        stored("1", 5),
    ];
    records.extend(more);
    check(&records)
}

#[test]
fn a_correct_history_has_no_violations() {
    assert_eq!(violations(vec![]), []);
    let repeated = vec![
        accepted("k", "1"),
        output("1", "/outputs/1"),
        file("1", "x"),
    ];
    assert_eq!(violations(repeated), []);
    let lost = Answer::Lost {
        error: "reset".into(),
    };
    assert_eq!(violations(vec![status("1", 400, lost)]), []);
}

#[test]
fn one_key_has_one_task() {
    let second = vec![
        accepted("k", "2"),
        status("2", 100, Answer::Completed),
        stored("2", 0),
    ];
    let ids = vec!["1".into(), "2".into()];
    assert_eq!(
        violations(second),
        [Violation::TwoTasks {
            key: "k".into(),
            ids
        }]
    );
    let keys = vec!["k".into(), "l".into()];
    assert_eq!(
        violations(vec![accepted("l", "1")]),
        [Violation::TwoKeys {
            id: "1".into(),
            keys
        }]
    );
}

#[test]
fn an_accepted_task_ends_and_is_stored() {
    let id = || "2".to_owned();
    let never = vec![
        accepted("l", "2"),
        status("2", 100, Answer::Unfinished),
        stored("2", 0),
    ];
    assert_eq!(violations(never), [Violation::NeverEnded { id: id() }]);
    let unstored = vec![accepted("l", "2"), status("2", 100, Answer::Completed)];
    assert_eq!(violations(unstored), [Violation::NotStored { id: id() }]);
    let unknown = status("1", 400, missing("task"));
    assert_eq!(
        violations(vec![unknown]),
        [Violation::Forgotten { id: "1".into() }]
    );
}

#[test]
fn a_task_ends_in_one_way() {
    let outcomes = vec!["canceled".into(), "completed".into()];
    assert_eq!(
        violations(vec![status("1", 400, Answer::Canceled)]),
        [Violation::TwoOutcomes {
            id: "1".into(),
            outcomes
        }]
    );
    let failed = vec![
        accepted("l", "2"),
        status("2", 100, Answer::Failed { error: "x".into() }),
        stored("2", 0),
    ];
    let error = "x".into();
    assert_eq!(
        violations(failed),
        [Violation::Failed {
            id: "2".into(),
            error
        }]
    );
}

#[test]
fn an_end_is_not_taken_back() {
    // This call overlaps the one that was answered at 110.
    assert_eq!(violations(vec![status("1", 105, Answer::Unfinished)]), []);
    assert_eq!(
        violations(vec![status("1", 111, Answer::Unfinished)]),
        [Violation::TakenBack { id: "1".into() }]
    );
}

#[test]
fn outputs_do_not_change() {
    let outputs = vec!["/outputs/1".into(), "/outputs/2".into()];
    assert_eq!(
        violations(vec![output("1", "/outputs/2")]),
        [Violation::OutputChanged {
            id: "1".into(),
            outputs
        }]
    );
    let path = || "/outputs/1".to_owned();
    assert_eq!(
        violations(vec![file("1", "y")]),
        [Violation::FileChanged { path: path() }]
    );
    let gone = record(Kind::File, "1", 500, missing("/outputs/1"));
    assert_eq!(
        violations(vec![gone]),
        [Violation::FileMissing { path: path() }]
    );
}

#[test]
fn an_unavailable_server_is_no_internal_error() {
    let refused = |status| Answer::Refused {
        status,
        error: "x".into(),
    };
    assert_eq!(violations(vec![status("1", 30, refused(503))]), []);
    assert_eq!(
        violations(vec![status("1", 30, refused(500))]),
        [Violation::InternalErrors {
            kind: Kind::Status,
            count: 1
        }]
    );
}

#[test]
fn a_stored_task_was_submitted() {
    let id = || "9".to_owned();
    assert_eq!(
        violations(vec![stored("9", 0)]),
        [Violation::NotSubmitted { id: id() }]
    );
    // The client has given up, and doesn't know whether its task was accepted.
    let unanswered = Record {
        key: Some("l".into()),
        id: None,
        ..status(
            "",
            50,
            Answer::Lost {
                error: "reset".into(),
            },
        )
    };
    assert_eq!(violations(vec![stored("9", 0), unanswered]), []);
}

#[test]
fn bytes_are_counted_once() {
    let mut twice = vec![accepted("k", "1"), status("1", 100, Answer::Completed)];
    twice.extend([file("1", "x"), stored("1", 10)]);
    assert_eq!(
        check(&twice),
        [Violation::WrongSize {
            id: "1".into(),
            stored: 10,
            files: 5
        }]
    );
    let usage = Answer::Usage { counted: 7, sum: 5 };
    let usage = Record {
        id: None,
        ..record(Kind::Usage, "", 900, usage)
    };
    assert_eq!(
        violations(vec![usage]),
        [Violation::WrongUsage {
            user: "a".into(),
            counted: 7,
            sum: 5
        }]
    );
}

#[test]
fn a_stream_shows_each_end() {
    let open = record(Kind::Stream, "1", 200, Answer::Watched);
    assert_eq!(
        violations(vec![open.clone()]),
        [Violation::NotAnnounced { id: "1".into() }]
    );
    let end = record(Kind::Stream, "1", 220, Answer::Completed);
    assert_eq!(violations(vec![open, end]), []);
}

#[test]
fn records_are_lines_of_json() {
    let answers = [
        Answer::Accepted,
        Answer::Failed { error: "x".into() },
        Answer::Output {
            paths: vec!["/outputs/1".into()],
        },
        Answer::Refused {
            status: 503,
            error: "draining".into(),
        },
        Answer::Usage { counted: 7, sum: 5 },
    ];
    for answer in answers {
        let record = status("1", 1, answer);
        let line = serde_json::to_string(&record).unwrap();
        assert!(!line.contains('\n'));
        assert_eq!(serde_json::from_str::<Record>(&line).unwrap(), record);
    }
}
