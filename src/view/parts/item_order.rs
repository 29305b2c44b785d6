//! In which order the page shows the items of a batch, for who leads through them elsewhere.

use atelier_engine::BatchKey;
use leptos::prelude::*;

use crate::reactive::boxed::effect;

thread_local! {
    static SHOWN: ArcRwSignal<Option<(BatchKey, Vec<usize>)>> = ArcRwSignal::new(None);
}

/// Makes it known as long as the view is there. `order`: none where it is that of the batch.
pub fn make_known(batch: BatchKey, order: Memo<Option<Vec<usize>>>) {
    let shown = SHOWN.with(Clone::clone);
    effect({
        let (batch, shown) = (batch.clone(), shown.clone());
        move || shown.set(order.get().map(|order| (batch.clone(), order)))
    });
    on_cleanup(move || {
        let is_its_own = shown.with_untracked(|it| it.as_ref().is_some_and(|it| it.0 == batch));
        if is_its_own {
            shown.set(None);
        }
    });
}

/// That of this batch, where it is another one than its own; tracked.
pub fn of(batch: &BatchKey) -> Option<Vec<usize>> {
    let shown = SHOWN.with(Clone::clone).get();
    shown.filter(|(of, _)| of == batch).map(|(_, order)| order)
}
