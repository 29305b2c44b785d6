use gloo_timers::future::TimeoutFuture;
use icondata_lu::{LuCheck, LuCopy};
use leptos::prelude::*;

use super::glyph::Glyph;
use crate::browser::clipboard;
use crate::erased::{self, derived, handler, spawn};
use crate::notices::Notices;

/// Copies a text and says so.
#[component]
pub fn CopyButton(
    #[prop(into)] label: Signal<String>,
    /// Made at the click, so that a long text is not kept.
    text: impl Fn() -> String + 'static,
) -> impl IntoView {
    let notices = expect_context::<Notices>();
    let copied = RwSignal::new(false);
    let copy = move |_| {
        let text = text();
        spawn(async move {
            if clipboard::copy(&text).await {
                copied.try_set(true);
                TimeoutFuture::new(2_000).await;
                copied.try_set(false);
            } else {
                notices.problem(
                    "The browser did not allow copying. Select the text and copy it by hand.",
                );
            }
        });
    };
    view! {
        <button class="button quiet" type="button" on:click=handler(copy)>
            <Glyph icon=derived(move || if copied.get() { LuCheck } else { LuCopy }) />
            <span aria-live="polite">{erased::text(move || if copied.get() { "Copied".into() } else { label.get() })}</span>
        </button>
    }
}
