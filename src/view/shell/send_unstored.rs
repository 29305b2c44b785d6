//! The question whether tasks are to be sent though this browser can't keep them.

use atelier_engine::BlockReason;
use gloo_timers::callback::Timeout;
use leptos::prelude::*;

use crate::reactive::boxed::{effect, memo};
use crate::state::contexts::contexts;
use crate::view::parts::question::Question;

/// How long storage may be away before a person is asked what to do, in milliseconds.
const STORAGE_TIMEOUT_MS: u32 = 1_000;

/// Asks before anything is sent that can't be kept: it costs money, and would be lost with the tab.
#[component]
pub fn SendUnstored() -> impl IntoView {
    let runner = contexts().runner;
    let question = Question::default();
    let is_asking = memo(move || runner.block_reason() == Some(BlockReason::StorageError));
    // No person has to be asked about storage that is gone only for a moment.
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
                you lose it if you close this tab. Nothing more is sent until you decide.";
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
