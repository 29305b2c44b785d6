//! Any server with OpenAI's images interface: `POST /v1/images/generations`.

use std::time::Duration;

use atelier_contract::Parameters;
use serde_json::{Map, Value};

use super::file::{self, to_data_uri};
use super::http::{CallError, Client, Reply};
use super::{Run, Runner};
use crate::models::Ended;
use crate::outputs::Artifact;

/// How long it may take to say that it is there, or to hand out a file.
const SHORT: Duration = Duration::from_secs(5);
const FETCH: Duration = Duration::from_secs(120);

/// A server, and what it is told beside the parameters.
pub struct Images {
    pub client: Client,
    /// Up to and with `/v1`.
    pub address: String,
    pub model: Option<String>,
    /// Further fields of each request.
    pub fields: Map<String, Value>,
    /// It takes a request that is sent again with the same `Idempotency-Key` for the same request.
    pub idempotent: bool,
    pub parameters: Parameters,
}

impl Runner for Images {
    fn parameters(&self) -> Parameters {
        self.parameters.clone()
    }

    fn check(&self) -> Result<(), String> {
        let found = self.client.get(&format!("{}/models", self.address), SHORT);
        match found {
            // Not every server has the list; but whoever answers is there.
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
        if run.sent && !self.idempotent {
            return Err(unknown("the service was stopped before it came"));
        }
        let mut body = self.fields.clone();
        body.extend(run.given(to_data_uri)?);
        if let Some(model) = &self.model {
            body.insert("model".into(), model.as_str().into());
        }
        run.mark_sent()?;
        let (client, id) = (self.client.clone(), run.id.to_owned());
        let url = format!("{}/images/generations", self.address);
        let time = run.time_left();
        let answered = run.wait_for(move || {
            let headers = [("idempotency-key", id.as_str())];
            client.json("POST", &url, &headers, &body.into(), time)
        });
        let reply = match answered? {
            Ok(reply) => reply,
            Err(CallError::NotSent(why)) => return self.later(run, why),
            Err(CallError::Broken(why)) if self.idempotent => return Err(Ended::Hindered(why)),
            Err(CallError::Broken(why)) => return Err(unknown(&why)),
        };
        match reply.status {
            200..=299 => self.files(run, &reply),
            // The operator's fault, or a passing one: whoever asked for the picture has no part in
            // it.
            401 | 402 | 403 | 408 | 429 | 503 => {
                let why = reply.reason();
                if let Some(wait) = reply.retry_after {
                    run.mark_unsent()?;
                    run.pause(wait.min(run.time_left() / 2))?;
                }
                self.later(run, why)
            }
            500.. if self.idempotent => Err(Ended::Hindered(reply.reason())),
            500.. => Err(unknown(&reply.reason())),
            _ => Err(Ended::Failed(format!(
                "The server refused: {}",
                reply.reason()
            ))),
        }
    }
}

impl Images {
    /// It was surely not taken.
    fn later(&self, run: &Run<'_>, why: String) -> Result<Vec<Artifact>, Ended> {
        run.mark_unsent()?;
        Err(Ended::Hindered(why))
    }

    fn files(&self, run: &Run<'_>, reply: &Reply) -> Result<Vec<Artifact>, Ended> {
        let body = reply.json();
        let Some(Value::Array(entries)) = body.get("data") else {
            return Err(Ended::Failed("The server's answer has no pictures.".into()));
        };
        let files: Result<Vec<Artifact>, Ended> = entries
            .iter()
            .map(|entry| {
                let text = |name: &str| entry.get(name).and_then(Value::as_str);
                if let Some(data) = text("b64_json") {
                    let bytes = file::of_base64(data);
                    let bytes = bytes.ok_or_else(|| odd("is not base64"))?;
                    return Ok(file::artifact(bytes, "", ""));
                }
                let url = text("url").ok_or_else(|| odd("has neither b64_json nor url"))?;
                fetch(run, url)
            })
            .collect();
        match files {
            Ok(files) if files.is_empty() => Err(odd("is missing")),
            files => files,
        }
    }
}

/// A file that a server has made, by its address; tried more than once, since it is paid for.
///
/// # Errors
///
/// [`Ended::Failed`] if the address is none that can be fetched, or the file did not come within the run's
/// time; [`Ended::Stopped`] when the service stops.
pub fn fetch(run: &Run<'_>, url: &str) -> Result<Artifact, Ended> {
    if let Some(file) = file::of_data_uri(url) {
        return Ok(file);
    }
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(Ended::Failed(format!(
            "The output {url} is no address that can be fetched."
        )));
    }
    let mut wait = Duration::from_millis(500);
    loop {
        // Without the key: the file may be on somebody else's server.
        let (client, address) = (Client::new(None), url.to_owned());
        let time = FETCH.min(run.time_left());
        let why = match run.wait_for(move || client.get(&address, time))? {
            Ok(reply) if reply.is_success() => {
                let name = url.split(['?', '#']).next().unwrap_or_default();
                return Ok(file::artifact(reply.body, &reply.content_type, name));
            }
            Ok(reply) => reply.reason(),
            Err(error) => error.to_string(),
        };
        tracing::warn!("task {}: {url}: {why}", run.id);
        run.pause(wait)?;
        wait = (wait * 2).min(Duration::from_secs(15));
    }
}

fn odd(what: &str) -> Ended {
    Ended::Failed(format!("A picture in the server's answer {what}."))
}

/// A person has to decide whether to pay once more.
fn unknown(why: &str) -> Ended {
    Ended::Failed(format!(
        "The task was sent to the server, and no answer came ({why}). It may have been made and paid \
         for; it is not sent again by itself."
    ))
}
