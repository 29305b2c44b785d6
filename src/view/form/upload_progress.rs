//! The progress of an upload: of a field for one file, and of an item in a list.

use atelier_studio::form::upload::state::{UploadState, progress_text, wait_text};
use leptos::prelude::*;

use crate::browser::clock;
use crate::reactive::boxed::{handler, memo, text, when};
use crate::state::contexts::Contexts;
use crate::state::uploads::{self, Upload};
use crate::view::parts::settings_link::with_settings_link;

/// Returns the state of an upload.
pub fn state(upload: Memo<Option<Upload>>) -> Memo<Option<UploadState>> {
    memo(move || upload.read().as_ref().map(|upload| upload.state.clone()))
}

/// The progress bar with its text. `label`: the accessible name.
pub fn bar(state: Memo<Option<UploadState>>, label: Signal<String>) -> AnyView {
    let max = text(move || match &*state.read() {
        Some(UploadState::Sending { total, .. }) => total.max(&1).to_string(),
        _ => "1".to_owned(),
    });
    let value = text(move || match &*state.read() {
        Some(UploadState::Sending { sent, .. }) => sent.to_string(),
        _ => "0".to_owned(),
    });
    let progress = text(move || state.read().as_ref().map(progress_text).unwrap_or_default());
    view! {
        <progress aria-label=label max=max prop:value=value></progress>
        <span class="upload-progress" translate="no" prop:textContent=progress></span>
    }
    .into_any()
}

/// The button that does not wait for the next attempt. `label`: the accessible name. `keep_focus`: moves the focus, because
/// the button disappears.
pub fn try_now(
    all: Contexts,
    id: u32,
    state: Memo<Option<UploadState>>,
    label: Signal<String>,
    keep_focus: impl Fn() + 'static,
) -> AnyView {
    let can_skip = when(move || {
        let state = state.read();
        matches!(
            &*state,
            Some(UploadState::RetryingAt { can_skip: true, .. })
        )
    });
    let press = move |_: leptos::ev::MouseEvent| {
        uploads::retry(all, id);
        keep_focus();
    };
    view! {
        <button
            class="button small"
            type="button"
            aria-label=label
            hidden=when(move || !can_skip.get())
            on:click=handler(press)
        >
            "Try now"
        </button>
    }
    .into_any()
}

/// What a running upload waits for. The element is always present, so that screen readers announce its text.
pub fn wait(state: Memo<Option<UploadState>>) -> AnyView {
    let wait = text(move || {
        let state = state.read();
        let running = state.as_ref().filter(|state| state.is_running());
        let wait = running.map(|state| wait_text(state, clock::time_of_day));
        wait.unwrap_or_default()
    });
    view! {
        <p
            class="hint"
            class:visually-hidden=when(move || wait.read().is_empty())
            role="status"
        >
            {with_settings_link(wait)}
        </p>
    }
    .into_any()
}
