//! Several processes send the webhooks of a shared database.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use serde_json::json;

use super::support::small_server::{Request, Response, SmallServer};
use super::support::{STRATA, request};
use super::{Cluster, LEASE};

/// Guards against an event that several processes send.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn each_event_is_sent_by_one_of_all_processes() {
    let receiver =
        SmallServer::start(|_: &Request| -> Response { Some((200, "text/plain", Vec::new())) });
    let cluster = Cluster::new();
    let url = receiver.url();
    let options = ["--webhooks", &url];
    let servers = ["s0", "s1"].map(|data| cluster.serve(data, &options));
    let _worker = cluster.work_with("w", &[&options[..], &["--draw-scale", "0.05"]].concat());
    let mut body = request(STRATA, json!({"prompt": "a"}));
    body["webhook"] = format!("{url}/").into();
    for server in &servers {
        let batch = json!({"requests": vec![body.clone(); 10]});
        assert_eq!(server.post("/v2/generate-batch", &batch).status, 200);
    }
    let deadline = Instant::now() + 3 * LEASE;
    let is_done = || {
        let metrics = servers[0].get("/metrics").text();
        receiver.requests("/").len() >= 20 && metrics.contains("atelier_webhooks_waiting{} 0")
    };
    while !is_done() {
        assert!(Instant::now() < deadline, "{}", cluster.logs());
        std::thread::sleep(Duration::from_millis(50));
    }
    let requests = receiver.requests("/");
    let ids: HashSet<&str> = requests
        .iter()
        .map(|request| request.header("webhook-id"))
        .collect();
    assert_eq!((requests.len(), ids.len()), (20, 20));
}
