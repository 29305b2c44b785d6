//! The way back for what was removed.

use atelier_engine::Action;
use atelier_engine::removed::{last_removed, removed_message};
use atelier_engine::route::Route;
use leptos::prelude::*;

use super::parts::ticker::ticker;
use super::parts::{focus, focus_return};
use crate::boxed::{handler, memo, text, when};
use crate::browser::clock;
use crate::contexts::contexts;

/// What is said of an output that is shown large.
const LARGE: &str = "dialog.lightbox[open] .lightbox-panel";

/// The focus is looked for at so many of the tasks that are back.
const MAX_TASKS: usize = 50;

/// Brings back what was removed just now, in whichever tab.
#[component]
pub fn Undo() -> impl IntoView {
    let runner = contexts().runner;
    let now = ticker(1_000);
    let all = memo(move || runner.removed());
    let removed = memo(move || last_removed(&*all.read(), now.get().max(clock::now())));
    let sentence = text(move || {
        let (all, removed) = (all.read(), removed.read());
        removed_message(all.iter().filter(|task| removed.contains(&task.key)))
    });
    let undo = move |_| {
        let back = removed.get_untracked();
        runner.act_on_all(&back, Action::Restore);
        // The button goes. A dialog is not to lose the focus to what lies behind it; on a page it goes to what is back.
        let places = back.iter().take(MAX_TASKS).flat_map(|key| {
            let tile = format!("[data-output={}]", focus::quoted(&key.output(0)));
            let link = format!(
                "main a[href={}]",
                focus::quoted(&Route::Task(key.clone()).path())
            );
            [tile, link]
        });
        let places = std::iter::once(LARGE.to_owned()).chain(places);
        focus_return::once_built(places.collect());
    };
    view! {
        <div class="undo" hidden=when(move || removed.read().is_empty())>
            <p role="status" prop:textContent=sentence></p>
            <button class="button quiet small" type="button" on:click=handler(undo)>
                "Undo"
            </button>
        </div>
    }
}
