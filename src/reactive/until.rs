//! Waits for a condition on signals.

use futures::channel::oneshot;
use futures::future;
use leptos::prelude::*;

/// Waits until `look` returns a value, and returns it. Calls `look` again whenever a signal that it read changes.
pub async fn until<T: 'static>(look: impl Fn() -> Option<T> + 'static) -> T {
    let (sender, receiver) = oneshot::channel();
    let mut sender = Some(sender);
    let _following = RenderEffect::new(move |_| {
        let found = sender.is_some().then(&look).flatten();
        if let Some((sender, found)) = sender.take_if(|_| found.is_some()).zip(found) {
            // The receiver may have been dropped.
            let _ = sender.send(found);
        }
    });
    match receiver.await {
        Ok(found) => found,
        Err(_) => future::pending().await,
    }
}
