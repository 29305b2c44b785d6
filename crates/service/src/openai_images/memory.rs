//! Bounds the memory of the responses with files.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The maximum size of all responses with files that are in memory, in KiB.
const MAX_KIB: u32 = 256 << 10;

/// How long a response waits until others are sent.
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// The memory that is left for responses.
pub struct Memory(Arc<Semaphore>);

impl Default for Memory {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_KIB as usize)))
    }
}

impl Memory {
    /// Waits until a response of this size fits, and counts it until the returned value is dropped. Returns `None` if that
    /// takes too long.
    pub async fn reserve(&self, bytes: u64) -> Option<OwnedSemaphorePermit> {
        self.reserve_within(bytes, MAX_PAUSE).await
    }

    async fn reserve_within(
        &self,
        bytes: u64,
        max_pause: Duration,
    ) -> Option<OwnedSemaphorePermit> {
        let kib = u32::try_from(bytes.div_ceil(1024)).ok()?;
        let reserving = self.0.clone().acquire_many_owned(kib);
        // The semaphore is never closed.
        tokio::time::timeout(max_pause, reserving).await.ok()?.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against any number of responses in memory.
    #[tokio::test]
    async fn responses_share_a_limited_amount_of_memory() {
        let memory = Memory::default();
        let reserve = |bytes| memory.reserve_within(bytes, Duration::ZERO);
        let first = reserve(u64::from(MAX_KIB) * 1024).await;
        assert!(first.is_some());
        assert!(reserve(1).await.is_none());
        drop(first);
        assert!(reserve(1).await.is_some());
    }
}
