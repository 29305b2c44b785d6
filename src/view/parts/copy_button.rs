use crate::state::contexts::contexts;
use futures::future::{FutureExt, LocalBoxFuture, ready};
use gloo_timers::future::TimeoutFuture;
use icondata_lu::{LuCheck, LuCopy};
use leptos::prelude::*;

use super::glyph::changing_glyph;
use crate::browser::clipboard;
use crate::reactive::boxed::{self, handler, spawn};

/// A button that copies a text to the clipboard and confirms that.
#[component]
pub fn CopyButton<T: Into<Option<String>> + 'static>(
    #[prop(into)] label: Signal<String>,
    /// A function that returns the text. It is called at each click, so that a long text is not kept in memory. It returns
    /// `None` if it has already shown why there is no text.
    text: impl Fn() -> T + 'static,
) -> impl IntoView {
    copy_button(label, move || ready(text().into()).boxed_local())
}

/// Returns a [`CopyButton`] whose text is computed asynchronously.
pub fn copy_button(
    label: Signal<String>,
    text: impl Fn() -> LocalBoxFuture<'static, Option<String>> + 'static,
) -> AnyView {
    let uncopied = contexts().uncopied;
    let copied = RwSignal::new(false);
    let copy = move |_| {
        let text = text();
        spawn(async move {
            let Some(text) = text.await else {
                return;
            };
            if clipboard::copy(&text).await {
                copied.try_set(true);
                TimeoutFuture::new(2_000).await;
                copied.try_set(false);
            } else {
                uncopied.set(Some(text));
            }
        });
    };
    view! {
        <button class="button quiet" type="button" on:click=handler(copy)>
            {changing_glyph(move || if copied.get() { LuCheck } else { LuCopy })}
            <span aria-live="polite" prop:textContent=boxed::text(move || if copied.get() { "Copied".into() } else { label.get() })></span>
        </button>
    }
    .into_any()
}
