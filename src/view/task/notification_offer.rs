//! The offer of notifications, shown next to the first task that takes long.

use atelier_engine::{Millis, Task};
use leptos::prelude::*;

use crate::reactive::boxed::{dynamic, effect, handler, memo};
use crate::state::contexts::contexts;
use crate::state::notification_choice;
use crate::view::parts::focus;

thread_local! {
    /// The number of offers on the page. At most one is shown.
    static SHOWN: ArcRwSignal<u32> = ArcRwSignal::new(0);
}

/// The offer, shown while the task takes long and no other task shows it.
pub fn offer(task: ArcRwSignal<Task>, now: RwSignal<Millis>) -> AnyView {
    let all = contexts();
    let shown = SHOWN.with(Clone::clone);
    let is_shown_here = RwSignal::new(false);
    let is_offered = {
        let shown = shown.clone();
        memo(move || {
            let is_elsewhere = !is_shown_here.get() && shown.get() > 0;
            notification_choice::facts(all, &task.read(), is_elsewhere).is_offered(now.get())
        })
    };
    let release = {
        let shown = shown.clone();
        move || {
            if is_shown_here.try_get_untracked() == Some(true) {
                is_shown_here.try_set(false);
                shown.update(|shown| *shown = shown.saturating_sub(1));
            }
        }
    };
    effect({
        let release = release.clone();
        move || match (is_offered.get(), is_shown_here.get_untracked()) {
            (true, false) => {
                is_shown_here.set(true);
                shown.update(|shown| *shown += 1);
            }
            (false, true) => release(),
            _ => {}
        }
    });
    on_cleanup(release);
    let accept = move |_| {
        notification_choice::choose(all, true);
        notification_choice::ask(all, || {});
        focus::when_lost(to_page);
    };
    let decline = move |_| {
        notification_choice::choose(all, false);
        focus::when_lost(to_page);
    };
    dynamic(move || {
        match is_offered.get() && is_shown_here.get() {
        true => view! {
            <div class="row notification-offer">
                <p class="muted">"This takes a while. Get a notification if it is done while this page is hidden?"</p>
                <button class="button small" type="button" on:click=handler(accept)>
                    "Notify me"
                </button>
                <button
                    class="button quiet small"
                    type="button"
                    on:click=handler(decline)
                >
                    "Not now"
                </button>
            </div>
        }
        .into_any(),
        false => ().into_any(),
    }
    })
}

fn to_page() {
    let _ = focus::to_without_scrolling("main");
}
