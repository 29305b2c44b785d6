//! PostgreSQL is unavailable for a while.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::runtime::Runtime;

use super::proxy::{Mode, Proxy};
use super::support::{Server, request};
use super::{Cluster, OWN};

/// Longer than a process caches that there are no accounts.
const OUTAGE: Duration = Duration::from_secs(2);

/// Guards against a 500 or 401 while the accounts can't be read: clients don't repeat these calls. Guards also against a list
/// of models without its guest, after which the page asks for a token.
#[test]
#[ignore = "needs PostgreSQL and a bucket: ./dev test cluster"]
fn calls_are_retryable_while_the_accounts_cannot_be_read() {
    let mut cluster = Cluster::new();
    let runtime = Runtime::new().unwrap();
    let (server, name) = cluster.database.rsplit_once('/').unwrap();
    let (scheme, address) = server.rsplit_once('@').unwrap();
    let proxy = Proxy::start(&runtime, address.parse().unwrap());
    cluster.database = format!("{scheme}@{}/{name}", proxy.address);
    let server = cluster.serve("s0", &[]);
    let mut task = request(OWN, json!({}));
    task["id"] = "none".into();
    let status = |server: &Server| server.post("/v2/status", &task).status;
    assert_eq!(status(&server), 404);
    proxy.set(Mode::Refuse);
    let begin = Instant::now();
    let mut statuses = Vec::new();
    while begin.elapsed() < OUTAGE || statuses.last() != Some(&503) {
        assert!(begin.elapsed() < 20 * OUTAGE, "{statuses:?}");
        statuses.push(status(&server));
    }
    let models = server.get("/api/models");
    assert_eq!(models.status, 503, "{}", models.text());
    assert_eq!(models.error(), "storage_unavailable");
    proxy.set(Mode::Forward);
    while statuses.last() != Some(&404) {
        assert!(begin.elapsed() < 40 * OUTAGE, "{statuses:?}");
        statuses.push(status(&server));
    }
    let models = server.get("/api/models").json();
    assert!(models["guest"].is_object(), "{models}");
    statuses.dedup();
    assert!(
        statuses.iter().all(|status| matches!(status, 404 | 503)),
        "{statuses:?}"
    );
}
