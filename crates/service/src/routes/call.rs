//! Checks every call under `/v2`: access, rate limit and body.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, BodyDataStream, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use futures_util::StreamExt;
use serde_json::Value;

use super::run_blocking;
use crate::auth;
use crate::connections::Peer;
use crate::failure::Failure;
use crate::origin::Origin;
use crate::state::App;

/// The maximum size of a request body, in bytes.
pub const MAX_BODY: usize = 1 << 20;

/// The number of bytes above the maximum of a refused body that are read and discarded.
const MAX_DISCARDED: u64 = 32 << 20;

/// The maximum pause between two chunks of a body.
const MAX_PAUSE: Duration = Duration::from_secs(10);

/// The maximum duration of a whole body.
const MAX_BODY_TIME: Duration = Duration::from_secs(60);

/// An accepted v2 call: its token is valid, it is within the rate limit, and its body is JSON.
pub struct Call {
    pub origin: Origin,
    pub headers: HeaderMap,
    /// The caller's access token.
    pub token: String,
    /// The account of the token, if the service has accounts.
    pub account: Option<String>,
    /// The names of the caller's rate limit buckets.
    pub caller: Vec<String>,
    pub body: Value,
}

impl Call {
    /// Reads a v2 request: the caller and the body.
    ///
    /// # Errors
    ///
    /// As for [`admit`]; also 408 if the body does not arrive in time, 413 if it is too large, 400 if it
    /// is incomplete or not JSON. INTERFACE ("Errors" 5) defines none of these.
    pub async fn of(app: &Arc<App>, request: Request) -> Result<Self, Failure> {
        let (mut call, bytes) = Self::with_bytes(app, request).await?;
        call.body = serde_json::from_slice(&bytes)
            .map_err(|error| Failure::bad_request(format!("The body is not JSON: {error}.")))?;
        Ok(call)
    }

    /// Reads a request whose body is not parsed: [`Self::body`] is null.
    ///
    /// # Errors
    ///
    /// As for [`admit`]; also 408 if the body does not arrive in time, 413 if it is too large, 400 if it is incomplete.
    pub async fn with_bytes(app: &Arc<App>, request: Request) -> Result<(Self, Vec<u8>), Failure> {
        let (parts, body) = request.into_parts();
        let headers = parts.headers;
        let peer = parts.extensions.get::<Peer>().cloned();
        // Checks the headers before any of the body is read into memory.
        let Admitted {
            token,
            account,
            caller,
        } = match admit(app, &headers, peer.as_ref(), MAX_BODY as u64).await {
            Ok(admitted) => admitted,
            Err(failure) => {
                discard_body(&headers, body, MAX_BODY as u64);
                return Err(failure);
            }
        };
        let reading = read(body);
        let bytes = match &peer {
            Some(peer) => peer.evictable(reading).await?,
            None => reading.await?,
        };
        let call = Self {
            origin: app.access.origin(&headers),
            headers,
            token,
            account,
            caller,
            body: Value::Null,
        };
        Ok((call, bytes))
    }

    /// Returns whether the caller may access this user's tasks. An account may access only the tasks whose `uid` is its name.
    pub fn can_access(&self, uid: &str) -> bool {
        self.account.as_deref().is_none_or(|account| account == uid)
    }
}

/// A caller with access.
pub struct Admitted {
    pub token: String,
    /// The account of the token, if the service has accounts.
    pub account: Option<String>,
    /// The names of the caller's rate limit buckets.
    pub caller: Vec<String>,
}

/// Identifies the caller by the headers, and counts the call for `--rate`. Charges the call's address before it checks
/// the token, so that calls with invalid tokens are limited, too.
///
/// # Errors
///
/// 401 without a valid token (INTERFACE "Authentication" 2), 429 above the rate limit, 413 if the declared body is too
/// large, 500 or 503 if accounts or limits can't be read.
pub async fn admit(
    app: &Arc<App>,
    headers: &HeaderMap,
    peer: Option<&Peer>,
    max_body: u64,
) -> Result<Admitted, Failure> {
    let address = peer.map(|peer| app.access.caller(peer.address, headers));
    let address: Vec<String> = address.iter().map(|at| format!("address {at}")).collect();
    if let Some(limit) = &app.limit {
        limit.take_address(&address, Instant::now())?;
    }
    let token = auth::bearer(headers, app.token.as_deref())?;
    let account = account_of(app, token).await?;
    let name = match &account {
        Some(account) => format!("account {account}"),
        None => format!("token {token}"),
    };
    let caller = [&[name][..], &address].concat();
    charge_caller(app, &caller).await?;
    if declared_length(headers).is_some_and(|length| length > max_body) {
        return Err(too_large(max_body));
    }
    Ok(Admitted {
        token: token.to_owned(),
        account,
        caller,
    })
}

/// Returns the account of this token; `None` if the service has no accounts. Lookups that are not cached run on
/// blocking threads, a few at a time.
pub async fn account_of(app: &Arc<App>, token: &str) -> Result<Option<String>, Failure> {
    let now = Instant::now();
    if let Some(account) = app.accounts.recent(token, now) {
        return Ok(Some(account));
    }
    if app.accounts.has_accounts_cached() == Some(false) {
        return Ok(None);
    }
    // The semaphore is never closed.
    let _permit = app.accounts.lookups.acquire().await;
    let (app, token) = (app.clone(), token.to_owned());
    run_blocking(move || {
        // While it is unknown whether accounts exist, the token is neither valid nor invalid.
        if !app.accounts.has_accounts().map_err(Failure::accounts)? {
            return Ok(None);
        }
        let found = app
            .accounts
            .find_by_token(&token)
            .map_err(Failure::accounts)?;
        found.map(Some).ok_or_else(auth::unknown_token)
    })
    .await
}

/// Charges a call to the first of its caller's buckets. [`admit`] has charged the other ones before.
async fn charge_caller(app: &Arc<App>, caller: &[String]) -> Result<(), Failure> {
    let (Some(limit), [name, address @ ..]) = (&app.limit, caller) else {
        return Ok(());
    };
    if !limit.is_shared() {
        return limit.take_caller(name, address, Instant::now());
    }
    let (app, name, address) = (app.clone(), name.clone(), address.to_vec());
    run_blocking(move || match &app.limit {
        Some(limit) => limit.take_caller(&name, &address, Instant::now()),
        None => Ok(()),
    })
    .await
}

/// Returns the length of the body, if the headers declare it.
pub fn declared_length(headers: &HeaderMap) -> Option<u64> {
    let length = headers.get(header::CONTENT_LENGTH)?;
    length.to_str().ok()?.parse().ok()
}

/// Reads and discards a refused body while the response is sent. Otherwise a client that still sends its body would see a
/// broken connection instead of the response.
///
/// `max_bytes`: the largest body of the endpoint, in bytes.
pub fn discard_body(headers: &HeaderMap, body: Body, max_bytes: u64) {
    // A client that sent `Expect` will not send the body.
    if headers.contains_key(header::EXPECT) {
        return;
    }
    discard_chunks(body.into_data_stream(), max_bytes);
}

/// Reads and discards the rest of a refused body, like [`discard_body`].
pub fn discard_chunks(mut chunks: BodyDataStream, max_bytes: u64) {
    let max_discarded = max_bytes.saturating_add(MAX_DISCARDED);
    tokio::spawn(tokio::time::timeout(MAX_BODY_TIME, async move {
        let mut length = 0;
        while let Ok(Some(Ok(chunk))) = tokio::time::timeout(MAX_PAUSE, chunks.next()).await {
            length += chunk.len() as u64;
            if length > max_discarded {
                break;
            }
        }
    }));
}

/// Reads the whole body; 413 if it is too large, 408 if it does not arrive in time.
async fn read(body: Body) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let mut chunks = Chunks::new(body, MAX_BODY as u64, MAX_BODY_TIME);
    loop {
        match chunks.next().await {
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => return Ok(bytes),
            Err(failure) => {
                chunks.discard();
                return Err(failure);
            }
        }
    }
}

/// A body that is read in chunks, within limits of size and time.
pub struct Chunks {
    stream: BodyDataStream,
    length: u64,
    max_bytes: u64,
    deadline: tokio::time::Instant,
}

impl Chunks {
    pub fn new(body: Body, max_bytes: u64, max_time: Duration) -> Self {
        Self {
            stream: body.into_data_stream(),
            length: 0,
            max_bytes,
            deadline: tokio::time::Instant::now() + max_time,
        }
    }

    /// Returns the next chunk, or `None` at the end.
    ///
    /// # Errors
    ///
    /// 413 if the body is too large, 408 if it does not arrive in time, 400 if it is incomplete.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        let due = self.deadline.min(tokio::time::Instant::now() + MAX_PAUSE);
        let chunk = match tokio::time::timeout_at(due, self.stream.next()).await {
            Ok(None) => return Ok(None),
            Ok(Some(chunk)) => chunk
                .map_err(|error| Failure::bad_request(format!("The body broke off: {error}.")))?,
            Err(_) => {
                return Err(Failure::new(
                    StatusCode::REQUEST_TIMEOUT,
                    "timeout",
                    "The body did not come in time.",
                ));
            }
        };
        self.length += chunk.len() as u64;
        if self.length > self.max_bytes {
            return Err(too_large(self.max_bytes));
        }
        Ok(Some(chunk))
    }

    /// Reads and discards the rest of a refused body.
    pub fn discard(self) {
        discard_chunks(self.stream, self.max_bytes);
    }
}

fn too_large(max_bytes: u64) -> Failure {
    Failure::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        "too_large",
        format!("The body is larger than {max_bytes} bytes."),
    )
}
