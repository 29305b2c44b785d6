//! `POST /v2/uploads`: a file for the input of a task. Not part of INTERFACE.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use atelier_contract::Envelope;
use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::fs::File;
use tokio::io::AsyncWriteExt;

use super::call::{Admitted, Chunks, admit, discard_body};
use super::generate::{check_space, new_id};
use super::run_blocking;
use crate::connections::Peer;
use crate::failure::{Failure, success};
use crate::idempotency;
use crate::outputs::ROUTE as OUTPUTS;
use crate::state::App;
use crate::store::now_ms;
use crate::uploads::inspect::{Content, Refusal, inspect};
use crate::uploads::{Incoming, TTL, Upload};

/// The longest time for a whole file: 50 MB at 0.5 Mbit/s.
const MAX_TIME: Duration = Duration::from_secs(15 * 60);

/// Answers `POST /v2/uploads`: stores the body, which is the bytes of a file, and returns its URL for the input of tasks.
/// The same bytes of the same account are stored once. The type is determined by the bytes; `Content-Type` is ignored.
///
/// # Errors
///
/// As for [`admit`]; also 403 if uploads are off, 413 if the file is larger than `--upload-limit`, 415 if its type is
/// not accepted, 422 if it is a broken image or one with too many pixels, 402 or 503 without disk space, 408 if it does
/// not arrive in time, 400 if it is incomplete, 500 or 503 if the store or the outputs don't respond.
pub async fn create(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<Envelope<Value>>, Failure> {
    let (parts, body) = request.into_parts();
    let peer = parts.extensions.get::<Peer>().cloned();
    let max_bytes = app.uploads.max_bytes.unwrap_or(u64::MAX);
    let admitted = admit(&app, &parts.headers, peer.as_ref(), max_bytes).await;
    let checked = match app.uploads.max_bytes {
        Some(_) => admitted,
        None => admitted.and(Err(uploads_off())),
    };
    let owner = match checked {
        Ok(admitted) => owner_of(&app, admitted),
        Err(failure) => {
            discard_body(&parts.headers, body);
            return Err(failure);
        }
    };
    let incoming = {
        let (app, owner) = (app.clone(), owner.clone());
        run_blocking(move || {
            check_space(&app, &owner, 1)?;
            let folder = app.outputs.incoming();
            Incoming::new(&folder.map_err(Failure::outputs_unavailable)?)
        })
        .await
    };
    let incoming = match incoming {
        Ok(incoming) => incoming,
        Err(failure) => {
            discard_body(&parts.headers, body);
            return Err(failure);
        }
    };
    let receiving = receive(body, incoming.path(), max_bytes);
    let received = match &peer {
        Some(peer) => peer.evictable(receiving).await?,
        None => receiving.await?,
    };
    // The semaphore is never closed.
    let _permit = app.uploads.decoding.acquire().await;
    let upload = {
        let app = app.clone();
        run_blocking(move || store(&app, owner, &received, &incoming)).await?
    };
    let mut data = json!({
        "url": app.access.origin(&parts.headers).url(&format!("{OUTPUTS}/{}", upload.name)),
        "type": upload.content_type,
        "bytes": upload.bytes,
        "sha256": upload.sha256,
        "expires_at": upload.expires_ms / 1000,
    });
    if let Some((width, height)) = upload.size {
        data["width"] = width.into();
        data["height"] = height.into();
    }
    Ok(success(data))
}

/// Returns the owner of the uploads of a caller: its account, or a digest of its token if the service has no accounts. No
/// account has a name with a space.
fn owner_of(app: &App, admitted: Admitted) -> String {
    let digest = || idempotency::account("", &admitted.token, app.token.is_some());
    let account = admitted.account;
    account.unwrap_or_else(|| format!("token {}", digest()))
}

/// A file as it was received.
struct Received {
    bytes: u64,
    sha256: String,
}

/// Writes the body to a file.
async fn receive(body: Body, path: &Path, max_bytes: u64) -> Result<Received, Failure> {
    let mut file = File::create(path).await.map_err(not_written)?;
    let (mut bytes, mut digest) = (0, Sha256::new());
    let mut chunks = Chunks::new(body, max_bytes, MAX_TIME);
    let written = loop {
        match chunks.next().await {
            Ok(None) => break file.flush().await.map_err(not_written),
            Ok(Some(chunk)) => {
                bytes += chunk.len() as u64;
                digest.update(&chunk);
                if let Err(error) = file.write_all(&chunk).await {
                    break Err(not_written(error));
                }
            }
            Err(failure) => break Err(failure),
        }
    };
    match written {
        Ok(()) => Ok(Received {
            bytes,
            sha256: hex::encode(digest.finalize()),
        }),
        Err(failure) => {
            chunks.decline();
            Err(failure)
        }
    }
}

/// Moves a received file to the outputs, unless its owner has uploaded the same bytes before.
fn store(
    app: &App,
    owner: String,
    received: &Received,
    incoming: &Incoming,
) -> Result<Upload, Failure> {
    let ttl_ms = i64::try_from(TTL.as_millis()).unwrap_or(i64::MAX);
    let expires_ms = now_ms().saturating_add(ttl_ms);
    let earlier = app
        .store
        .upload(&owner, &received.sha256, expires_ms)
        .map_err(Failure::store)?;
    if let Some(upload) = earlier {
        let has_file = app.outputs.has(&format!("{OUTPUTS}/{}", upload.name));
        if !has_file.map_err(Failure::outputs_unavailable)? {
            // It was being removed.
            put(app, &upload.name, incoming)?;
        }
        return Ok(upload);
    }
    let content = inspect(incoming.path()).map_err(Failure::internal)?;
    let Content {
        content_type,
        extension,
        size,
    } = content.map_err(refused)?;
    check_space(app, &owner, received.bytes)?;
    let id = new_id()?;
    let upload = Upload {
        name: format!("{id}/0.{extension}"),
        id,
        owner,
        sha256: received.sha256.clone(),
        content_type: content_type.to_owned(),
        bytes: received.bytes,
        size,
        expires_ms,
    };
    put(app, &upload.name, incoming)?;
    match app.store.add_upload(&upload) {
        Ok(None) => Ok(upload),
        // A concurrent call has stored the same bytes.
        Ok(Some(earlier)) => {
            discard(app, &upload);
            Ok(earlier)
        }
        Err(error) => {
            discard(app, &upload);
            Err(Failure::store(error))
        }
    }
}

fn put(app: &App, name: &str, incoming: &Incoming) -> Result<(), Failure> {
    app.outputs
        .put_file(name, incoming.path())
        .map_err(not_written)
}

fn discard(app: &App, upload: &Upload) {
    if let Err(error) = app.outputs.remove(&upload.id) {
        tracing::error!("upload {:.8}… can't be removed: {error}", upload.id);
    }
}

fn not_written(error: std::io::Error) -> Failure {
    match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Failure::full(),
        _ => Failure::outputs_unavailable(error),
    }
}

fn refused(refusal: Refusal) -> Failure {
    match refusal {
        Refusal::Type(message) => Failure::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_type",
            message,
        ),
        Refusal::Content(message) => {
            Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "unusable_file", message)
        }
    }
}

fn uploads_off() -> Failure {
    Failure::new(
        StatusCode::FORBIDDEN,
        "uploads_off",
        "This service accepts no uploads: use the address of a file.",
    )
}
