use leptos::prelude::*;

use super::focus;
use crate::reactive::boxed::{handler, when};

/// The message while Generate waits for files, with a button that takes the press back, or why nothing was sent after the wait.
pub fn wait_line(
    message: Signal<String>,
    is_waiting: Signal<bool>,
    cancel: impl Fn() + 'static,
) -> AnyView {
    let cancel = move |_: leptos::ev::MouseEvent| {
        cancel();
        focus::when_lost(|| {
            focus::to_without_scrolling(".form-foot .primary");
        });
    };
    view! {
        <div class="upload-wait" class:visually-hidden=when(move || message.read().is_empty())>
            <p role="status" class:problem=when(move || !is_waiting.get()) prop:textContent=message></p>
            <button
                class="button small"
                type="button"
                hidden=when(move || !is_waiting.get())
                on:click=handler(cancel)
            >
                "Cancel"
            </button>
        </div>
    }
    .into_any()
}
