//! A note that the shown file carries Content Credentials.

use std::cell::RefCell;
use std::collections::HashMap;

use atelier_contract::output::OutputKind;
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;

use super::measures::Measures;
use crate::files::metadata::{self, CARRIES_CREDENTIALS};
use crate::reactive::boxed::{effect, spawn, when};
use crate::state::contexts::contexts;
use crate::view::task::output_recovery;
use crate::view::task::shown_output::ShownOutput;

/// The maximum size of a file that is read, in bytes. The browser has loaded pictures as a whole, but not videos and sounds.
const MAX_PICTURE: u64 = 16 << 20;
const MAX_OTHER: u64 = 8 << 20;

/// How long a file must be shown before it is read, in milliseconds, so that paging through many files reads none of them.
const DELAY_MS: u32 = 500;

thread_local! {
    /// The outputs that were read in this visit, and whether they carry Content Credentials.
    static KNOWN: RefCell<HashMap<String, bool>> = RefCell::default();
}

/// Returns the note, which is hidden unless the file carries Content Credentials. The file is read once it is shown.
pub fn note(shown: &ShownOutput, measures: Measures) -> AnyView {
    let all = contexts();
    let name = shown.task.key.output(shown.position);
    let has_credentials = RwSignal::new(KNOWN.with_borrow(|known| known.get(&name).copied()));
    let max = match shown.kind {
        OutputKind::Image => MAX_PICTURE,
        _ => MAX_OTHER,
    };
    let shown = shown.clone();
    effect(move || {
        // The size of a file in its own address is not measured.
        let is_small =
            shown.url.starts_with("data:") || measures.bytes().is_some_and(|bytes| bytes <= max);
        if !is_small || has_credentials.get_untracked().is_some() {
            return;
        }
        let (shown, name) = (shown.clone(), name.clone());
        spawn(async move {
            TimeoutFuture::new(DELAY_MS).await;
            // Another output may be shown by now.
            if has_credentials.try_get_untracked().is_none() {
                return;
            }
            let file = match all.runner.copy(&name).await {
                Some(copy) => Some(copy),
                None => output_recovery::fetch(all, &shown).await.ok(),
            };
            if let Some(file) = file {
                let found = metadata::has_content_credentials(&file).await;
                KNOWN.with_borrow_mut(|known| known.insert(name, found));
                has_credentials.try_set(Some(found));
            }
        });
    });
    let is_hidden = when(move || has_credentials.get() != Some(true));
    view! {
        <p class="muted" role="status" hidden=is_hidden>
            {CARRIES_CREDENTIALS}
        </p>
    }
    .into_any()
}
