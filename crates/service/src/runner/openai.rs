//! Runs tasks on a server with OpenAI's images API: `POST /v1/images/generations`, or `POST /v1/images/edits` if the input
//! has pictures.

use std::time::Duration;

use atelier_contract::Parameters;
use serde_json::{Map, Value};

use super::collected::Collected;
use super::fetch::fetch;
use super::file::{self, to_data_uri};
use super::http::{CallError, Client, Reply};
use super::pictures::{Picture, excerpt, pictures};
use super::{Run, Runner};
use crate::model::Ended;
use crate::outputs::Artifact;

mod edit;

use edit::Field;

/// The timeout of a check.
const SHORT: Duration = Duration::from_secs(5);

/// A server, and the fields of requests in addition to the parameters.
pub struct Images {
    pub client: Client,
    /// The address, including `/v1`.
    pub address: String,
    pub model: Option<String>,
    /// Additional fields of each request.
    pub fields: Map<String, Value>,
    /// Whether the server treats a repeated request with the same `Idempotency-Key` as the same request.
    pub idempotent: bool,
    /// Whether pictures are sent as files to `/images/edits`, or as `data:` URIs to `/images/generations`.
    pub sends_files: bool,
    /// Whether white areas of a mask become transparent.
    pub has_transparent_masks: bool,
    /// The name of the field for pictures, if it does not depend on their number.
    pub image_field: Option<String>,
    pub parameters: Parameters,
}

/// The body of a request.
enum Body {
    Json(Value),
    Form(Vec<Field>),
}

impl Runner for Images {
    fn parameters(&self) -> Parameters {
        self.parameters.clone()
    }

    fn check(&self) -> Result<(), String> {
        let found = self.client.get(&format!("{}/models", self.address), SHORT);
        match found {
            // Not every server lists its models, but any response shows that it is available.
            Ok(reply) if matches!(reply.status, 401 | 403) => Err(reply.reason()),
            Ok(reply) if reply.status >= 500 => Err(reply.reason()),
            Ok(_) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn check_interval(&self) -> Duration {
        Duration::from_secs(30)
    }

    fn run(&self, run: &Run<'_>) -> Result<Vec<Artifact>, Ended> {
        if let Some(body) = run.saved_answer()? {
            return self.files(run, &Reply::saved(body), true);
        }
        if run.sent && !self.idempotent {
            return Err(unknown("the service was stopped before it came"));
        }
        let body = self.body(run)?;
        let is_edit = matches!(body, Body::Form(_));
        run.mark_sent(self.idempotent)?;
        let (client, id) = (self.client.clone(), run.id.to_owned());
        let address = self.address.clone();
        let time = run.time_left();
        let answered = run.wait_for(move || {
            let headers = [("idempotency-key", id.as_str())];
            match body {
                Body::Json(body) => {
                    let url = format!("{address}/images/generations");
                    client.json("POST", &url, &headers, &body, time)
                }
                Body::Form(fields) => {
                    let url = format!("{address}/images/edits");
                    client.form(&url, &headers, edit::form(&id, &fields)?, time)
                }
            }
        });
        let answered = match answered {
            Err(Ended::Failed(_)) => return Err(unknown("the time limit of the task passed")),
            answered => answered?,
        };
        let reply = match answered {
            Ok(reply) => reply,
            Err(CallError::NotSent(why) | CallError::Refused(why)) => {
                return not_processed(run, why, None);
            }
            Err(CallError::Broken(why)) if self.idempotent => return Err(Ended::Retry(why)),
            Err(CallError::Broken(why)) => return Err(unknown(&why)),
        };
        let (why, wait) = (reply.reason(), reply.retry_after);
        match verdict(reply.status, wait.is_some(), self.idempotent) {
            Verdict::Made => {
                let is_saved = run.save_answer(&reply.body);
                self.files(run, &reply, is_saved)
            }
            Verdict::NotProcessed => not_processed(run, why, wait),
            Verdict::Unknown if self.idempotent => Err(run.defer(why, wait)),
            Verdict::Unknown => Err(unknown(&why)),
            Verdict::Refused => {
                let hint = match is_edit && matches!(reply.status, 404 | 405) {
                    true => {
                        " If the server takes pictures in the JSON of /images/generations, set \
                         pictures = \"data\" in the models file."
                    }
                    false => "",
                };
                Err(Ended::Failed(format!("The server refused: {why}{hint}")))
            }
        }
    }
}

/// The outcome of a request that costs money, as far as the response shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Made,
    /// The request was certainly not processed and may be retried.
    NotProcessed,
    /// The request may have been processed, as when there is no response.
    Unknown,
    /// The request was not processed, and a retry would be refused, too.
    Refused,
}

/// Returns the outcome by the status. Gateways also send 408 and 5xx while a slow upstream processes the request. A 503
/// proves that the request was not processed only if the response has `Retry-After`. Servers send 401, 402 and 403
/// before they process anything, and the operator can fix the cause.
fn verdict(status: u16, has_retry_after: bool, idempotent: bool) -> Verdict {
    match status {
        200..=299 => Verdict::Made,
        401 | 402 | 403 | 429 => Verdict::NotProcessed,
        503 if has_retry_after => Verdict::NotProcessed,
        408 | 500.. => Verdict::Unknown,
        // The earlier request with the same key is still in progress.
        409 if idempotent => Verdict::Unknown,
        _ => Verdict::Refused,
    }
}

fn not_processed(
    run: &Run<'_>,
    why: String,
    wait: Option<Duration>,
) -> Result<Vec<Artifact>, Ended> {
    run.mark_unsent()?;
    Err(run.defer(why, wait))
}

impl Images {
    /// Returns the body of the request: a form if there are pictures to send as files, otherwise JSON.
    fn body(&self, run: &Run<'_>) -> Result<Body, Ended> {
        let mut input = run.input.clone();
        let mut pictures = Vec::new();
        if self.sends_files {
            pictures = edit::take_pictures(self, run, &mut input)?;
        }
        let mut body = self.fields.clone();
        body.extend(run.convert(&input, to_data_uri)?);
        if let Some(model) = &self.model {
            body.insert("model".into(), model.as_str().into());
        }
        if pictures.is_empty() {
            return Ok(Body::Json(body.into()));
        }
        edit::add_texts(&mut pictures, body);
        Ok(Body::Form(pictures))
    }

    /// Returns the pictures of a response, followed by a text that reports missing ones. If the response is saved, an
    /// attempt that is interrupted by a stop continues after the restart.
    fn files(&self, run: &Run<'_>, reply: &Reply, is_saved: bool) -> Result<Vec<Artifact>, Ended> {
        let body = reply.json();
        let mut collected = Collected::default();
        for picture in pictures(&body) {
            let file = match picture {
                Picture::Bytes(bytes) => Ok(file::artifact(bytes, "", "")),
                Picture::Missing(why) => Err(Ended::Failed(why)),
                Picture::Address(address) => match fetch(run, &self.client, &address) {
                    // Without a saved response or an idempotency key, the address would be lost.
                    Err(Ended::Stopped) if !is_saved && !self.idempotent => {
                        Err(Ended::Failed(format!(
                            "The service was stopped before the output at {address} was fetched."
                        )))
                    }
                    fetched => fetched,
                },
            };
            collected.add(file)?;
        }
        if collected.files.is_empty() {
            let why = match collected.missing[..] {
                [] => excerpt_of(reply),
                _ => collected.reasons(),
            };
            return Err(Ended::Failed(format!(
                "The server's answer has no picture: {why}"
            )));
        }
        let requested = run.input.get("n").and_then(Value::as_u64).unwrap_or(1) as usize;
        let report = collected.report(run, "pictures", requested);
        Ok(collected.files.into_iter().chain(report).collect())
    }
}

/// Returns an excerpt of a response without pictures.
fn excerpt_of(reply: &Reply) -> String {
    match reply.json() {
        Value::Null => String::from_utf8_lossy(&reply.body)
            .chars()
            .take(500)
            .collect(),
        body => excerpt(&body),
    }
}

/// Returns the error for an unknown outcome. The user decides whether to pay again.
fn unknown(why: &str) -> Ended {
    Ended::Unknown(format!(
        "The task was sent to the server, and no answer came ({why}). It may have been made and paid \
         for; it is not sent again by itself."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_some_statuses_mean_certainly_not_processed() {
        for status in 100..600 {
            for (has_retry_after, idempotent) in
                [(false, false), (false, true), (true, false), (true, true)]
            {
                let certain = matches!(status, 401..=403 | 429) || status == 503 && has_retry_after;
                let found = verdict(status, has_retry_after, idempotent);
                assert_eq!(found == Verdict::NotProcessed, certain, "{status}");
            }
        }
        assert_eq!(verdict(200, false, false), Verdict::Made);
        assert_eq!(verdict(504, true, false), Verdict::Unknown);
        assert_eq!(verdict(400, false, false), Verdict::Refused);
        assert_eq!(verdict(409, false, false), Verdict::Refused);
        assert_eq!(verdict(409, false, true), Verdict::Unknown);
    }
}
