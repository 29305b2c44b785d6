//! The status shown on every page: how many tasks are under way, and what blocks them.

use atelier_engine::BlockReason;
use leptos::prelude::*;

use crate::reactive::boxed::{after, effect, handler, memo, text, when};
use crate::state::contexts::contexts;
use crate::state::outage;
use crate::view::parts::settings_link::in_text_nodes;
use crate::view::parts::ticker::ticker;

/// How long a retry is shown as in progress, in milliseconds. If the service replies earlier, the message disappears.
const RETRY_SHOWN_MS: u32 = 1_500;

/// The number of tasks under way, hidden if there are none. The accessible name of the link stays `Tasks`.
pub fn task_count() -> AnyView {
    let runner = contexts().runner;
    let active = memo(move || runner.active_count());
    view! {
        <span class="count" translate="no" aria-hidden="true" hidden=when(move || active.get() == 0)>
            {text(move || active.get().to_string())}
        </span>
    }
    .into_any()
}

/// The messages above every page while calls or storage are blocked: why, and until when. `send_unstored.rs` asks what to
/// do about storage.
pub fn status() -> AnyView {
    let all = contexts();
    let (runner, navigation) = (all.runner, all.navigation);
    let now = ticker(1_000);
    let sentence = memo(move || match runner.block_reason() {
        Some(block_reason) => Some(block_reason.user_message(now.get())),
        None if outage::is_shown_by_page(all) => None,
        None => outage::message(all),
    });
    let has_no_message = when(move || sentence.read().is_none());
    // A temporary message must not move a button that is about to be pressed, so it covers part of the page. A lasting message
    // has space of its own, and so does any message that is still shown when another page is opened.
    let has_space = RwSignal::new(false);
    effect(move || {
        navigation.route();
        has_space.set(sentence.with_untracked(Option::is_some));
    });
    effect(move || {
        let is_brief = runner
            .block_reason()
            .is_some_and(|reason| reason.is_temporary());
        if !is_brief && sentence.read().is_some() {
            has_space.set(true);
        }
    });
    // Keeps the last message, so that the space does not change.
    let last = StoredValue::new(String::new());
    let message = text(move || match sentence.get() {
        Some(sentence) => {
            last.set_value(sentence.clone());
            sentence
        }
        None => last.get_value(),
    });
    let can_retry = memo(move || {
        let reason = runner.block_reason();
        reason.is_none_or(|reason| reason.can_retry_now())
    });
    let is_unauthorized = memo(move || runner.block_reason() == Some(BlockReason::Unauthorized));
    let is_storage_error = when(move || runner.block_reason() == Some(BlockReason::StorageError));
    // Shows that the press was received, even if the service does not reply.
    let is_asking = RwSignal::new(false);
    let try_now = move |_| {
        runner.wake();
        all.catalog.ask_again();
        is_asking.set(true);
        let end = after(RETRY_SHOWN_MS, move || {
            // The page may have been closed.
            let _ = is_asking.try_set(false);
        });
        end.forget();
    };
    let unstored_message = memo(move || runner.unstored_message());
    let other_accounts_message = memo(move || runner.tasks_of_other_accounts().user_message());
    view! {
        <div class="limit" role="status" translate="no">
            <p class="limit-line" hidden=when(move || other_accounts_message.read().is_none())>
                <span>{in_text_nodes(text(move || other_accounts_message.get().unwrap_or_default()))}</span>
            </p>
            <p class="limit-line" hidden=when(move || unstored_message.read().is_none())>
                {text(move || unstored_message.get().unwrap_or_default())}
            </p>
            <div
                class="limit-line pause"
                class:passing=when(move || !has_space.get())
                class:over=has_no_message
                hidden=when(move || has_no_message.get() && !has_space.get())
            >
                <span>
                    {message} " "
                    <a href="/settings" hidden=when(move || !is_unauthorized.get())>
                        "Check them in Settings"
                    </a>
                </span>
                <button
                    class="button quiet small"
                    type="button"
                    hidden=when(move || !can_retry.get())
                    on:click=handler(try_now)
                >
                    {text(move || match is_asking.get() {
                        true => "Asking…".to_owned(),
                        false => "Try now".to_owned(),
                    })}
                </button>
                <button
                    class="button quiet small"
                    type="button"
                    hidden=when(move || !is_storage_error.get())
                    on:click=handler(move |_| runner.send_without_storage())
                >
                    "Send anyway"
                </button>
            </div>
        </div>
    }
    .into_any()
}
