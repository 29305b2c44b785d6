use atelier_engine::compose::table::RowState;
use atelier_engine::route::Route;
use leptos::prelude::*;

use super::composer::Composer;
use crate::boxed::{dynamic, handler, memo};

/// Whether a row was sent, with the way to what was made of it, or to sending it once more.
pub fn row_state(composer: Composer, id: u64, number: usize) -> AnyView {
    let state = memo(move || {
        let table = composer.table.read();
        let (_, row) = table.row(id)?;
        table.state(row, composer.is_held.get())
    });
    let again = move |_| composer.edit(|table| table.send_again(id));
    dynamic(move || {
        let Some(state) = state.get() else {
            return ().into_any();
        };
        let label = state.label();
        let mark = match &state {
            RowState::SentBefore(batch) => view! {
                <a class="sent-mark" translate="no" href=Route::Batch(batch.clone()).path() title="Show what was made of it">
                    {label}
                </a>
            }
            .into_any(),
            RowState::Waits | RowState::Sent => view! { <span class="sent-mark" translate="no">{label}</span> }.into_any(),
        };
        let put_back = (state == RowState::Sent).then(|| {
            view! {
                <button
                    class="button quiet small"
                    type="button"
                    aria-label=format!("Put back: row {number}")
                    title="Let Generate send this row once more"
                    on:click=handler(again)
                >
                    "Put back"
                </button>
            }
            .into_any()
        });
        view! { <span class="row tight">{mark} {put_back}</span> }.into_any()
    })
    .into_any()
}
