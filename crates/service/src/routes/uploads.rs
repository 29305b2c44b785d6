//! `POST /v2/uploads`: a file for the input of a task. Not part of INTERFACE.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use atelier_contract::Envelope;
use axum::Json;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::fs::File;
use tokio::io::AsyncWriteExt;

use super::call::{Chunks, MAX_BODY, admit, declared_length, discard_body};
use super::generate::{check_space, new_id};
use super::run_blocking;
use crate::connections::Peer;
use crate::failure::{Failure, success};
use crate::idempotency;
use crate::outputs::{MIN_FREE_BYTES, free_bytes, path_of};
use crate::state::App;
use crate::store::now_ms;
use crate::uploads::inspect::{FileType, Refusal, file_type, image_size};
use crate::uploads::{self, Incoming, Reservation, TTL, Upload};

/// The slowest permitted transfer, in bytes a second. [`GRACE`] is added to the time limit that follows from it.
const MIN_BYTES_A_SECOND: u64 = 50_000;

const GRACE: Duration = Duration::from_secs(60);

/// How long an image waits to be decoded.
const MAX_DECODING_WAIT: Duration = Duration::from_secs(60);

/// Answers `POST /v2/uploads`: stores the body, which is the bytes of a file, and returns its URL for the input of tasks.
/// The same bytes of the same account are stored once. The type is determined by the bytes; `Content-Type` is ignored.
///
/// # Errors
///
/// As for [`admit`]; also 403 if uploads are off, 413 if the file is larger than `--upload-limit`, 415 if its type is
/// not accepted, 422 if it is a broken image or has too many pixels, 402 or 503 without disk space, 429 or 503 if too
/// many files are being uploaded, 408 if it does not arrive in time, 400 if it is incomplete, 500 or 503 if the store
/// or the outputs don't respond.
pub async fn create(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<Envelope<Value>>, Failure> {
    let (parts, body) = request.into_parts();
    let peer = parts.extensions.get::<Peer>().cloned();
    let max_bytes = app.uploads.max_bytes.unwrap_or(MAX_BODY as u64);
    let Accepted {
        owner,
        incoming,
        reservation: _reservation,
    } = match accept(&app, &parts.headers, peer.as_ref()).await {
        Ok(accepted) => accepted,
        Err(failure) => {
            discard_body(&parts.headers, body, max_bytes);
            return Err(failure);
        }
    };
    let storing = async {
        let received = receive(body, incoming.path(), max_bytes).await?;
        store(&app, owner, received, Arc::new(incoming)).await
    };
    let upload = match &peer {
        Some(peer) => peer.evictable(storing).await?,
        None => storing.await?,
    };
    let mut data = json!({
        "url": app.access.origin(&parts.headers).output_url(&upload.name),
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

/// An upload whose headers were accepted.
struct Accepted {
    owner: String,
    incoming: Incoming,
    reservation: Reservation,
}

/// Checks the headers, and reserves space for the file.
async fn accept(
    app: &Arc<App>,
    headers: &HeaderMap,
    peer: Option<&Peer>,
) -> Result<Accepted, Failure> {
    let max_bytes = app.uploads.max_bytes;
    let admitted = admit(app, headers, peer, max_bytes.unwrap_or(u64::MAX)).await?;
    let max_bytes = max_bytes.ok_or_else(uploads_off)?;
    let owner = owner_of(app, admitted.account.as_deref(), &admitted.token);
    let bytes = declared_length(headers).unwrap_or(max_bytes);
    reserve(app, owner, bytes).await
}

/// Reserves space for a file.
async fn reserve(app: &Arc<App>, owner: String, bytes: u64) -> Result<Accepted, Failure> {
    let app = app.clone();
    run_blocking(move || {
        let folder = app.outputs.incoming().map_err(not_written)?;
        let free = free_bytes(&folder);
        let reservation = app.uploads.reserve(&owner, bytes, free, MIN_FREE_BYTES)?;
        Ok(Accepted {
            owner,
            incoming: Incoming::new(&folder)?,
            reservation,
        })
    })
    .await
}

/// Stores a file of a form as an upload, and returns its path, which begins with `/outputs/`.
///
/// # Errors
///
/// As for [`create`], except those of [`admit`].
pub async fn store_part(app: &Arc<App>, owner: &str, body: Body) -> Result<String, Failure> {
    let max_bytes = app.uploads.max_bytes.ok_or_else(uploads_off)?;
    let Accepted {
        owner,
        incoming,
        reservation: _reservation,
    } = reserve(app, owner.to_owned(), max_bytes).await?;
    let received = receive(body, incoming.path(), max_bytes).await?;
    let upload = store(app, owner, received, Arc::new(incoming)).await?;
    Ok(path_of(&upload.name))
}

/// Returns the owner of the uploads of a caller: its account, or a digest of its token if the service has no accounts. No
/// account has a name with a space.
pub fn owner_of(app: &App, account: Option<&str>, token: &str) -> String {
    let digest = || idempotency::account("", token, app.token.is_some());
    account.map_or_else(|| format!("token {}", digest()), str::to_owned)
}

/// A file as it was received.
struct Received {
    bytes: u64,
    sha256: String,
}

/// Writes the body to a file.
async fn receive(body: Body, path: &Path, max_bytes: u64) -> Result<Received, Failure> {
    let max_time = GRACE + Duration::from_secs(max_bytes / MIN_BYTES_A_SECOND);
    let mut chunks = Chunks::new(body, max_bytes, max_time);
    let mut file = match File::create(path).await {
        Ok(file) => file,
        Err(error) => {
            chunks.discard();
            return Err(not_written(error));
        }
    };
    let (mut bytes, mut digest) = (0, Sha256::new());
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
            chunks.discard();
            Err(failure)
        }
    }
}

/// Stores a received file, unless its owner has uploaded the same bytes before.
async fn store(
    app: &Arc<App>,
    owner: String,
    received: Received,
    incoming: Arc<Incoming>,
) -> Result<Upload, Failure> {
    let looking = (app.clone(), owner.clone(), received.sha256.clone());
    let file = incoming.clone();
    let found = run_blocking(move || {
        let (app, owner, sha256) = looking;
        match find_earlier(&app, &owner, &sha256, &file)? {
            Some(upload) => Ok(Found::Earlier(upload)),
            None => Ok(Found::New(
                file_type(file.path())
                    .map_err(Failure::internal)?
                    .map_err(refused)?,
            )),
        }
    })
    .await?;
    let file_type = match found {
        Found::Earlier(upload) => return Ok(upload),
        Found::New(file_type) => file_type,
    };
    let size = match file_type.is_image() {
        true => Some(decode(app, incoming.clone()).await?),
        false => None,
    };
    let app = app.clone();
    run_blocking(move || {
        let id = new_id()?;
        let upload = Upload {
            name: format!("{id}/0.{}", file_type.extension),
            id,
            owner,
            sha256: received.sha256,
            content_type: file_type.content_type.to_owned(),
            bytes: received.bytes,
            size,
            expires_ms: expires_ms(),
        };
        add(&app, upload, &incoming)
    })
    .await
}

enum Found {
    /// The owner has uploaded the same bytes before.
    Earlier(Upload),
    New(FileType),
}

/// Returns the owner's upload with the same bytes, after extending it.
fn find_earlier(
    app: &App,
    owner: &str,
    sha256: &str,
    incoming: &Incoming,
) -> Result<Option<Upload>, Failure> {
    let earlier = app.store.upload(owner, sha256, expires_ms());
    let Some(upload) = earlier.map_err(Failure::store)? else {
        return Ok(None);
    };
    let has_file = app.outputs.has(&path_of(&upload.name));
    if !has_file.map_err(Failure::outputs_unavailable)? {
        // The service was killed before it had stored the file.
        put(app, &upload, incoming)?;
    }
    Ok(Some(upload))
}

/// Decodes an image, one at a time. Returns its width and height.
async fn decode(app: &App, incoming: Arc<Incoming>) -> Result<(u32, u32), Failure> {
    let permit = app.uploads.decoding.clone().acquire_owned();
    let permit = tokio::time::timeout(MAX_DECODING_WAIT, permit).await;
    let permit = permit.map_err(|_| uploads::busy())?;
    run_blocking(move || {
        // Released when the image is decoded, also if the client closes the connection meanwhile.
        let _permit = permit;
        let size = image_size(incoming.path()).map_err(Failure::internal)?;
        size.map_err(refused)
    })
    .await
}

/// Stores a new upload. Stores the row before the file, so that a killed service leaves no file that is not counted.
fn add(app: &App, upload: Upload, incoming: &Incoming) -> Result<Upload, Failure> {
    check_space(app, &upload.owner, upload.bytes)?;
    if let Some(earlier) = app.store.add_upload(&upload).map_err(Failure::store)? {
        // A concurrent call has uploaded the same bytes.
        put(app, &earlier, incoming)?;
        return Ok(earlier);
    }
    put(app, &upload, incoming)?;
    Ok(upload)
}

/// Moves the file to the outputs. If that fails, the upload is removed.
fn put(app: &App, upload: &Upload, incoming: &Incoming) -> Result<(), Failure> {
    let Err(error) = app.outputs.put_file(&upload.name, incoming.path()) else {
        return Ok(());
    };
    // A concurrent call may have stored the same file.
    if !matches!(app.outputs.has(&path_of(&upload.name)), Ok(true))
        && let Err(error) = app.store.remove_upload(&upload.id)
    {
        tracing::error!("upload {:.8}… can't be removed: {error}", upload.id);
    }
    Err(not_written(error))
}

fn expires_ms() -> i64 {
    let ttl_ms = i64::try_from(TTL.as_millis()).unwrap_or(i64::MAX);
    now_ms().saturating_add(ttl_ms)
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
