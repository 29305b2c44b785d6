use std::sync::Arc;

use atelier_studio::batch::Batch;
use atelier_studio::batch::space::Space;
use atelier_studio::text::plural::listed;
use icondata_lu::LuMove;
use leptos::prelude::*;

use crate::reactive::boxed::{follow_memo, handler, memo, text, when};
use crate::state::contexts::contexts;
use crate::view::lightbox::shown;
use crate::view::parts::glyph::Glyph;

/// A button that opens the large view, in which the user steps through the results along the axes that differ. Hidden if
/// no parameter differs. `has_failed`: whether the batch ended without results, which hides the button too.
pub fn explore(batch: Arc<Batch>, has_failed: Memo<bool>) -> AnyView {
    let all = contexts();
    let key = StoredValue::new(batch.key.clone());
    // The keys of the tasks, so that state changes don't recompute the axes.
    let tasks = memo(move || all.runner.keys_of_batch(&key.get_value()));
    let axes = memo(move || {
        follow_memo(tasks);
        let space = all.runner.with_tasks(|tasks| Space::of(&batch, tasks));
        let axes = space.map(|space| space.exploration.axes.into_iter());
        axes.map(|axes| axes.map(|axis| axis.parameter).collect::<Vec<_>>())
    });
    view! {
        <button
            class="button"
            type="button"
            title=text(move || {
                let axes = axes.get().unwrap_or_default();
                format!("Step through the results by {}", listed(&axes))
            })
            hidden=when(move || axes.read().is_none() || has_failed.get())
            on:click=handler(move |_| shown::explore(all.navigation, &key.get_value()))
        >
            <Glyph icon=LuMove />
            "Explore"
        </button>
    }
    .into_any()
}
