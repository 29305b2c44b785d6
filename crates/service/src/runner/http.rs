//! The HTTP client for the servers of remote models.

use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use thiserror::Error;
use ureq::http::request::Builder;
use ureq::http::{HeaderMap, HeaderValue, Method, Request, Response, Uri};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::{Agent, AsSendBody, Body, SendBody};

use super::addresses::{FetchPolicy, Origin};
use super::file::MAX_FILE_BYTES;
use super::form::Form;
use super::guard::{GuardError, GuardedResolver, connector, is_in_own_network};

/// How long a server may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// The maximum number of redirects of a GET request.
const MAX_REDIRECTS: u32 = 5;

/// A client for one server, and for the addresses in its responses; cheap to clone.
#[derive(Clone)]
pub struct Client {
    agent: Agent,
    policy: Arc<FetchPolicy>,
    /// `Bearer …`
    authorization: Option<HeaderValue>,
}

/// A response of any status.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    pub content_type: String,
    /// The wait that `Retry-After` requests.
    pub retry_after: Option<Duration>,
    /// The whole body, of at most [`MAX_FILE_BYTES`] bytes.
    pub body: Vec<u8>,
}

/// Why a call has no response.
#[derive(Debug, Clone, Error)]
pub enum CallError {
    /// The address, or the target of a redirect, may not be fetched.
    #[error("{0}")]
    Refused(String),
    /// The request was not sent.
    #[error("{0}")]
    NotSent(String),
    /// The request may have arrived.
    #[error("{0}")]
    Broken(String),
}

impl Client {
    /// Creates a client for the server at `address`. Only this server receives `key`. `allowed` are other origins that
    /// its responses may refer to although they are not public.
    pub fn new(address: &str, key: Option<&str>, allowed: &[Origin]) -> Self {
        let policy = Arc::new(FetchPolicy::new(address, allowed));
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT))
            // The server may close an idle connection during the next request. Then it would be unknown whether the
            // request has arrived.
            .max_idle_connections(0)
            .user_agent(concat!("atelier-service/", env!("CARGO_PKG_VERSION")))
            .build();
        let connector = connector(policy.clone());
        let resolver = GuardedResolver {
            policy: policy.clone(),
            inner: DefaultResolver::default(),
            is_in_own_network,
        };
        Self {
            agent: Agent::with_parts(config, connector, resolver),
            policy,
            authorization: key.and_then(|key| format!("Bearer {key}").try_into().ok()),
        }
    }

    /// Returns the policy of this client: which addresses it may fetch.
    pub fn policy(&self) -> &FetchPolicy {
        &self.policy
    }

    /// Returns the `Authorization` header of a request to this address.
    pub fn authorization_for(&self, uri: &Uri) -> Option<&HeaderValue> {
        let authorization = self.authorization.as_ref();
        authorization.filter(|_| self.policy.is_own(uri))
    }

    /// Sends a GET request, and follows redirects.
    ///
    /// # Errors
    ///
    /// As for [`Self::send`].
    pub fn get(&self, url: &str, time: Duration) -> Result<Reply, CallError> {
        self.send(Request::get(url), Vec::new(), time)
    }

    /// Sends a JSON body.
    ///
    /// # Errors
    ///
    /// As for [`Self::send`].
    pub fn json(
        &self,
        method: &str,
        url: &str,
        headers: &[(&str, &str)],
        body: &Value,
        time: Duration,
    ) -> Result<Reply, CallError> {
        let request = with_headers(Request::builder().method(method).uri(url), headers);
        let request = request.header("content-type", "application/json");
        self.send(request, body.to_string().into_bytes(), time)
    }

    /// Sends a form (`multipart/form-data`), whose files are read while they are sent.
    ///
    /// # Errors
    ///
    /// As for [`Self::send`].
    pub fn form(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        form: Form<'_>,
        time: Duration,
    ) -> Result<Reply, CallError> {
        let (content_type, length, mut body) = form.finish();
        let request = with_headers(Request::post(url), headers)
            .header("content-type", content_type)
            .header("content-length", length);
        self.send(request, SendBody::from_reader(&mut *body), time)
    }

    /// Sends a body unchanged.
    ///
    /// # Errors
    ///
    /// As for [`Self::open`]; also [`CallError::Broken`] if no complete reply was received within `time`.
    pub fn send(
        &self,
        request: Builder,
        body: impl AsSendBody,
        time: Duration,
    ) -> Result<Reply, CallError> {
        read(self.open(request, body, time)?)
    }

    /// Sends a body unchanged. Returns the response as soon as its headers have arrived.
    ///
    /// # Errors
    ///
    /// [`CallError::Refused`] if the address, or one that it redirects to, may not be fetched;
    /// [`CallError::NotSent`] if the request is malformed or no server could be reached; [`CallError::Broken`]
    /// if it may have arrived, but no response was received within `time`, which also limits reading its body. A
    /// response with an error status is not an error.
    pub fn open(
        &self,
        request: Builder,
        body: impl AsSendBody,
        time: Duration,
    ) -> Result<Response<Body>, CallError> {
        let mut request = request
            .body(body)
            .map_err(|error| CallError::NotSent(error.to_string()))?;
        if let Some(authorization) = self.authorization_for(request.uri()) {
            // ureq removes this header when it follows a redirect.
            let headers = request.headers_mut();
            headers.insert("authorization", authorization.clone());
        }
        // Only GET requests follow redirects: other requests may cost money, and go only to the configured server.
        let redirects = match *request.method() {
            Method::GET => MAX_REDIRECTS,
            _ => 0,
        };
        let request = self
            .agent
            .configure_request(request)
            .timeout_global(Some(time))
            .max_redirects(redirects)
            .build();
        self.agent.run(request).map_err(call_error)
    }
}

fn with_headers(request: Builder, headers: &[(&str, &str)]) -> Builder {
    headers.iter().fold(request, |request, (name, value)| {
        request.header(*name, *value)
    })
}

/// Reads the whole body of a response.
///
/// # Errors
///
/// [`CallError::Broken`] if the body is incomplete, or larger than [`MAX_FILE_BYTES`].
pub fn read(mut response: Response<Body>) -> Result<Reply, CallError> {
    let content_type = header(response.headers(), "content-type");
    let content_type = content_type.unwrap_or_default().to_owned();
    let retry_after = requested_wait(response.headers());
    let status = response.status().as_u16();
    let body = response.body_mut().with_config().limit(MAX_FILE_BYTES);
    Ok(Reply {
        status,
        content_type,
        retry_after,
        body: body.read_to_vec().map_err(call_error)?,
    })
}

/// Returns a header if it is text.
pub fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Returns the wait that the header `Retry-After` of a response requests.
pub fn requested_wait(headers: &HeaderMap) -> Option<Duration> {
    // A date is relative to the server's clock, which may differ from this machine's.
    let date = header(headers, "date").and_then(|date| httpdate::parse_http_date(date).ok());
    let now = date.unwrap_or_else(SystemTime::now);
    parse_retry_after(header(headers, "retry-after")?, now)
}

/// Parses `Retry-After`: a number of seconds, or an HTTP date. A past date gives zero.
fn parse_retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

/// Returns why a call, or reading its response, failed.
pub fn call_error(error: ureq::Error) -> CallError {
    use ureq::{Error, Timeout};
    let error = match error {
        Error::Other(other) => match other.downcast_ref() {
            Some(refused @ GuardError::Refused(..)) => {
                return CallError::Refused(refused.to_string());
            }
            Some(failed) => return CallError::NotSent(failed.to_string()),
            None => Error::Other(other),
        },
        error => error,
    };
    let not_sent = match &error {
        Error::HostNotFound
        | Error::ConnectionFailed
        | Error::BadUri(_)
        | Error::Tls(_)
        | Error::Timeout(Timeout::Resolve | Timeout::Connect) => true,
        Error::Io(error) => error.kind() == io::ErrorKind::ConnectionRefused,
        _ => false,
    };
    let text = reason(&error);
    if not_sent {
        CallError::NotSent(text)
    } else {
        CallError::Broken(text)
    }
}

/// Returns why a call failed, without error codes of the system.
fn reason(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            "connection refused: nothing listens at its address; is it running?".to_owned()
        }
        ureq::Error::Io(error) if error.raw_os_error().is_some() => error.kind().to_string(),
        error => error.to_string(),
    }
}

impl Reply {
    /// Returns a successful response with a body that an earlier attempt saved.
    pub fn saved(body: Vec<u8>) -> Self {
        Self {
            status: 200,
            content_type: "application/json".into(),
            retry_after: None,
            body,
        }
    }

    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Parses the body as JSON; returns `null` if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Returns a short reason from an error response.
    pub fn reason(&self) -> String {
        let body = self.json();
        let message = ["/error/message", "/error", "/detail", "/message"]
            .iter()
            .find_map(|pointer| match body.pointer(pointer)? {
                Value::String(text) => Some(text.clone()),
                Value::Null => None,
                other => Some(other.to_string()),
            });
        let message = message.unwrap_or_else(|| String::from_utf8_lossy(&self.body).into_owned());
        let message: String = message.trim().chars().take(500).collect();
        match message.as_str() {
            "" => format!("HTTP {}", self.status),
            message => format!("HTTP {}: {message}", self.status),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        for (value, seconds) in [
            ("0", Some(0)),
            (" 120 ", Some(120)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", Some(60)),
            ("Sunday, 06-Nov-94 08:50:37 GMT", Some(60)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("-1", None),
            ("1.5", None),
            ("soon", None),
            ("", None),
        ] {
            let wait = parse_retry_after(value, now);
            assert_eq!(wait, seconds.map(Duration::from_secs), "{value}");
        }
    }
}
