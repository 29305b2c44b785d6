//! `GET /v2/events`: a stream of the changes of a user's tasks, as server-sent events. Not part of INTERFACE.

use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::time::Instant;

use super::call::{Admitted, MAX_BODY, account_of, admit};
use super::run_blocking;
use super::task::progress_data;
use crate::changes::{Change, Subscription};
use crate::connections::Peer;
use crate::failure::Failure;
use crate::origin::Origin;
use crate::state::App;

/// The id of the last event that the client has received.
pub const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The maximum number of streams, in total and of one user.
const MAX: usize = 4096;
const MAX_PER_USER: usize = 64;

/// The `Retry-After` if there are too many streams, in seconds.
const RETRY_SECONDS: u64 = 60;

/// The pause after which a comment shows that the stream is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// How long a stream lasts. The client then continues with a new one.
const MAX_DURATION: Duration = Duration::from_secs(15 * 60);

/// The maximum number of tasks whose status is read at once.
const MAX_READ: usize = 64;

/// Answers `GET /v2/events`. With accounts, the user is that of the token; otherwise the parameter `uid` names it.
///
/// # Errors
///
/// As for [`admit`]; also 400 without a user, 404 for another account's, 503 if there are too many streams.
pub async fn stream(State(app): State<Arc<App>>, request: Request) -> Result<Response, Failure> {
    let headers = request.headers();
    let peer = request.extensions().get::<Peer>().cloned();
    let Admitted { account, token, .. } =
        admit(&app, headers, peer.as_ref(), MAX_BODY as u64).await?;
    let uid = user(request.uri().query().unwrap_or_default(), account.clone())?;
    let last_event = headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok());
    let origin = app.access.origin(headers);
    let changes = app.store.changes();
    let (of_user, all) = changes.streams(&uid);
    if of_user >= MAX_PER_USER || all >= MAX {
        return Err(too_many());
    }
    let events = Events {
        subscription: changes.subscribe(&uid, last_event),
        until: Instant::now() + MAX_DURATION,
        has_begun: false,
        token,
        account,
        app,
        origin,
    };
    let body = Body::from_stream(stream::unfold(events, |mut events| async move {
        let frame = events.next().await?;
        Some((Ok::<_, std::convert::Infallible>(frame), events))
    }));
    let mut answer_headers = HeaderMap::new();
    let event_stream = HeaderValue::from_static("text/event-stream");
    answer_headers.insert(header::CONTENT_TYPE, event_stream);
    answer_headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // nginx would collect the events.
    let no = HeaderValue::from_static("no");
    answer_headers.insert(HeaderName::from_static("x-accel-buffering"), no);
    Ok((answer_headers, body).into_response())
}

/// Returns the user whose tasks are asked for.
fn user(query: &str, account: Option<String>) -> Result<String, Failure> {
    let named = form_value(query, "uid").filter(|uid| !uid.trim().is_empty());
    match (account, named) {
        (Some(account), None) => Ok(account),
        (Some(account), Some(uid)) if account == uid => Ok(account),
        (Some(_), Some(uid)) => {
            let message = format!("The access token is not one of {uid}.");
            Err(Failure::not_found("unknown_user", message))
        }
        (None, Some(uid)) => Ok(uid),
        (None, None) => Err(Failure::bad_request("The parameter uid is required.")),
    }
}

/// Returns a value of a query string.
fn form_value(query: &str, name: &str) -> Option<String> {
    let value = query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .find_map(|(key, value)| (key == name).then_some(value))?;
    let value = value.replace('+', " ");
    let decoded = percent_encoding::percent_decode_str(&value).decode_utf8();
    decoded.ok().map(Into::into)
}

fn too_many() -> Failure {
    let mut failure = Failure::new(
        // 429 would stop the client's other calls, too.
        StatusCode::SERVICE_UNAVAILABLE,
        "too_many_streams",
        "Too many streams are open. Ask for the status instead; try again later.",
    );
    failure.retry_after = Some(RETRY_SECONDS);
    failure
}

/// The events of one stream.
struct Events {
    subscription: Subscription,
    until: Instant,
    has_begun: bool,
    token: String,
    /// The account of the token, when the stream was opened.
    account: Option<String>,
    app: Arc<App>,
    origin: Origin,
}

impl Events {
    /// Waits for changes and returns their events; `None` at the end of the stream.
    async fn next(&mut self) -> Option<Bytes> {
        if !self.has_begun {
            self.has_begun = true;
            let mut missed = std::mem::take(&mut self.subscription.missed);
            if missed.len() > MAX_READ
                && let Some(mut last) = missed.pop()
            {
                last.task = None;
                missed = vec![last];
            }
            // A first comment, so that the client gets the headers at once.
            return self.frames(":\n\n", missed.into()).await;
        }
        let heartbeat = Instant::now() + HEARTBEAT;
        let due = heartbeat.min(self.until);
        let changed = tokio::time::timeout_at(due, self.subscription.receiver.recv()).await;
        // The token may have been replaced.
        match account_of(&self.app, &self.token).await {
            Ok(account) if account == self.account => {}
            _ => return None,
        }
        match changed {
            Err(_) if due == self.until => None,
            Err(_) => Some(Bytes::from_static(b":\n\n")),
            Ok(Err(RecvError::Closed)) => None,
            Ok(Err(RecvError::Lagged(_))) => Some(Bytes::from_static(MISSED.as_bytes())),
            Ok(Ok(change)) => {
                let mut changes = VecDeque::from([change]);
                while changes.len() < MAX_READ {
                    match self.subscription.receiver.try_recv() {
                        Ok(change) => changes.push_back(change),
                        Err(TryRecvError::Lagged(_)) => changes.push_back(Change {
                            number: changes.back().map_or(0, |change| change.number),
                            task: None,
                        }),
                        Err(TryRecvError::Empty | TryRecvError::Closed) => break,
                    }
                }
                self.frames("", changes).await
            }
        }
    }

    /// Returns the events of these changes: the present status of each task once, at its last change.
    async fn frames(&self, start: &str, mut changes: VecDeque<Change>) -> Option<Bytes> {
        let mut latest: Vec<(String, Option<String>)> = Vec::new();
        while let Some(change) = changes.pop_front() {
            // At most MAX_READ changes.
            if !changes.iter().any(|later| later.task == change.task) {
                latest.push((self.subscription.event_id(&change), change.task));
            }
        }
        let (app, origin) = (self.app.clone(), self.origin.clone());
        let mut text = start.to_owned();
        let read = move || {
            for (id, task) in latest {
                let Some(task) = task else {
                    let _ = write!(text, "id: {id}\n{MISSED}");
                    continue;
                };
                // The task may have been deleted.
                let Some(task) = app.store.progress(&task).map_err(Failure::store)? else {
                    continue;
                };
                let mut data = progress_data(&app, &origin, &task);
                data["category"] = task.model.category.as_str().into();
                data["subcategory"] = task.model.subcategory.as_str().into();
                // JSON text contains no line breaks.
                let _ = write!(text, "id: {id}\nevent: status\ndata: {data}\n\n");
            }
            Ok(text)
        };
        // If the store can't be read, the stream ends, and the client asks for the status.
        let text = run_blocking(read).await.ok()?;
        Some(text.into())
    }
}

/// The event after which the client has to ask for the status of its tasks.
const MISSED: &str = "event: missed\ndata: {}\n\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_is_that_of_the_token_or_the_parameter() {
        let user = |query: &str, account: Option<&str>| {
            user(query, account.map(str::to_owned)).map_err(|failure| failure.status.as_u16())
        };
        assert_eq!(user("", Some("ada")), Ok("ada".to_owned()));
        assert_eq!(user("uid=ada", Some("ada")), Ok("ada".to_owned()));
        assert_eq!(user("uid=bob", Some("ada")), Err(404));
        assert_eq!(user("a=1&uid=a+%C3%A9", None), Ok("a é".to_owned()));
        assert_eq!(user("uid=", None), Err(400));
        assert_eq!(user("", None), Err(400));
    }
}
