//! The runtime that drives the connections to PostgreSQL and to buckets.
//!
//! It is separate from the runtime that serves requests. If all threads of that runtime block on responses of other
//! servers, the threads of this runtime still receive the responses.

use std::sync::LazyLock;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// Futures on this runtime must not block.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("client")
        .enable_all()
        .build()
        // The service can't run without these threads.
        .expect("threads for the connections to other servers")
});

/// Runs a future to completion and blocks the current thread.
pub fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::task::block_in_place(|| RUNTIME.block_on(work))
}

/// Spawns a future on this runtime.
pub fn spawn<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    RUNTIME.spawn(work)
}
