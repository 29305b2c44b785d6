//! Carries out what [`atelier_engine::output_recovery`] decides for an output whose address is dead.

use std::pin::pin;

use atelier_contract::output::{OutputKind, SafeUrl};
use atelier_engine::output_recovery::{ASK_MS, Facts, File, Step, explanation};
use atelier_engine::{Action, Task, stored_output};
use atelier_studio::output::download_name::download_name;
use atelier_studio::output::name_pattern::NameValues;
use atelier_studio::output::output_access::MissingFileReason;
use futures::future::{Either, FutureExt, select};
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use web_sys::{Blob, Url};

use super::shown_output::ShownOutput;
use crate::browser::{download, lifecycle, peek};
use crate::files::batch_archive::made_at;
use crate::files::{metadata, output_file};
use crate::reactive::boxed::{after, spawn};
use crate::reactive::until::until;
use crate::state::contexts::Contexts;
use crate::state::file_settings::FileSettings;
use crate::state::known_files;
use crate::state::retry_signal;

/// Requests a fresh address from the service, once per visit. If that fails, uses the copy in this browser. If there is no
/// copy, explains why the output can't be shown.
pub fn recover(contexts: Contexts, shown: ShownOutput) {
    spawn(recover_output(contexts, shown));
}

async fn recover_output(contexts: Contexts, shown: ShownOutput) {
    let (runner, session) = (contexts.runner, contexts.session);
    let (task, message) = (&shown.task, shown.message);
    let address = session.settings_untracked().address;
    let Some(safe) = SafeUrl::media(&shown.url, address.as_str()) else {
        return;
    };
    // Read before the request, so that a return to the page during the request counts as a retry.
    let retries_before = untrack(retry_signal::times);
    let mut answer = pin!(runner.refreshed(&task.key, shown.since));
    let mut facts = Facts {
        // An output that was sent as data counts as a link, because the service may send the data again.
        is_link: safe.is_link() || stored_output::is_reference(&shown.url),
        ..Facts::default()
    };
    // A fresh address rebuilds the view, which disposes of this signal.
    while message.try_get_untracked().is_some() {
        facts.is_foreign = task.account != untrack(|| session.account());
        facts.was_offline |= !lifecycle::is_online();
        facts.is_answered = facts.is_answered || answer.as_mut().now_or_never().is_some();
        match facts.next() {
            Step::AskService => {
                message.try_set(
                    "It could not be loaded. Asking the service for a new address…".into(),
                );
                // Has no effect while a request is in flight.
                runner.act(&task.key, Action::Refetch);
                let answered = select(answer.as_mut(), TimeoutFuture::new(ASK_MS)).await;
                facts.is_answered = matches!(answered, Either::Left(_));
                facts.waited_ms += ASK_MS;
            }
            Step::AwaitAccount => {
                let account = task.account.clone();
                let is_set = until(move || (session.account() == account).then_some(()));
                select(pin!(is_set), TimeoutFuture::new(ASK_MS)).await;
                facts.waited_ms += ASK_MS;
            }
            Step::UseCopy => {
                let name = task.key.output(shown.position);
                if load_copy(
                    contexts,
                    &name,
                    (shown.url.as_str(), shown.kind),
                    shown.copy,
                )
                .await
                {
                    return;
                }
                facts.has_no_copy = true;
            }
            Step::WaitForNetwork => {
                message.try_set("Not shown: there is no network, and no copy was kept.".into());
                lifecycle::until_online().await;
                message.try_set(String::new());
                return;
            }
            Step::Explain => {
                let file = file_at(&safe).await;
                let keeps_outputs = session.keep_limit().is_some();
                message.try_set(explanation(file, facts.is_foreign, keeps_outputs));
                if file.may_succeed_later() {
                    retry_signal::since(retries_before).await;
                    message.try_set(String::new());
                }
                return;
            }
        }
    }
}

async fn file_at(url: &SafeUrl) -> File {
    if stored_output::is_reference(url.as_str()) {
        return File::NotStored;
    }
    let start = peek::start(url.as_str()).await;
    let is_answered = start.is_err() && peek::is_answered(url.as_str()).await;
    File::of(&start, is_answered)
}

/// How long to wait for the copy, in milliseconds.
const COPY_MS: u32 = 400;

/// Shows the copy if there is one. Sets `was_looked_for` when the search is done or takes too long.
pub fn look_for_copy(contexts: Contexts, shown: &ShownOutput, was_looked_for: RwSignal<bool>) {
    let shown = shown.clone();
    // An output that was sent as data has no other source, so the wait has no limit.
    let is_only_source = stored_output::is_reference(&shown.url);
    spawn(async move {
        let name = shown.task.key.output(shown.position);
        load_copy(
            contexts,
            &name,
            (shown.url.as_str(), shown.kind),
            shown.copy,
        )
        .await;
        was_looked_for.try_set(true);
    });
    if !is_only_source {
        let timeout = after(COPY_MS, move || {
            was_looked_for.try_set(true);
        });
        timeout.forget();
    }
}

/// Shows the copy as a thumbnail if there is one, and then sets `was_looked_for`. Makes no request.
pub fn show_copy(
    contexts: Contexts,
    name: String,
    (url, kind): (String, OutputKind),
    copy: RwSignal<String>,
    was_looked_for: RwSignal<bool>,
) {
    spawn(async move {
        load_copy(contexts, &name, (url.as_str(), kind), copy).await;
        was_looked_for.try_set(true);
    });
}

/// Sets `copy` to the address of the stored copy. Returns whether there is one.
async fn load_copy(
    contexts: Contexts,
    name: &str,
    (url, kind): (&str, OutputKind),
    copy: RwSignal<String>,
) -> bool {
    let Some(blob) = contexts.runner.copy(name).await else {
        return false;
    };
    let address = contexts.session.settings_untracked().address;
    known_files::look_at_copy(url, address.as_str(), kind, &blob).await;
    let Ok(made) = Url::create_object_url_with_blob(&blob) else {
        return false;
    };
    // The view may have been removed.
    if let Some(unwanted) = copy.try_set(made) {
        let _ = Url::revoke_object_url(&unwanted);
    }
    true
}

/// Fetches an output from its address, or else from its copy.
///
/// # Errors
///
/// Why the address failed, if there is no copy either.
pub async fn fetch(contexts: Contexts, shown: &ShownOutput) -> Result<Blob, MissingFileReason> {
    let address = contexts.session.settings_untracked().address;
    match output_file::fetch(&shown.url, address.as_str()).await {
        Err(error) => {
            let copy = shown.task.key.output(shown.position);
            contexts.runner.copy(&copy).await.ok_or(error)
        }
        fetched => fetched,
    }
}

/// Saves an output as a file, from its address or else from its copy. Sets `busy` to false at the end.
pub fn save(contexts: Contexts, shown: ShownOutput, busy: RwSignal<bool>) {
    spawn(async move {
        let task = &shown.task;
        match fetch(contexts, &shown).await {
            Ok(blob) => {
                let extension = output_file::extension(&blob, &shown.url, shown.kind).await;
                let blob = metadata::with_inputs(blob, task).await;
                let keys = task.batch.as_ref();
                let keys = keys.map(|it| untrack(|| contexts.runner.keys_of_batch(&it.batch)));
                let n = shown.position + 1;
                let pattern = FileSettings::read().pattern();
                let name = |tasks: &[&Task]| match &pattern {
                    Some(pattern) => pattern.name(
                        &NameValues::of(task, n, made_at(task), tasks.len()),
                        &extension,
                    ),
                    None => download_name(task, tasks, n, &extension),
                };
                let keys = keys.unwrap_or_default();
                let name = contexts.runner.with_tasks_of(&keys, name);
                download::blob(&name, &blob);
            }
            Err(reason) => {
                let mut message =
                    format!("The output was not downloaded. {}", reason.user_message());
                if !matches!(
                    reason,
                    MissingFileReason::Unreadable | MissingFileReason::NotStored
                ) {
                    message.push_str(" Open it and save it from there.");
                }
                contexts.notices.problem(message);
            }
        }
        busy.try_set(false);
    });
}
