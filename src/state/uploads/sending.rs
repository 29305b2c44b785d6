//! Sends files: waits until calls can be made, and tries again after failures that may pass.

use atelier_contract::{ApiError, Credentials, Media, Uploaded, path};
use atelier_engine::{BlockReason, Millis};
use atelier_studio::form::upload::acceptance::{self, Support};
use atelier_studio::form::upload::state::{Block, UploadEvent, UploadState, is_without_uploads};
use futures::future::abortable;
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use web_sys::Blob;

use super::slots::slot;
use super::{
    Content, Prepared, Upload, allow_copy, apply, blob, known, known_support, of_id, set_abort,
    set_privacy_note, with_content,
};
use crate::browser::{clock, file, lifecycle, upload};
use crate::reactive::boxed::spawn;
use crate::reactive::until::until;
use crate::state::contexts::Contexts;
use crate::state::photo_privacy;
use crate::state::session::Session;

/// The longest wait of one timer, in milliseconds.
const MAX_TIMER_MS: u64 = 86_400_000;

/// Sends a file until it is uploaded, refused or canceled.
pub(super) fn send(all: Contexts, id: u32) {
    let (sending, abort) = abortable(attempts(all, id));
    set_abort(id, abort);
    spawn(async move {
        // Aborted by the user.
        let _ = sending.await;
    });
}

/// Returns the file of an upload as it may be sent: a picture without location and camera data, unless the user keeps them.
/// `None` if the upload was removed.
///
/// # Errors
///
/// A sentence for the user.
pub(super) async fn prepare(all: Contexts, id: u32) -> Result<Option<Blob>, String> {
    loop {
        let keeps_metadata = photo_privacy::keeps_metadata();
        let (Some(blob), Some(upload)) = (blob(id), of_id(id)) else {
            return Ok(None);
        };
        let name = &upload.file.name;
        if !file::is_readable(&blob).await {
            return Err(acceptance::unreadable_file(name));
        }
        if upload.media != Media::Image {
            return Ok(Some(blob));
        }
        let is_prepared = |content: &mut Content| {
            let prepared = content.prepared.as_ref();
            prepared.is_some_and(|it| it.keeps_metadata == keeps_metadata)
        };
        if with_content(id, is_prepared) != Some(true) {
            let types = match known_support(all).await {
                Support::Yes(limits) => limits.types,
                Support::Unknown | Support::No => Vec::new(),
            };
            let prepared = photo_privacy::prepare(name, &blob, &types, keeps_metadata).await?;
            set_privacy_note(id, prepared.note);
            with_content(id, |content| {
                content.prepared = Some(Prepared {
                    blob: prepared.content,
                    keeps_metadata,
                });
            });
        }
        // The user may have changed the setting meanwhile.
        if photo_privacy::keeps_metadata() == keeps_metadata {
            return Ok(with_content(id, |content| {
                let prepared = content.prepared.as_ref();
                prepared.map(|prepared| prepared.blob.clone())
            })
            .flatten());
        }
    }
}

async fn attempts(all: Contexts, id: u32) {
    let is_of_table = of_id(id).is_some_and(|upload| upload.key.row.is_some());
    let mut failures = 0;
    while ready(all, id).await.is_some() {
        // Held only while the file is sent: other files must not wait for an account or for the next attempt.
        let slot = match is_of_table {
            true => Some(slot().await),
            false => None,
        };
        // While the file waited for its turn, another one may have met the rate limit.
        if slot.is_some() && !is_ready(all, id) {
            continue;
        }
        let file = match fit(all, id).await {
            Ok(()) => prepare(all, id).await,
            Err(message) => Err(message),
        };
        let file = match file {
            Ok(Some(file)) => file,
            Ok(None) => return,
            Err(message) => {
                apply(id, UploadEvent::Unfit { message });
                return;
            }
        };
        let Some(Upload { key, .. }) = of_id(id) else {
            return;
        };
        // The user may have changed the service meanwhile.
        let Some(credentials) = untrack(|| credentials_at(all.session, &key.address)) else {
            continue;
        };
        let state = attempt(all, id, &file, credentials, failures + 1).await;
        drop(slot);
        let Some(UploadState::RetryingAt { at, .. }) = state else {
            return;
        };
        failures += 1;
        wait_until(at).await;
    }
}

/// Checks a file once it is known what the service accepts, which may not have been known when the file was chosen.
///
/// # Errors
///
/// A sentence for the user: the service does not accept the file.
async fn fit(all: Contexts, id: u32) -> Result<(), String> {
    let support = known_support(all).await;
    let Some(upload) = of_id(id) else {
        return Ok(());
    };
    let (file, media) = (&upload.file, upload.media);
    match acceptance::refusal(file, &upload.key.parameter, media, &support) {
        None => Ok(()),
        Some(message) => {
            allow_copy(id, acceptance::can_embed(file, media, &support));
            Err(message)
        }
    }
}

async fn wait_until(at: Millis) {
    loop {
        // The clock may be set, and timers are limited to about 24 days.
        let wait = at.saturating_sub(clock::now()).min(MAX_TIMER_MS);
        if wait == 0 {
            return;
        }
        TimeoutFuture::new(wait as u32).await;
    }
}

/// Waits for a network, an account at the service of the upload, and the end of a rate limit. Returns the credentials;
/// `None` if the upload was removed.
async fn ready(all: Contexts, id: u32) -> Option<Credentials> {
    loop {
        let address = of_id(id)?.key.address;
        if !lifecycle::is_online() {
            apply(id, UploadEvent::Blocked(Block::Offline));
            lifecycle::until_online().await;
        }
        let Some(credentials) = untrack(|| credentials_at(all.session, &address)) else {
            wait_for_account(all.session, id, address).await;
            continue;
        };
        let Some(until) = rate_limited_until(all) else {
            return Some(credentials);
        };
        apply(id, UploadEvent::RateLimited(until));
        wait_until(until).await;
    }
}

/// Whether [`ready`] would not wait.
fn is_ready(all: Contexts, id: u32) -> bool {
    let has_account = |upload: Upload| {
        let credentials = untrack(|| credentials_at(all.session, &upload.key.address));
        credentials.is_some()
    };
    lifecycle::is_online()
        && rate_limited_until(all).is_none()
        && of_id(id).is_some_and(has_account)
}

/// Returns the credentials if the service at an address is the present one; tracked.
fn credentials_at(session: Session, address: &str) -> Option<Credentials> {
    let is_present = session.settings().address.as_str() == address;
    session.credentials().filter(|_| is_present)
}

async fn wait_for_account(session: Session, id: u32, address: String) {
    let of_look = address.clone();
    let has_account = until(move || {
        let is_present = session.settings().address.as_str() == of_look;
        match credentials_at(session, &of_look) {
            Some(_) => Some(true),
            // It may not be known yet whether the service accepts guests.
            None => (is_present && session.has_credentials() == Some(false)).then_some(false),
        }
    });
    if !has_account.await {
        apply(id, UploadEvent::Blocked(Block::NoAccount));
        until(move || credentials_at(session, &address).map(drop)).await;
    }
}

/// Returns until when the present service allows no calls.
fn rate_limited_until(all: Contexts) -> Option<Millis> {
    match untrack(|| all.runner.block_reason()) {
        Some(BlockReason::RateLimited(until)) => Some(until).filter(|at| *at > clock::now()),
        _ => None,
    }
}

/// Sends a file once and returns the state after that.
async fn attempt(
    all: Contexts,
    id: u32,
    file: &Blob,
    credentials: Credentials,
    failures: u32,
) -> Option<UploadState> {
    let upload = of_id(id)?;
    // Smaller or larger than the chosen file if that was changed.
    let total = file.size() as u64;
    apply(id, UploadEvent::Started { total });
    let address = all.session.settings_untracked().address;
    let url = address.url(path::UPLOADS);
    let progress = move |sent| {
        apply(id, UploadEvent::Progress { sent, total });
    };
    let body = upload::post_file(&url, file, &credentials, progress).await;
    let result = body.and_then(|body| Uploaded::from_body(&body));
    match &result {
        Ok(uploaded) => {
            let (parameter, media) = (&upload.key.parameter, upload.media);
            let unfit = acceptance::refusal_of_uploaded(&upload.file, parameter, media, uploaded);
            if let Some(message) = unfit {
                return apply(id, UploadEvent::Unfit { message });
            }
            known::remember(upload, Some(file.clone()), credentials, uploaded.clone());
        }
        Err(ApiError::RateLimited { retry_after_ms, .. }) => {
            let address = address.as_str();
            all.runner.report_rate_limit(address, *retry_after_ms);
        }
        Err(error) if is_without_uploads(error) => allow_copy(id, true),
        Err(_) => {}
    }
    let now = clock::now();
    apply(
        id,
        UploadEvent::Ended {
            result,
            failures,
            now,
        },
    )
}
