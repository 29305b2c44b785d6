//! The runtime that drives the connections to PostgreSQL and to buckets.
//!
//! It is separate from the runtime that serves requests: if all threads of that one block on a response, none would
//! be left to receive it.

use std::sync::LazyLock;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// Nothing on this runtime may block.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("client")
        .enable_all()
        .build()
        // Without threads there is no service.
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
