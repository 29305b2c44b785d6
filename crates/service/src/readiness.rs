//! Whether the service can do its work at this moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use crate::outputs::Outputs;
use crate::store::Store;
use crate::worker::Pool;

/// A client that asks more often gets the last answer: asking writes to the disk.
const FRESH: Duration = Duration::from_secs(1);

/// The store has this long to answer.
const TIMEOUT: Duration = Duration::from_secs(2);

/// A part of the service, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    pub part: &'static str,
    pub problem: Option<String>,
}

/// Looks at the parts, and remembers for a moment what it saw.
#[derive(Debug, Default)]
pub struct Readiness {
    last: Mutex<Option<(Instant, Vec<Check>)>>,
    /// The store has not answered yet.
    asking: Arc<AtomicBool>,
}

/// Ends on every way out: were one that panics never at its end, it would never be asked again.
struct Asking(Arc<AtomicBool>);

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Readiness {
    pub async fn look(&self, store: &Arc<dyn Store>, pool: &Pool, outputs: &Outputs) -> Vec<Check> {
        let mut last = self.last.lock().await;
        let checks = match &*last {
            Some((at, checks)) if at.elapsed() < FRESH => checks.clone(),
            _ => {
                let checks = vec![
                    check("store", self.store(store).await),
                    check("workers", workers(pool)),
                    check("disk", disk(outputs)),
                ];
                *last = Some((Instant::now(), checks.clone()));
                checks
            }
        };
        let draining = pool.is_draining();
        let stopping = || "The service is about to stop and takes no more tasks.".to_owned();
        let accepting = check("accepting", draining.then(stopping));
        checks.into_iter().chain([accepting]).collect()
    }

    /// Not two at a time wait for a disk that does not answer.
    async fn store(&self, store: &Arc<dyn Store>) -> Option<String> {
        let silent = || Some("The database does not answer.".to_owned());
        if self.asking.swap(true, Ordering::AcqRel) {
            return silent();
        }
        let (store, asking) = (store.clone(), Asking(self.asking.clone()));
        let asked = tokio::task::spawn_blocking(move || {
            let _asking = asking;
            store.try_write()
        });
        match tokio::time::timeout(TIMEOUT, asked).await {
            Ok(Ok(Ok(()))) => None,
            Ok(Ok(Err(error))) => {
                tracing::warn!("not ready: {error}");
                Some("The database can't be written to; the log says why.".to_owned())
            }
            Ok(Err(_)) | Err(_) => silent(),
        }
    }
}

fn check(part: &'static str, problem: Option<String>) -> Check {
    Check { part, problem }
}

fn workers(pool: &Pool) -> Option<String> {
    let lost = pool.threads_lost();
    (lost > 0 && !pool.is_draining()).then(|| format!("{lost} worker threads have ended."))
}

fn disk(outputs: &Outputs) -> Option<String> {
    (!outputs.has_space()).then(|| "There is no room on the disk for another task.".to_owned())
}
