//! The way back for what was removed.

use atelier_engine::{Action, removed_last, said_of_removed};
use leptos::prelude::*;

use super::parts::focus;
use super::parts::ticker::ticker;
use crate::boxed::{handler, memo, text, when};
use crate::browser::clock;
use crate::browser::frame::after_frame;
use crate::contexts::contexts;

/// What is said of an output that is shown large.
const LARGE: &str = "dialog.lightbox[open] .lightbox-panel";

/// Brings back what was removed just now, in whichever tab.
#[component]
pub fn Undo() -> impl IntoView {
    let runner = contexts().runner;
    let now = ticker(1_000);
    let all = memo(move || runner.removed());
    let removed = memo(move || removed_last(&*all.read(), now.get().max(clock::now())));
    let sentence = text(move || {
        let (all, removed) = (all.read(), removed.read());
        said_of_removed(all.iter().filter(|task| removed.contains(&task.key)))
    });
    let undo = move |_| {
        runner.act_on_all(&removed.get_untracked(), Action::Restore);
        // The button goes; a dialog is not to lose the focus to what lies behind it.
        after_frame(|| {
            if focus::is_lost() {
                let _ = focus::to(LARGE);
            }
        });
    };
    view! {
        <div class="undo" hidden=when(move || removed.read().is_empty())>
            <p role="status">{sentence}</p>
            <button class="button quiet small" type="button" on:click=handler(undo)>
                "Undo"
            </button>
        </div>
    }
}
