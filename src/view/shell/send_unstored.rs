//! Asks whether to send tasks although this browser can't store them.

use atelier_engine::BlockReason;
use gloo_timers::callback::Timeout;
use leptos::prelude::*;

use crate::reactive::boxed::{effect, memo};
use crate::state::contexts::contexts;
use crate::view::parts::question::Question;

/// How long storage may be unavailable before the user is asked, in milliseconds.
const STORAGE_TIMEOUT_MS: u32 = 1_000;

/// Asks before a task is sent that can't be stored: it costs money, and is lost when the tab is closed.
#[component]
pub fn SendUnstored() -> impl IntoView {
    let runner = contexts().runner;
    let question = Question::default();
    let is_asking = memo(move || runner.block_reason() == Some(BlockReason::StorageError));
    // Storage that is unavailable only briefly needs no question.
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
    let message = "This browser can't store tasks at present. Tasks sent now run and may be billed, but you lose them if you \
                   close this tab. Nothing more is sent until you decide.";
    let send = Callback::new(move |()| runner.send_without_storage());
    question.view(
        "Send without keeping",
        Signal::stored(message.to_owned()),
        "Not yet",
        "Send anyway",
        "primary",
        send,
    )
}
