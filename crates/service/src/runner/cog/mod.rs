//! Runs tasks in a cog container, the format of Replicate's models.
//!
//! A task is `PUT /predictions/{id}` with its own id, and the response comes on the same connection, because only such
//! a response contains files in all versions. In both tested versions (0.16 and coglet 0.23), another `PUT` for a
//! prediction that has just ended runs it again, and there is no `GET`, so polling for progress would risk a second
//! run. If the model is declared as `streaming`, the response is a stream of events, which contains its log.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use atelier_contract::Parameters;
use serde_json::{Map, Value, json};

use super::collected::Collected;
use super::fetch::fetch;
use super::file::{self, to_data_uri};
use super::http::{CallError, Client, Reply};
use super::{Run, Runner, Stopped};
use crate::model::Ended;
use crate::outputs::Artifact;

mod output;
mod schema;
mod stream;

use output::{Shape, shape_of, take_files, without_nulls};
use schema::Inputs;
pub use schema::inputs_of;
use stream::{Progress, is_streaming};

/// The timeout of a check.
const SHORT: Duration = Duration::from_secs(5);

/// The interval of retries while the container still runs the prediction of an earlier attempt.
const ABANDONED: Duration = Duration::from_millis(500);

/// The number of streams without their first events after which a prediction runs without a stream.
const MAX_LOST_STREAMS: u32 = 3;

/// The number of broken connections after which a task has failed.
const MAX_LOST_CONNECTIONS: u32 = 4;

/// A cog container.
pub struct Container {
    client: Client,
    address: String,
    /// The latest known document. It is also used while the container is unavailable.
    known: Mutex<Option<Interface>>,
    cache: PathBuf,
    /// Whether the container has failed to stream a prediction. Later ones run without a stream.
    has_refused_stream: AtomicBool,
    /// The number of broken connections of each task.
    lost_connections: Mutex<HashMap<String, u32>>,
}

/// The inputs and the output that a container's document declares.
#[derive(Debug, Clone, Default, PartialEq)]
struct Interface {
    inputs: Inputs,
    output: Shape,
    is_streaming: bool,
}

impl Interface {
    fn from_document(document: &Value) -> Option<Self> {
        Some(Self {
            inputs: inputs_of(document)?,
            output: shape_of(document),
            is_streaming: is_streaming(document),
        })
    }

    /// Returns a note about renamed inputs.
    fn note(&self) -> Option<String> {
        let names: Vec<String> = self
            .inputs
            .renamed
            .iter()
            .map(|(parameter, input)| {
                format!("its input {input:?} is set by the parameter {parameter:?}")
            })
            .collect();
        (!names.is_empty()).then(|| {
            format!(
                "{}: every request has a field of that name for itself",
                names.join(", ")
            )
        })
    }
}

/// Fetches a container's OpenAPI document.
fn fetch_document(client: &Client, address: &str) -> Result<Reply, CallError> {
    client.get(&format!("{address}/openapi.json"), SHORT)
}

impl Container {
    /// `given` is the OpenAPI document of a container that does not serve one. `cache` is the file that caches the latest
    /// known document.
    pub fn new(client: Client, address: String, given: Option<&Value>, cache: PathBuf) -> Self {
        let seen = || {
            let bytes = std::fs::read(&cache).ok()?;
            Interface::from_document(&serde_json::from_slice(&bytes).ok()?)
        };
        let known = given.and_then(Interface::from_document).or_else(seen);
        Self {
            client,
            address,
            known: Mutex::new(known),
            cache,
            has_refused_stream: AtomicBool::default(),
            lost_connections: Mutex::default(),
        }
    }

    /// Stores the declared inputs and outputs if the reply is the container's document.
    fn store_document(&self, reply: &Reply) {
        let found = Interface::from_document(&reply.json());
        let mut known = self.lock();
        if found.is_none() || *known == found {
            return;
        }
        *known = found;
        let folder = self.cache.parent().map(crate::private::make_dir);
        let written = folder
            .transpose()
            .and_then(|_| std::fs::write(&self.cache, &reply.body));
        if let Err(error) = written {
            tracing::warn!("{}: {error}", self.cache.display());
        }
    }

    /// Fetches the document before the first task if no check has done so: without it, the addresses of output files
    /// would be treated as text.
    fn ensure_document(&self, run: &Run<'_>) -> Result<(), Ended> {
        if self.lock().is_some() {
            return Ok(());
        }
        let (client, address) = (self.client.clone(), self.address.clone());
        let asked = run.wait_for(move || fetch_document(&client, &address))?;
        let reply = asked.map_err(|error| Ended::Retry(error.to_string()))?;
        if reply.status >= 500 {
            return Err(run.defer(reply.reason(), reply.retry_after));
        }
        self.store_document(&reply);
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Interface>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a broken connection. The task is retried, because the container may have been stopped, and fails after
    /// [`MAX_LOST_CONNECTIONS`].
    fn connection_lost(&self, id: &str, why: String) -> Ended {
        let mut lost_connections = self
            .lost_connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let count = lost_connections.entry(id.to_owned()).or_default();
        *count += 1;
        if *count < MAX_LOST_CONNECTIONS {
            return Ended::Retry(why);
        }
        lost_connections.remove(id);
        Ended::Failed(format!(
            "The container broke off {MAX_LOST_CONNECTIONS} times over this task: {why}."
        ))
    }

    /// Returns whether to ask for a stream of events.
    fn is_streaming(&self) -> bool {
        let known = self.lock();
        let is_declared = known.as_ref().is_some_and(|known| known.is_streaming);
        is_declared && !self.has_refused_stream.load(Ordering::Relaxed)
    }

    fn cancel(&self, run: &Run<'_>) {
        if let Err(error) = self.request_cancel(run.id) {
            tracing::warn!("task {}: can't cancel: {error}", run.id);
        }
    }

    fn request_cancel(&self, id: &str) -> Result<Reply, CallError> {
        let url = format!("{}/predictions/{id}/cancel", self.address);
        self.client.json("POST", &url, &[], &json!({}), SHORT)
    }

    fn input(&self, run: &Run<'_>) -> Result<Map<String, Value>, Ended> {
        // Includes files in lists.
        let mut input = run.convert_input(to_data_uri)?;
        for value in input.values_mut().filter_map(Value::as_array_mut).flatten() {
            if let Some(path) = run.own_file(value)? {
                *value = to_data_uri(&path)?;
            }
        }
        let known = self.lock();
        for (parameter, name) in known.iter().flat_map(|known| &known.inputs.renamed) {
            if let Some(value) = input.remove(parameter) {
                input.insert(name.clone(), value);
            }
        }
        drop(known);
        Ok(input)
    }
}

impl Runner for Container {
    fn parameters(&self) -> Parameters {
        let known = self.lock();
        known
            .as_ref()
            .map(|known| known.inputs.parameters.clone())
            .unwrap_or_default()
    }

    fn note(&self) -> Option<String> {
        self.lock().as_ref()?.note()
    }

    fn check(&self) -> Result<(), String> {
        let url = format!("{}/health-check", self.address);
        let reply = self.client.get(&url, SHORT).map_err(|e| e.to_string())?;
        let body = reply.json();
        match body["status"].as_str() {
            Some("READY" | "BUSY") => {
                let reply = fetch_document(&self.client, &self.address);
                self.store_document(&reply.map_err(|error| error.to_string())?);
                Ok(())
            }
            Some("STARTING") => Err("the container is starting".into()),
            Some(other) => Err(format!("the container says {other}")),
            None => Err(reply.reason()),
        }
    }

    fn run(&self, run: &Run<'_>) -> Result<Vec<Artifact>, Ended> {
        self.ensure_document(run)?;
        let url = format!("{}/predictions/{}", self.address, run.id);
        let body = json!({"input": self.input(run)?});
        let mut lost_streams = 0;
        loop {
            let (client, url, body) = (self.client.clone(), url.clone(), body.clone());
            // The run's time limit expires before this timeout, and then the prediction is cancelled.
            let time = run.time_left() + SHORT;
            let is_streaming = self.is_streaming() && lost_streams < MAX_LOST_STREAMS;
            let progress = Arc::new(Progress::default());
            let received = progress.clone();
            let send = move || match is_streaming {
                true => stream::send(&client, &url, &body, time, &received),
                false => client.json("PUT", &url, &[], &body, time),
            };
            let answered = run.wait_for_and(send, || progress.report(run));
            let answered = answered.inspect_err(|ended| {
                if matches!(ended, Ended::Failed(_)) {
                    self.cancel(run);
                }
            });
            let reply = match answered? {
                Ok(reply) => reply,
                // A request with the same id is the same prediction, so it can be retried.
                Err(CallError::NotSent(why) | CallError::Refused(why)) => {
                    return Err(Ended::Retry(why));
                }
                Err(CallError::Broken(why)) => return Err(self.connection_lost(run.id, why)),
            };
            match reply.status {
                // A prediction of an earlier attempt is still running, but nothing receives its files: cancel it and
                // retry.
                202 => {
                    lost_streams += u32::from(is_streaming);
                    self.cancel(run);
                    run.pause(ABANDONED)?;
                }
                406 if is_streaming => {
                    let reason = (run.hide)(&reply.reason());
                    tracing::warn!("task {}: runs without progress: {reason}", run.id);
                    self.has_refused_stream.store(true, Ordering::Relaxed);
                }
                // The prediction of an earlier attempt has just ended.
                404 if is_streaming => return Err(self.connection_lost(run.id, reply.reason())),
                200 | 201 => return self.result(run, &reply.json()),
                400 | 404 | 413 | 422 => {
                    let reason = reply.reason();
                    return Err(Ended::Failed(format!("The container refused: {reason}")));
                }
                409 => {
                    let why = "the container is busy".into();
                    return Err(run.defer(why, reply.retry_after));
                }
                // The container failed at this task; a container that is not ready responds with 503.
                500 => {
                    let reason = reply.reason();
                    return Err(Ended::Failed(format!("The container failed: {reason}")));
                }
                _ => return Err(run.defer(reply.reason(), reply.retry_after)),
            }
        }
    }

    fn stop(&self, id: &str) -> Result<Stopped, String> {
        let reply = self.request_cancel(id).map_err(|error| error.to_string())?;
        match reply.status {
            200..=299 => Ok(Stopped::Yes),
            404 => Ok(Stopped::Unknown),
            _ => Err(reply.reason()),
        }
    }
}

impl Container {
    fn result(&self, run: &Run<'_>, prediction: &Value) -> Result<Vec<Artifact>, Ended> {
        match prediction["status"].as_str() {
            Some("succeeded") => self.files(run, &prediction["output"]),
            // Another client cancelled the prediction, or the container was stopped: retry.
            Some("canceled" | "aborted") => {
                Err(Ended::Retry("the container has canceled it".into()))
            }
            Some("failed") => Err(failure(prediction)),
            other => Err(Ended::Retry(format!("the container says {other:?}"))),
        }
    }

    /// Returns the files in the order of the output, then the rest as one file, then a report of missing files.
    fn files(&self, run: &Run<'_>, output: &Value) -> Result<Vec<Artifact>, Ended> {
        let (mut rest, mut addresses) = (output.clone(), Vec::new());
        let known = self.lock().clone().unwrap_or_default();
        take_files(&mut rest, &known.output, &mut addresses);
        let mut collected = Collected::default();
        for address in &addresses {
            collected.add(fetch(run, &self.client, address))?;
        }
        let rest = if addresses.is_empty() {
            Some(rest).filter(|rest| !rest.is_null() && *rest != json!([]))
        } else {
            without_nulls(rest)
        };
        let rest = rest.as_ref().map(rest_file);
        match (&collected.files[..], &collected.missing[..], &rest) {
            ([], [], None) => return Err(Ended::Failed("The model made nothing.".into())),
            ([], _, None) => return Err(Ended::Failed(collected.reasons())),
            _ => {}
        }
        let report = collected.report(run, "files", 0);
        let files = collected.files.into_iter();
        Ok(files.chain(rest).chain(report).collect())
    }
}

/// Returns the rest of an output as a file: a text, the joined pieces of a text, or JSON.
fn rest_file(rest: &Value) -> Artifact {
    match rest {
        Value::String(text) => text_file(text),
        Value::Array(list) if list.iter().all(Value::is_string) => {
            let pieces: String = list.iter().filter_map(Value::as_str).collect();
            text_file(&pieces)
        }
        other => json_file(other),
    }
}

fn failure(prediction: &Value) -> Ended {
    let error = prediction["error"].as_str().unwrap_or("The model failed.");
    let logs = prediction["logs"].as_str().unwrap_or_default();
    let last = logs
        .lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty());
    Ended::Failed(match last {
        Some(last) if !error.contains(last) => format!("{error} (last line of its log: {last})"),
        _ => error.to_owned(),
    })
}

fn text_file(text: &str) -> Artifact {
    Artifact {
        extension: "txt",
        bytes: text.as_bytes().to_vec(),
    }
}

fn json_file(value: &Value) -> Artifact {
    file::artifact(value.to_string().into_bytes(), "application/json", "")
}
