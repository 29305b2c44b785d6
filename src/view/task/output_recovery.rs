//! What is done for an output whose address is dead.

use std::pin::pin;

use atelier_contract::ApiError;
use atelier_engine::output::{self, SafeUrl};
use atelier_engine::{Action, file_name};
use futures::future::{Either, FutureExt, select};
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use web_sys::{Blob, Url};

use super::shown_output::ShownOutput;
use crate::boxed::spawn;
use crate::browser::{download, http, lifecycle};
use crate::contexts::Contexts;
use crate::runner::Runner;

/// How long the service's word on an address is waited for.
const TIMEOUT_MS: u32 = 15_000;

/// A page that has just opened has no leader yet, or not yet the guest's credentials: it is asked
/// again this often, which while the answer is awaited changes nothing.
const ASK_MS: u32 = 2_000;

/// Asks the service for a fresh address, once in a visit; else finds the copy that this browser
/// keeps; else says what happened.
pub fn recover(contexts: Contexts, shown: ShownOutput) {
    spawn(recovered(contexts, shown));
}

async fn recovered(contexts: Contexts, shown: ShownOutput) {
    let (runner, session) = (contexts.runner, contexts.session);
    let (task, words) = (&shown.task, shown.words);
    let address = session.settings_untracked().address;
    let Some(safe) = SafeUrl::media(&shown.url, address.as_str()) else {
        return;
    };
    let is_foreign = || task.account != untrack(|| session.account());
    let is_online = lifecycle::is_online();
    let is_there = || words.try_get_untracked().is_some();
    let mut told = pin!(runner.refreshed(&task.key, shown.since));
    let mut waited = 0;
    // With another address the outputs are shown anew, and the view of this one is gone.
    while safe.is_link()
        && is_online
        && is_there()
        && waited < TIMEOUT_MS
        && told.as_mut().now_or_never().is_none()
    {
        if !is_foreign() {
            words
                .try_set("Its address no longer works. Asking the service for a fresh one…".into());
            runner.act(&task.key, Action::Refetch);
        } else if waited > 0 {
            break;
        }
        let answer = select(told.as_mut(), TimeoutFuture::new(ASK_MS)).await;
        if matches!(answer, Either::Left(_)) {
            break;
        }
        waited += ASK_MS;
    }
    if !is_there() {
        return;
    }
    if look_up(runner, &task.key.output(shown.position), shown.copy).await {
        return;
    }
    if !is_online {
        words.try_set("Not shown: there is no network, and no copy was kept.".into());
        while is_there() && !lifecycle::is_online() {
            TimeoutFuture::new(1_000).await;
        }
        words.try_set(String::new());
        return;
    }
    // A host that does not let this page load a file may well have it.
    let is_dead = http::get_blob(safe.as_str(), 0)
        .await
        .is_err_and(|error| !error.is_retryable());
    let mut said = String::from(if is_dead {
        "No longer available: the service's address for this output is dead and no copy was kept."
    } else {
        "Not shown: the file is gone, or its host does not let this page load it; no copy was kept."
    });
    if !is_there() {
        return;
    }
    if is_foreign() {
        said += " The service was not asked for a fresh one: this task belongs to another service address or User ID.";
    }
    said += " Run again makes it anew.";
    if session.keep_limit().is_none() {
        said += " Keep outputs, in Settings, makes copies from now on.";
    }
    words.try_set(said);
}

/// Shows the copy in the place of a thumbnail; asks nobody.
pub fn show_copy(runner: Runner, name: String, copy: RwSignal<String>) {
    spawn(async move {
        look_up(runner, &name, copy).await;
    });
}

/// Puts the address of a copy where its view has room for it, if there is one.
async fn look_up(runner: Runner, name: &str, copy: RwSignal<String>) -> bool {
    let Some(blob) = runner.copy(name).await else {
        return false;
    };
    let Ok(made) = Url::create_object_url_with_blob(&blob) else {
        return false;
    };
    // The view may have gone meanwhile.
    if let Some(unwanted) = copy.try_set(made) {
        let _ = Url::revoke_object_url(&unwanted);
    }
    true
}

/// An output from its address, or else from its copy.
pub async fn fetch(contexts: Contexts, shown: &ShownOutput) -> Result<Blob, ApiError> {
    let address = contexts.session.settings_untracked().address;
    let fetched = match SafeUrl::media(&shown.url, address.as_str()) {
        Some(safe) => http::get_blob(safe.as_str(), u64::MAX).await,
        None => Err(ApiError::Network {
            detail: "its address is none that can be fetched".into(),
        }),
    };
    match fetched {
        Err(error) => {
            let copy = shown.task.key.output(shown.position);
            contexts.runner.copy(&copy).await.ok_or(error)
        }
        fetched => fetched,
    }
}

/// Saves an output as a file, from its address or else from its copy.
pub fn save(contexts: Contexts, shown: ShownOutput, busy: RwSignal<bool>) {
    spawn(async move {
        let task = &shown.task;
        match fetch(contexts, &shown).await {
            Ok(blob) => {
                let extension = output::extension(&blob.type_(), &shown.url, shown.kind);
                let (title, n) = (task.input.title(), shown.position + 1);
                let name = file_name::output(&task.model, title, n, extension);
                download::blob(&name, &blob);
            }
            Err(error) => contexts.notices.problem(format!(
                "The output could not be fetched for saving. {} Open it and save it from there.",
                error.user_message()
            )),
        }
        busy.try_set(false);
    });
}
