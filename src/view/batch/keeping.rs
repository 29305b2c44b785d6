use leptos::prelude::*;

use super::composer::Composer;
use crate::erased::{dynamic, handler, text, when};
use crate::tables::{Aside, Why};

/// What stands in the way of keeping the table, and rows that gave way to those of another tab.
pub fn keeping(composer: Composer) -> AnyView {
    let kept = composer.keeping();
    let (refusal, aside) = (kept.refusal(), kept.aside());
    let is_kept = {
        let refusal = refusal.clone();
        when(move || refusal.read().is_none() || composer.table.read().is_empty())
    };
    let trouble = text(move || match *refusal.read() {
        Some(refusal) => format!(
            "These rows are not being kept: {}. They stay here until this tab is closed or loaded \
             anew.",
            refusal.words()
        ),
        None => String::new(),
    });
    let offer = move || {
        aside
            .get()
            .map(|aside| {
                view! {
                    <p>{sentence(&aside)}</p>
                    <div class="row">
                        <button
                            class="button"
                            type="button"
                            on:click=handler(move |_| composer.keeping().swap())
                        >
                            "Show them instead"
                        </button>
                        <button
                            class="button quiet"
                            type="button"
                            on:click=handler(move |_| composer.keeping().let_go())
                        >
                            "Let them go"
                        </button>
                    </div>
                }
                .into_any()
            })
            .into_any()
    };
    view! {
        <p class="note" role="status" hidden=is_kept>
            {trouble}
        </p>
        <div class="aside-rows" role="status">
            {dynamic(offer)}
        </div>
    }
    .into_any()
}

fn sentence(aside: &Aside) -> String {
    let rows = match aside.table.rows().len() {
        1 => "1 row".to_owned(),
        n => format!("{n} rows"),
    };
    match aside.why {
        Why::Replaced => format!(
            "Another tab changed this table later than this one, so its rows are shown. What stood \
             here was put aside: {rows}."
        ),
        Why::Replacing => format!(
            "Another tab had changed this table, too, but earlier than this one. What stood there \
             was put aside: {rows}."
        ),
        Why::Earlier => format!("An earlier Atelier has left other rows for this model: {rows}."),
        Why::Chosen => format!("What stood here before was put aside: {rows}."),
    }
}
