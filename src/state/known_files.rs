//! Facts about the files of outputs that can't be derived from their addresses, collected during this visit: see
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

/// Returns the known facts about the file at an address; tracked.
pub fn of(url: &SafeUrl) -> FileInfo {
    match url.is_link() {
        true => signal(url.as_str()).get(),
        false => FileInfo::default(),
    }
}

/// Returns the known facts about the file of an output, by its address as the service gave it; tracked.
pub fn of_output(url: &str) -> FileInfo {
    let address = contexts().session.settings_untracked().address;
    let safe = SafeUrl::link(url, address.as_str());
    let known = safe.map(|safe| of(&safe)).unwrap_or_default();
    FileInfo {
        kind: known.kind.or_else(|| output::kind_by_query(url)),
        ..known
    }
}

/// Returns the kind of a task's output: from the known facts about its file, or else from its address. Tracked.
pub fn kind(task: &Task, url: &str) -> OutputKind {
    of_output(url).kind.unwrap_or_else(|| task.output_kind(url))
}

/// Reads the beginning of a file that could not be shown as its presumed kind, and records its actual kind. Returns how to
/// proceed.
pub async fn look(url: &SafeUrl, shown: OutputKind) -> Step {
    let start = peek::start(url.as_str()).await;
    let has_responded =
        matches!(start, Err(ApiError::Network { .. })) && peek::is_answered(url.as_str()).await;
    let step = output_access::next_step(&start, has_responded, shown);
    if let Step::Show(info) = step {
        set(url, info);
    }
    step
}

/// Records the kind of a file's copy, if the file is shown as another kind. `address`: the address of the service.
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

fn set(url: &SafeUrl, info: FileInfo) {
    let signal = signal(url.as_str());
    if *signal.read_untracked() != info {
        signal.set(info);
    }
}
