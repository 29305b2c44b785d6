use atelier_studio::navigation::route::Route;
use leptos::prelude::*;

use super::composer::Composer;
use crate::reactive::boxed::{dynamic, memo};

/// A mark for a row that was sent before, with a link to its batch.
pub fn row_state(composer: Composer, id: u64) -> AnyView {
    let batch = memo(move || {
        let table = composer.table.read();
        let (_, row) = table.row(id)?;
        row.earlier().map(|place| place.batch.clone())
    });
    dynamic(move || {
        let Some(batch) = batch.get() else {
            return ().into_any();
        };
        view! {
            <a class="sent-mark" translate="no" href=Route::Batch(batch).path() title="Show its result">
                "Sent before"
            </a>
        }
        .into_any()
    })
    .into_any()
}
