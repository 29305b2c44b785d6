//! What is known in this visit of the files at the addresses of outputs, beyond the addresses themselves: see
//! [`atelier_studio::output::output_access`].

use std::cell::RefCell;
use std::collections::HashMap;

use atelier_contract::ApiError;
use atelier_contract::output::{self, OutputKind, SafeUrl};
use atelier_engine::Task;
use atelier_studio::output::file_type;
use atelier_studio::output::output_access::{self, FileInfo, Step};
use leptos::prelude::*;
use web_sys::Blob;

use crate::browser::peek;
use crate::state::contexts::contexts;

thread_local! {
    static KNOWN: RefCell<HashMap<String, ArcRwSignal<FileInfo>>> = RefCell::default();
}

fn signal(url: &str) -> ArcRwSignal<FileInfo> {
    KNOWN.with_borrow_mut(|known| match known.get(url) {
        Some(signal) => signal.clone(),
        None => known.entry(url.to_owned()).or_default().clone(),
    })
}

/// The knowledge about the file at this address; tracked.
pub fn of(url: &SafeUrl) -> FileInfo {
    match url.is_link() {
        true => signal(url.as_str()).get(),
        false => FileInfo::default(),
    }
}

/// The same for an address as the service gives it; tracked.
pub fn of_output(url: &str) -> FileInfo {
    let address = contexts().session.settings_untracked().address;
    let safe = SafeUrl::link(url, address.as_str());
    let known = safe.map(|safe| of(&safe)).unwrap_or_default();
    FileInfo {
        kind: known.kind.or_else(|| output::kind_by_query(url)),
        ..known
    }
}

/// The kind of an output of a task, by what is known of its file, else by its address; tracked.
pub fn kind(task: &Task, url: &str) -> OutputKind {
    of_output(url).kind.unwrap_or_else(|| task.output_kind(url))
}

/// Looks at a file that could not be shown as what it was taken for, and keeps in mind what it is.
pub async fn look(url: &SafeUrl, shown: OutputKind) -> Step {
    let start = peek::start(url.as_str()).await;
    let is_answered =
        matches!(start, Err(ApiError::Network { .. })) && peek::is_answered(url.as_str()).await;
    let step = output_access::next_step(&start, is_answered, shown);
    if let Step::Show(learned) = step {
        set(url, learned);
    }
    step
}

/// Keeps in mind what a copy of the file is, if that is not what it is shown as. `address`: that of the service.
pub async fn look_at_copy(url: &str, address: &str, shown: OutputKind, copy: &Blob) {
    let Some(safe) = SafeUrl::link(url, address) else {
        return;
    };
    let kind = file_type::kind(&peek::head_of(copy).await, &copy.type_());
    if kind.is_some_and(|kind| kind != shown) {
        let known = untrack(|| of(&safe));
        set(&safe, FileInfo { kind, ..known });
    }
}

fn set(url: &SafeUrl, learned: FileInfo) {
    let signal = signal(url.as_str());
    if *signal.read_untracked() != learned {
        signal.set(learned);
    }
}
