//! Several processes send the webhooks of a shared database.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::support::small_server::{Request, Response, SmallServer};
use super::support::{STRATA, Server, request};
use super::{Cluster, LEASE, OWN, wait_for_end, wait_until};

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

/// Delays the commit of each transaction that removes an event, so that others run meanwhile.
fn delay_removals(cluster: &Cluster, seconds: u32) {
    cluster.query(&format!(
        "CREATE FUNCTION delay() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN PERFORM pg_sleep({seconds}); RETURN NULL; END $$;
         CREATE CONSTRAINT TRIGGER delay AFTER DELETE ON webhook_event DEFERRABLE INITIALLY DEFERRED
             FOR EACH ROW EXECUTE FUNCTION delay()"
    ));
}

/// Waits until all events are removed, and checks that no webhook is left.
fn await_no_webhook(cluster: &Cluster) {
    wait_until(cluster, "the events are removed", || {
        cluster.query("SELECT count(*) FROM webhook_event") == "0"
    });
    assert_eq!(cluster.query("SELECT count(*) FROM webhook"), "0");
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

/// Guards against a URL that stays in the database: of two transactions that remove the last two events of a task, each saw the
/// event of the other one.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn a_webhook_is_removed_when_its_last_events_are_delivered_concurrently() {
    let count = AtomicUsize::new(0);
    let receiver = SmallServer::start(move |request: &Request| {
        count.fetch_add(1, Ordering::Relaxed);
        // Before the timeout of the attempt.
        let deadline = Instant::now() + Duration::from_secs(10);
        while count.load(Ordering::Relaxed) < 2 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        ok(request)
    });
    let cluster = Cluster::new();
    let server = cluster.serve("s0", &["--webhooks", &receiver.url()]);
    delay_removals(&cluster, 1);
    submit(&server, STRATA, &receiver, json!(["started", "completed"]));
    let _worker = cluster.work_with("w", &["--draw-scale", "0.05"]);
    wait_until(&cluster, "both events are sent", || {
        receiver.requests("/").len() >= 2
    });
    await_no_webhook(&cluster);
}

/// Guards against a URL that stays in the database: the end of a task does not remove a webhook with an event, and the removal of
/// the event does not remove the webhook of a task that has not ended.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn a_webhook_is_removed_when_its_task_ends_while_its_last_event_is_removed() {
    let receiver = SmallServer::start(ok);
    let cluster = Cluster::new();
    let blocker = cluster.block_program();
    let server = cluster.serve("s0", &["--webhooks", &receiver.url()]);
    delay_removals(&cluster, 15);
    let task = submit(&server, OWN, &receiver, json!(["started"]));
    let _worker = cluster.work("w");
    let sleeping = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event = 'PgSleep'";
    wait_until(&cluster, "the event is removed", || {
        cluster.query(sleeping) == "1"
    });
    drop(blocker);
    let waiting = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'";
    wait_until(
        &cluster,
        "the end of the task waits for the removal",
        || cluster.query(waiting) == "1",
    );
    wait_for_end(&cluster, &server, &task, Instant::now() + 3 * LEASE);
    await_no_webhook(&cluster);
}
