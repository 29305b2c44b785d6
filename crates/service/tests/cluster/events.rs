//! A process streams the changes that other processes make.

use serde_json::json;

use super::support::event_stream::Stream;
use super::support::request;
use super::{Cluster, STRATA, wait_until};

#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn a_stream_has_the_changes_of_other_processes() {
    let cluster = Cluster::new();
    let [first, second] = ["s0", "s1"].map(|data| cluster.serve(data, &[]));
    let _worker = cluster.work("w0");
    let mut stream = Stream::open(&first, "me", None);
    stream.begin();
    let body = request(STRATA, json!({"prompt": "a", "seed": 1}));
    let task = second.post("/v2/generate", &body).json()["data"].clone();
    stream.await_status(&task, "completed");
}

/// Guards against new tasks that no process announces: the database announces only their later changes.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn a_stream_has_the_tasks_that_other_processes_accept() {
    let cluster = Cluster::new();
    let [first, second] = ["s0", "s1"].map(|data| cluster.serve(data, &[]));
    let mut stream = Stream::open(&first, "me", None);
    stream.begin();
    wait_until(&cluster, "the process receives notifications", || {
        let listening = "SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND query LIKE 'LISTEN%atelier_task%'";
        cluster.query(listening) == "1"
    });
    // No process works on it.
    let body = request(STRATA, json!({"prompt": "a", "seed": 1}));
    let task = second.post("/v2/generate", &body).json()["data"].clone();
    stream.await_status(&task, "processing");
}
