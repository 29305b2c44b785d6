//! The runtime that drives the connections to PostgreSQL and to buckets.
//!
//! It is apart from the one that answers calls: threads of that one wait for what these say, and when all of
//! them do, none would be left to hear it.

use std::sync::LazyLock;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// Nothing on it waits in any other way than by `await`.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("client")
        .enable_all()
        .build()
        // Without threads there is no service.
        .expect("threads for the connections to other servers")
});

/// Waits for the end of some work, on a thread that may wait.
pub fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::task::block_in_place(|| RUNTIME.block_on(work))
}

/// Begins work that goes on by itself.
pub fn spawn<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    RUNTIME.spawn(work)
}
