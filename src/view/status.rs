//! What tasks have to say on every page: how many are under way, and what holds them up.

use atelier_engine::BlockReason;
use atelier_engine::plural::{agreeing, counted};
use gloo_timers::callback::Timeout;
use leptos::prelude::*;

use super::parts::question::Question;
use super::parts::ticker::ticker;
use super::undo::Undo;
use crate::boxed::{after, effect, handler, memo, text, when};
use crate::contexts::contexts;

/// How long storage may be away before a person is asked what to do, in milliseconds.
const STORAGE_TIMEOUT_MS: u32 = 1_000;

/// Long enough to be read, in milliseconds. Whoever answers is there sooner, and then nothing is said any more.
const ASKING_MS: u32 = 1_500;

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
        <Undo />
    }
    .into_any()
}

/// Why no call is made just now, and until when.
#[component]
fn LimitNotice() -> impl IntoView {
    let (runner, navigation) = (contexts().runner, contexts().navigation);
    let now = ticker(1_000);
    let sentence = memo(move || {
        let block_reason = runner.block_reason()?;
        Some(block_reason.user_message(now.get()))
    });
    let is_over = when(move || sentence.read().is_none());
    // What comes and goes by itself must not move what is about to be pressed: it lies over the page that is open then.
    // What lasts, and all of it on the next page, has room of its own, for as long as that page is open.
    let has_room = RwSignal::new(false);
    effect(move || {
        navigation.route();
        has_room.set(sentence.with_untracked(Option::is_some));
    });
    effect(move || {
        if runner
            .block_reason()
            .is_some_and(|reason| !reason.is_brief())
        {
            has_room.set(true);
        }
    });
    // The room stays as large as it was.
    let last = StoredValue::new(String::new());
    let said = text(move || match sentence.get() {
        Some(sentence) => {
            last.set_value(sentence.clone());
            sentence
        }
        None => last.get_value(),
    });
    let can_be_tried = memo(move || {
        let reason = runner.block_reason();
        reason.is_none_or(|reason| reason.can_be_tried())
    });
    let is_storage_error = when(move || runner.block_reason() == Some(BlockReason::StorageError));
    // A press that finds nobody has been heard all the same.
    let is_asking = RwSignal::new(false);
    let try_now = move |_| {
        runner.wake();
        is_asking.set(true);
        let end = after(ASKING_MS, move || {
            // The page may be gone.
            let _ = is_asking.try_set(false);
        });
        end.forget();
    };
    let unkept = memo(move || runner.unkept_message());
    let not_followed = memo(move || runner.not_followed_count());
    let not_followed_line = text(move || {
        let count = not_followed.get();
        format!(
            "{} {} not followed: Settings name another account, or none. ",
            counted(count, "running task"),
            agreeing(count, "is", "are"),
        )
    });
    view! {
        <div class="limit" role="status">
            <p class="limit-line" hidden=when(move || not_followed.get() == 0)>
                <span>
                    {not_followed_line} <a href="/settings">"Settings"</a>
                </span>
            </p>
            <p class="limit-line" hidden=when(move || unkept.read().is_none())>
                {text(move || unkept.get().unwrap_or_default())}
            </p>
            <div
                class="limit-line pause"
                class:passing=when(move || !has_room.get())
                class:over=is_over
                hidden=when(move || is_over.get() && !has_room.get())
            >
                <span>{said}</span>
                <button
                    class="button quiet small"
                    type="button"
                    hidden=when(move || !can_be_tried.get())
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
}

/// Asks before anything is sent that can't be kept: it costs money, and would be lost with the tab.
#[component]
fn SendUnstoredDialog() -> impl IntoView {
    let runner = contexts().runner;
    let question = Question::default();
    let is_asking = memo(move || runner.block_reason() == Some(BlockReason::StorageError));
    // Storage that is only gone for a moment is nobody's question.
    let timeout = StoredValue::new_local(None::<Timeout>);
    effect(move || {
        let open = move || {
            if is_asking.get_untracked() {
                question.ask();
            }
        };
        if is_asking.get() {
            timeout.set_value(Some(Timeout::new(STORAGE_TIMEOUT_MS, open)));
        } else {
            timeout.set_value(None);
            question.close();
        }
    });
    let said = "This browser can't keep tasks at present. What is sent now runs, and may be billed, but \
                closing this tab loses sight of it. Nothing has been sent yet.";
    let send = Callback::new(move |()| runner.send_without_storage());
    question.view(
        "Send without keeping",
        Signal::stored(said.to_owned()),
        "Not yet",
        "Send anyway",
        "primary",
        send,
    )
}
