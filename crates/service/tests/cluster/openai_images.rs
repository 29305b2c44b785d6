//! Requests of OpenAI's images API at several processes.

use std::collections::HashSet;
use std::thread;

use serde_json::{Value, json};

use super::support::{Server, try_call};
use super::{Cluster, LEASE, OWN};

/// Sends a request as OpenAI's package does, and returns the number of its images.
fn generate(url: String, retries: &str) -> usize {
    let model = format!("{}/{}", OWN.0, OWN.1);
    let body = json!({"model": model, "prompt": "a", "n": 2, "response_format": "url"});
    let headers = [
        ("authorization", "Bearer t"),
        ("content-type", "application/json"),
        ("x-stainless-retry-count", retries),
    ];
    let answer = try_call("POST", &url, &headers, body.to_string().as_bytes()).unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text());
    let images: Value = answer.json()["data"].clone();
    let urls: HashSet<String> = images
        .as_array()
        .unwrap()
        .iter()
        .map(|image| image["url"].to_string())
        .collect();
    urls.len()
}

fn url(server: &Server) -> String {
    format!("{}/v1/images/generations", server.url)
}

/// Guards against two equal requests at two processes that are charged once, and against a repeated request that is charged
/// again at another process.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn equal_requests_at_two_processes_are_separate_and_repeated_ones_are_not() {
    let cluster = Cluster::new();
    let servers = ["s0", "s1"].map(|data| cluster.serve(data, &[]));
    let _worker = cluster.work("w0");
    let calls: Vec<_> = (0..6)
        .map(|n| {
            let url = url(&servers[n % 2]);
            thread::spawn(move || generate(url, "0"))
        })
        .collect();
    for call in calls {
        assert_eq!(call.join().unwrap(), 2);
    }
    cluster.await_runs(12, LEASE);
    for server in &servers {
        assert_eq!(generate(url(server), "1"), 2);
    }
    assert_eq!(cluster.runs().len(), 12, "{}", cluster.logs());
}
