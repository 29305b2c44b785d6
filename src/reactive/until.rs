//! Waiting for what signals say.

use futures::channel::oneshot;
use futures::future;
use leptos::prelude::*;

/// Waits until there is an answer; it is looked for again whenever a signal changes that was read.
pub async fn until<T: 'static>(look: impl Fn() -> Option<T> + 'static) -> T {
    let (tell, told) = oneshot::channel();
    let mut tell = Some(tell);
    let _following = RenderEffect::new(move |_| {
        let found = tell.is_some().then(&look).flatten();
        if let Some((tell, found)) = tell.take_if(|_| found.is_some()).zip(found) {
            // The receiver may be gone.
            let _ = tell.send(found);
        }
    });
    match told.await {
        Ok(found) => found,
        Err(_) => future::pending().await,
    }
}
