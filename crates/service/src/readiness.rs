//! Checks whether the service is ready for new tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use crate::outputs::Outputs;
use crate::store::Store;
use crate::worker::Pool;

/// How long a result is cached, because a check writes to the disk.
const FRESH: Duration = Duration::from_secs(1);

/// How long to wait for the store.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The result of a check: a part of the service, and its problem, if any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    pub part: &'static str,
    pub problem: Option<String>,
}

/// Checks the parts of the service, and caches the results.
#[derive(Debug, Default)]
pub struct Readiness {
    last: Mutex<Option<(Instant, Vec<Check>)>>,
    /// Whether a check of the store is in progress.
    is_checking: Arc<AtomicBool>,
}

/// Marks the end of a check of the store on drop, also after a panic.
struct CheckGuard(Arc<AtomicBool>);

impl Drop for CheckGuard {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Readiness {
    /// Returns the results of all checks.
    pub async fn check(
        &self,
        store: &Arc<dyn Store>,
        pool: &Pool,
        outputs: &Outputs,
    ) -> Vec<Check> {
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
        let stopping = || "The service is about to stop and accepts no more tasks.".to_owned();
        let accepting = check("accepting", draining.then(stopping));
        checks.into_iter().chain([accepting]).collect()
    }

    /// Checks the store. At most one check is in progress at a time, so that blocked checks don't occupy all threads.
    async fn store(&self, store: &Arc<dyn Store>) -> Option<String> {
        let no_response = || Some("The database does not respond.".to_owned());
        if self.is_checking.swap(true, Ordering::AcqRel) {
            return no_response();
        }
        let (store, is_checking) = (store.clone(), CheckGuard(self.is_checking.clone()));
        let checked = tokio::task::spawn_blocking(move || {
            let _guard = is_checking;
            store.try_write()
        });
        match tokio::time::timeout(TIMEOUT, checked).await {
            Ok(Ok(Ok(()))) => None,
            Ok(Ok(Err(error))) => {
                tracing::warn!("not ready: {error}");
                Some("The database can't be written; see the log.".to_owned())
            }
            Ok(Err(_)) | Err(_) => no_response(),
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
    (!outputs.has_space()).then(|| "The disk has no space for another task.".to_owned())
}
