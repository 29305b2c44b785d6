use atelier_engine::Task;
use atelier_studio::batch::space::Space;
use icondata_lu::LuMove;
use leptos::prelude::*;

use crate::reactive::boxed::{handler, memo, text, when};
use crate::state::batches::Batches;
use crate::state::contexts::contexts;
use crate::view::lightbox::shown::EXPLORED;
use crate::view::parts::glyph::Glyph;

/// Returns the button that opens a sweep at this task, hidden if the items of its batch don't differ.
pub fn explore_button(task: &Task) -> AnyView {
    let all = contexts();
    let Some(batch) = task.batch.as_ref().map(|place| place.batch.clone()) else {
        return ().into_any();
    };
    let key = task.key.clone();
    let batches = Batches::new(all);
    // The page below may not have loaded the batches.
    batches.follow();
    let address = memo(move || {
        let found = batches.find(&batch)?;
        let space = all.runner.with_tasks(|tasks| Space::of(&found, tasks))?;
        // A task that was retried has no position: its retry has replaced it.
        let position = space.position_of(&key).unwrap_or_default();
        Some(space.exploration.address(&batch, &position))
    });
    // Most batches have differing items: reserve the space until the batches are read, so that a late button doesn't
    // shift the layout.
    let is_awaited = when(move || address.read().is_none() && !batches.is_read());
    let visibility = text(move || if is_awaited.get() { "hidden" } else { "" }.to_owned());
    let open = move |_| {
        if let Some(address) = address.get_untracked() {
            all.navigation.push_query(EXPLORED, &address);
        }
    };
    view! {
        <button
            class="button quiet"
            type="button"
            style:visibility=visibility
            hidden=when(move || address.read().is_none() && !is_awaited.get())
            on:click=handler(open)
        >
            <Glyph icon=LuMove />
            "Explore"
        </button>
    }
    .into_any()
}
