//! Several processes send the webhooks of a shared database.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::support::small_server::{Request, Response, SmallServer};
use super::support::{STRATA, Server, request};
use super::{Cluster, wait_until};

fn ok(_: &Request) -> Response {
    Some((200, "text/plain", Vec::new()))
}

/// Submits a task whose webhook receives these events. Returns the body of requests for its status.
fn submit(server: &Server, model: (&str, &str), receiver: &SmallServer, events: Value) -> Value {
    let webhook = format!("{}/", receiver.url());
    server.generate(
        model,
        json!({"prompt": "a", "webhook": webhook, "webhook_events": events}),
    )
}

/// Guards against an event that several processes send.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn each_event_is_sent_by_one_of_all_processes() {
    let receiver = SmallServer::start(ok);
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
    wait_until(&cluster, "all events are delivered", || {
        let metrics = servers[0].get("/metrics").text();
        receiver.requests("/").len() >= 20 && metrics.contains("atelier_webhooks_waiting{} 0")
    });
    let requests = receiver.requests("/");
    let ids: HashSet<&str> = requests
        .iter()
        .map(|request| request.header("webhook-id"))
        .collect();
    assert_eq!((requests.len(), ids.len()), (20, 20));
}

/// Guards against an event that is selected again and again, because it has no webhook, before all others.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn an_event_without_its_webhook_blocks_no_other_event() {
    let receiver = SmallServer::start(ok);
    let cluster = Cluster::new();
    let server = cluster.serve("s0", &["--webhooks", &receiver.url()]);
    submit(&server, STRATA, &receiver, json!(["completed"]));
    cluster.query(
        "INSERT INTO webhook_event (task, event, host, occurred_ms, due_ms)
             SELECT task, 'completed', host, created_ms, 0 FROM webhook JOIN task ON task.id = task;
         DELETE FROM webhook",
    );
    let task = submit(&server, STRATA, &receiver, json!(["completed"]));
    let _worker = cluster.work_with("w", &["--draw-scale", "0.05"]);
    wait_until(&cluster, "the other event is sent", || {
        !receiver.requests("/").is_empty()
    });
    let requests = receiver.requests("/");
    assert_eq!(requests[0].json()["data"]["id"], task["id"]);
}
