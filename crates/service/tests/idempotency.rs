//! `Idempotency-Key`: a repeated submission creates no second task.

mod support;

use std::collections::HashSet;
use std::sync::Barrier;

use serde_json::{Value, json};
use support::{Answer, STRATA, Server, request};

const JSON: (&str, &str) = ("content-type", "application/json");

fn submit(server: &Server, key: &str, body: &Value) -> Answer {
    submit_as(server, "t", key, body)
}

fn submit_as(server: &Server, token: &str, key: &str, body: &Value) -> Answer {
    let authorization = format!("Bearer {token}");
    let headers = [
        ("authorization", authorization.as_str()),
        JSON,
        ("idempotency-key", key),
    ];
    server.call(
        "POST",
        "/v2/generate",
        &headers,
        body.to_string().as_bytes(),
    )
}

fn id(answer: &Answer) -> String {
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["data"]["id"].as_str().unwrap().to_owned()
}

/// Returns a batch item with its key, which is a common field like `uid`.
fn item(key: &str, prompt: &str) -> Value {
    request(
        STRATA,
        json!({"prompt": prompt, "seed": 1, "idempotency_key": key}),
    )
}

fn batch(server: &Server, items: &[Value]) -> Vec<Value> {
    let answer = server.post("/v2/generate-batch", &json!({"requests": items}));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["data"]["results"].as_array().unwrap().clone()
}

/// Guards against a second paid task when a client repeats a submission whose response was lost, also if the service was
/// killed in between.
#[test]
fn a_repeated_submission_returns_the_same_task_also_after_a_kill() {
    let data = tempfile::tempdir().unwrap();
    let mut server = Server::start_on(data.path(), &["--speed", "20", "--workers", "1"]);
    // Without a seed: the random seed that the service chooses must not affect the fingerprint.
    let body = request(STRATA, json!({"prompt": "a lake", "layers": 4}));
    let first = submit(&server, "key-1", &body);
    let many = batch(&server, &[item("key-2", "b"), item("key-3", "c")]);
    server.kill();

    let mut server = Server::start_on(data.path(), &["--speed", "0"]);
    let again = submit(&server, "\"key-1\"", &body);
    assert_eq!((again.status, again.json()), (first.status, first.json()));
    let mut task = request(STRATA, json!({}));
    task["id"] = id(&first).into();
    server.wait(&task);
    let reordered = json!({"layers": 4, "prompt": "a lake", "subcategory": "strata",
        "category": "image", "uid": "me"});
    assert_eq!(
        submit(&server, "key-1", &reordered).json(),
        first.json(),
        "the first response, also after the task has ended"
    );
    assert_eq!(
        batch(&server, &[item("key-2", "b"), item("key-3", "c")]),
        many
    );
    assert_eq!(tasks(&mut server, data.path()), 3);
}

#[test]
fn another_request_with_the_same_key_is_refused() {
    let server = Server::start(&[]);
    let body = request(STRATA, json!({"prompt": "a"}));
    let first = id(&submit(&server, "k", &body));
    let mut other = body.clone();
    other["prompt"] = "b".into();
    let refused = submit(&server, "k", &other);
    assert_eq!(
        (refused.status, refused.error().as_str()),
        (422, "idempotency_key_reused")
    );
    let other_model = request(("image", "fluxfield"), json!({"prompt": "a"}));
    assert_eq!(submit(&server, "k", &other_model).status, 422);
    assert_eq!(id(&submit(&server, "k", &body)), first);
    // Keys of other users and tokens are independent.
    let mut of_another = body.clone();
    of_another["uid"] = "you".into();
    assert_ne!(id(&submit(&server, "k", &of_another)), first);
    assert_ne!(id(&submit_as(&server, "u", "k", &body)), first);
    // Without a key, each submission creates a task.
    assert_ne!(
        id(&server.post("/v2/generate", &body)),
        id(&server.post("/v2/generate", &body))
    );
}

#[test]
fn the_field_is_equivalent_to_the_header_and_is_not_a_parameter() {
    let server = Server::start(&["--speed", "0"]);
    let body = item("k", "a");
    let plain = request(STRATA, json!({"prompt": "a", "seed": 1}));
    let first = id(&server.post("/v2/generate", &body));
    assert_eq!(id(&submit(&server, "k", &plain)), first);
    assert_eq!(id(&submit(&server, "k", &body)), first);
    let differing = submit(&server, "l", &body);
    assert_eq!(
        (differing.status, differing.error().as_str()),
        (400, "bad_request")
    );
    for odd in [json!(""), json!("a b"), json!("é"), json!(7), json!(null)] {
        let mut odd_body = plain.clone();
        odd_body["idempotency_key"] = odd.clone();
        let answer = server.post("/v2/generate", &odd_body);
        assert_eq!(answer.status, 400, "{odd}: {}", answer.text());
        assert_eq!(batch(&server, &[odd_body])[0]["status"], 400, "{odd}");
    }
    for odd in ["a b", "\"a", ""] {
        assert_eq!(submit(&server, odd, &plain).status, 400, "{odd}");
    }
    let long = "x".repeat(256);
    assert_eq!(submit(&server, &long, &plain).status, 400);
    assert_eq!(submit(&server, &long[1..], &plain).status, 200);
}

#[test]
fn a_batch_has_one_task_for_each_key() {
    let server = Server::start(&[]);
    let results = batch(
        &server,
        &[
            item("a", "x"),
            item("a", "x"),
            item("a", "y"),
            item("b", "x"),
            request(STRATA, json!({"prompt": "x", "seed": 1})),
        ],
    );
    let ids: Vec<_> = results
        .iter()
        .map(|result| result["body"]["data"]["id"].as_str())
        .collect();
    assert_eq!((results[0]["status"].as_u64(), ids[0]), (Some(200), ids[1]));
    assert_eq!(results[2]["status"], 422);
    assert_eq!(results[2]["body"]["error"], "idempotency_key_reused");
    let different: HashSet<_> = [ids[0], ids[3], ids[4]].into();
    assert_eq!(different.len(), 3);
    // The header identifies one task, so it is refused on a batch.
    let headers = [
        ("authorization", "Bearer t"),
        JSON,
        ("idempotency-key", "a"),
    ];
    let body = json!({"requests": [item("a", "x")]}).to_string();
    let answer = server.call("POST", "/v2/generate-batch", &headers, body.as_bytes());
    assert_eq!(answer.status, 400);
}

/// Guards against a race: two calls look up the key before one of them stores it.
#[test]
fn concurrent_submissions_with_one_key_make_one_task() {
    let data = tempfile::tempdir().unwrap();
    let mut server = Server::start_on(data.path(), &["--speed", "0"]);
    let rounds = 10;
    for round in 0..rounds {
        let (key, body) = (
            format!("key-{round}"),
            request(STRATA, json!({"prompt": "a"})),
        );
        let barrier = Barrier::new(24);
        let ids: HashSet<String> = std::thread::scope(|scope| {
            let callers: Vec<_> = (0..24)
                .map(|n| {
                    let (server, key, body, barrier) = (&server, &key, &body, &barrier);
                    scope.spawn(move || {
                        barrier.wait();
                        if n % 2 == 0 {
                            return id(&submit(server, key, body));
                        }
                        let mut item = body.clone();
                        item["idempotency_key"] = key.as_str().into();
                        let result = &batch(server, &[item])[0];
                        result["body"]["data"]["id"].as_str().unwrap().to_owned()
                    })
                })
                .collect();
            callers
                .into_iter()
                .map(|caller| caller.join().unwrap())
                .collect()
        });
        assert_eq!(ids.len(), 1, "{ids:?}");
    }
    assert_eq!(tasks(&mut server, data.path()), rounds);
}

#[test]
fn a_refused_submission_does_not_use_up_its_key() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start_on(data.path(), &["--token", "secret", "--rate", "3/s"]);
    let body = request(STRATA, json!({"prompt": "a"}));
    assert_eq!(submit_as(&server, "wrong", "k", &body).status, 401);
    let invalid = request(STRATA, json!({"prompt": ""}));
    assert_eq!(submit_as(&server, "secret", "k", &invalid).status, 422);
    // Ten items in one call exceed the limit for some seconds, also on a slow machine.
    let task = json!({"uid": "me", "category": "image", "subcategory": "strata", "id": "x"});
    let ten = json!({"requests": vec![task; 10]}).to_string();
    let headers = [
        ("authorization", "Bearer secret"),
        ("content-type", "application/json"),
    ];
    let is_limited = (0..60).any(|_| {
        server.call("POST", "/v2/status-batch", &headers, ten.as_bytes());
        submit_as(&server, "secret", "k", &invalid).status == 429
    });
    assert!(is_limited);
    // A wrong token is limited by its address, too.
    let past_the_limit = |token| loop {
        let answer = submit_as(&server, token, "k", &body);
        if answer.status != 429 {
            break answer;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    };
    let first = id(&past_the_limit("secret"));
    assert_eq!(
        past_the_limit("wrong").status,
        401,
        "a known idempotency key does not replace a valid token"
    );
    assert!(!first.is_empty());
}

#[test]
fn the_service_announces_idempotency_keys() {
    let server = Server::start(&[]);
    let models = server.get("/api/models").json();
    assert_eq!(models["idempotency_key"], json!({"ttl_seconds": 86400}));
    let preflight = [
        ("origin", "http://localhost:8080"),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "idempotency-key"),
    ];
    let answer = server.call("OPTIONS", "/v2/generate", &preflight, b"");
    let allowed = answer
        .header("access-control-allow-headers")
        .to_ascii_lowercase();
    assert!(allowed.contains("idempotency-key"), "{allowed}");
}

/// Returns the number of tasks in the database. Kills the server, which locks its SQLite database.
fn tasks(server: &mut Server, data: &std::path::Path) -> u64 {
    if let Some(count) = support::cluster::count(data, "task") {
        return count;
    }
    server.kill();
    let database = rusqlite::Connection::open(data.join("tasks.sqlite")).unwrap();
    database
        .query_row("SELECT count(*) FROM task", [], |row| row.get(0))
        .unwrap()
}
