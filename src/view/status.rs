//! What tasks have to say on every page: how many are under way, and what holds them up.

use atelier_engine::BlockReason;
use gloo_timers::callback::Timeout;
use leptos::prelude::*;

use super::parts::ticker::ticker;
use crate::boxed::{effect, handler, memo, text, when};
use crate::browser::storage::StorageError;
use crate::contexts::contexts;

/// How long storage may be away before a person is asked what to do, in milliseconds.
const UNKEPT_PATIENCE_MS: u32 = 1_000;

/// How many tasks are under way; nothing when none is. The link's name stays `Tasks`.
pub fn task_count() -> AnyView {
    let runner = contexts().runner;
    let active = memo(move || runner.active_count());
    view! {
        <span class="count" aria-hidden="true" hidden=when(move || active.get() == 0)>
            {text(move || active.get().to_string())}
        </span>
    }
    .into_any()
}

/// What stands above every page while calls or storage are held up.
pub fn status() -> AnyView {
    view! {
        <LimitNotice />
        <SendUnstoredDialog />
    }
    .into_any()
}

/// Why no call is made just now, and until when.
#[component]
fn LimitNotice() -> impl IntoView {
    let runner = contexts().runner;
    let now = ticker(1_000);
    let sentence = memo(move || {
        let block_reason = runner.block_reason()?;
        Some(block_reason.user_message(now.get()))
    });
    let is_unkept = when(move || runner.block_reason() == Some(BlockReason::NotKept));
    let kept = text(move || {
        let error = runner.storage_error();
        error.map(StorageError::user_message).unwrap_or_default()
    });
    view! {
        <div class="limit" role="status">
            <p class="limit-line" hidden=when(move || runner.storage_error().is_none())>
                {kept}
            </p>
            <div class="limit-line" hidden=when(move || sentence.read().is_none())>
                <span>{text(move || sentence.get().unwrap_or_default())}</span>
                <button
                    class="button quiet small"
                    type="button"
                    hidden=is_unkept
                    on:click=handler(move |_| runner.wake())
                >
                    "Try now"
                </button>
                <button
                    class="button quiet small"
                    type="button"
                    hidden=when(move || !is_unkept.get())
                    on:click=handler(move |_| runner.send_unkept())
                >
                    "Send anyway"
                </button>
            </div>
        </div>
    }
}

/// Asks before anything is sent that can't be kept: it costs money, and would be lost with the tab.
#[component]
fn SendUnstoredDialog() -> impl IntoView {
    let runner = contexts().runner;
    let dialog = NodeRef::<leptos::html::Dialog>::new();
    let is_asking = memo(move || runner.block_reason() == Some(BlockReason::NotKept));
    let close = move || {
        if let Some(dialog) = dialog.get_untracked() {
            dialog.close();
        }
    };
    // Storage that is only gone for a moment is nobody's question.
    let patience = StoredValue::new_local(None::<Timeout>);
    effect(move || {
        let open = move || {
            if let (true, Some(dialog)) = (is_asking.get_untracked(), dialog.get_untracked()) {
                // It fails only while the dialog is open already.
                let _ = dialog.show_modal();
            }
        };
        if is_asking.get() {
            patience.set_value(Some(Timeout::new(UNKEPT_PATIENCE_MS, open)));
        } else {
            patience.set_value(None);
            close();
        }
    });
    view! {
        <dialog node_ref=dialog aria-label="Send without keeping">
            <p>
                "This browser can't keep tasks at present. What is sent now runs, and may be billed, but \
                 closing this tab loses sight of it. Nothing has been sent yet."
            </p>
            <div class="row dialog-foot">
                <button class="button" type="button" autofocus on:click=handler(move |_| close())>
                    "Not yet"
                </button>
                <button
                    class="button primary"
                    type="button"
                    on:click=handler(move |_| {
                        close();
                        runner.send_unkept();
                    })
                >
                    "Send anyway"
                </button>
            </div>
        </dialog>
    }
}
