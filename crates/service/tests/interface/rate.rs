//! `--rate`: the limit of calls, and `Retry-After`.

use serde_json::json;

use super::support::Server;

#[test]
fn calls_above_the_rate_get_retry_after() {
    let server = Server::start(&["--rate", "2/s", "--latency", "10ms"]);
    let task = json!({"uid": "me", "category": "image", "subcategory": "strata", "id": "x"});
    // Concurrent calls exceed the limit even on a slow machine.
    let refused = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..24)
            .map(|_| scope.spawn(|| server.post("/v2/status", &task)))
            .collect();
        let mut answers = calls.into_iter().map(|call| call.join().unwrap());
        answers.find(|answer| answer.status == 429)
    })
    .expect("a 429");
    assert_eq!(refused.error(), "rate_limited");
    assert!(refused.header("retry-after").parse::<u64>().unwrap() >= 1);
    assert_eq!(
        server.get("/api/models").status,
        200,
        "discovery is not limited"
    );
}

/// Guards against counting ten items as one call, and against resetting the limit with a new token.
#[test]
fn every_batch_item_counts_and_a_new_token_does_not_help() {
    let server = Server::start(&["--rate", "0.1/s"]);
    let task = json!({"uid": "me", "category": "image", "subcategory": "strata", "id": "x"});
    let ten = json!({"requests": vec![task.clone(); 10]});
    assert_eq!(server.post("/v2/status-batch", &ten).status, 200);
    let refused = server.post("/v2/status", &task);
    assert_eq!(refused.status, 429);
    let wait: u64 = refused.header("retry-after").parse().unwrap();
    // A single item would give 10 s.
    assert!((11..=100).contains(&wait), "{wait}");
    let headers = [
        ("authorization", "Bearer another"),
        ("content-type", "application/json"),
    ];
    let answer = server.call("POST", "/v2/status", &headers, task.to_string().as_bytes());
    assert_eq!(
        answer.status, 429,
        "the limit applies to the client's address, so a new token does not reset it"
    );
}
