//! The order in which the page shows the items of a batch. The lightbox steps through them in the same order.

use atelier_engine::BatchKey;
use leptos::prelude::*;

use crate::reactive::boxed::effect;

thread_local! {
    static SHOWN: ArcRwSignal<Option<(BatchKey, Vec<usize>)>> = ArcRwSignal::new(None);
}

/// Publishes the order until the current owner is disposed. `order`: `None` for the original order of the batch.
pub fn publish_order(batch: BatchKey, order: Memo<Option<Vec<usize>>>) {
    let shown = SHOWN.with(Clone::clone);
    effect({
        let (batch, shown) = (batch.clone(), shown.clone());
        move || shown.set(order.get().map(|order| (batch.clone(), order)))
    });
    on_cleanup(move || {
        let is_published = shown.with_untracked(|it| it.as_ref().is_some_and(|it| it.0 == batch));
        if is_published {
            shown.set(None);
        }
    });
}

/// Returns the published order of this batch, or `None` for its original order; tracked.
pub fn of(batch: &BatchKey) -> Option<Vec<usize>> {
    let shown = SHOWN.with(Clone::clone).get();
    shown.filter(|(of, _)| of == batch).map(|(_, order)| order)
}
