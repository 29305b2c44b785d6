//! Runs a workflow in API format on a ComfyUI server.

use std::cell::Cell;
use std::time::Duration;

use atelier_contract::Parameters;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use super::collected::Collected;
use super::fetch::fetch_from;
use super::file;
use super::http::{CallError, Client, Reply};
use super::{Run, Runner, Stopped};
use crate::model::Ended;
use crate::outputs::Artifact;
use crate::report::Report;

mod results;
mod steps;
mod websocket;

use results::Item;
use websocket::Progress;

/// The timeout of a request without files.
const SHORT: Duration = Duration::from_secs(10);

/// The timeout of an upload.
const FETCH: Duration = Duration::from_secs(120);

/// The interval of polls for progress.
const POLL: Duration = Duration::from_millis(500);

/// How often ComfyUI is asked to stop a task that has reached its time limit.
const STOP_TRIES: u32 = 3;

/// All characters except the unreserved ones of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// The boundary of the multipart form that uploads a picture.
const BOUNDARY: &str = "atelier-7f3a9c2e51d84b60";

/// A workflow, and the inputs of its nodes that the parameters set.
pub struct Workflow {
    pub client: Client,
    pub address: String,
    pub graph: Value,
    /// Parameter, node, and input of the node.
    pub bindings: Vec<(String, String, String)>,
    pub parameters: Parameters,
    /// Warnings about the bindings.
    pub warnings: Vec<String>,
}

impl Runner for Workflow {
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn parameters(&self) -> Parameters {
        self.parameters.clone()
    }

    fn check(&self) -> Result<(), String> {
        let url = format!("{}/system_stats", self.address);
        let reply = self.client.get(&url, SHORT).map_err(|e| e.to_string())?;
        if reply.is_success() {
            Ok(())
        } else {
            Err(reply.reason())
        }
    }

    fn run(&self, run: &Run<'_>) -> Result<Vec<Artifact>, Ended> {
        let result = self.follow(run);
        if matches!(result, Err(Ended::Failed(_))) && run.time_left().is_zero() {
            self.stop_with_retries(run.id);
        }
        result
    }

    fn stop(&self, id: &str) -> Result<Stopped, String> {
        let stopped = self.try_stop(id)?;
        stopped.ok_or_else(|| "ComfyUI is still running it".into())
    }
}

impl Workflow {
    /// Submits the task, unless an earlier attempt has done that, and waits for its outputs.
    fn follow(&self, run: &Run<'_>) -> Result<Vec<Artifact>, Ended> {
        let submission = uuid(run.id);
        let progress = Progress::receive(&self.client, &self.address, &submission, &self.graph);
        // An earlier attempt, before the service was killed, may have submitted the task.
        let mut prompt = self.find(run, &submission)?;
        let mut was_submitted = prompt.is_some();
        loop {
            let Some(id) = &prompt else {
                if was_submitted {
                    // ComfyUI loses its queue when it restarts.
                    let message = "ComfyUI has lost the task; it is sent again";
                    (run.report)(Report::message(message));
                }
                prompt = Some(self.submit(run, &submission)?);
                was_submitted = true;
                continue;
            };
            if let Some(progress) = &progress {
                progress.set_prompt(id);
                progress.report(run);
            }
            if let Some(entry) = self.get_json(run, &format!("/history/{id}"))?.get(id)
                && is_complete(entry)
            {
                return self.outputs(run, entry);
            }
            run.pause(POLL)?;
            // ComfyUI loses its queue when it restarts.
            if !self.has(run, id)? {
                prompt = self.find(run, &submission)?;
            }
        }
    }

    /// Stops the task. Returns `None` if it is still running.
    fn try_stop(&self, id: &str) -> Result<Option<Stopped>, String> {
        let submission = uuid(id);
        let (running, pending) = self.prompts_of(&submission)?;
        if running.is_empty() && pending.is_empty() {
            return Ok(Some(match self.has_ended(&submission)? {
                true => Stopped::Yes,
                false => Stopped::Unknown,
            }));
        }
        // Older versions ignore the id and interrupt any running prompt, so this is called only if the task's prompt was
        // running just now.
        for prompt in running {
            self.post("/interrupt", &json!({"prompt_id": prompt}))?;
        }
        if !pending.is_empty() {
            self.post("/queue", &json!({"delete": pending}))?;
        }
        let (running, pending) = self.prompts_of(&submission)?;
        let is_stopped = running.is_empty() && pending.is_empty();
        Ok(is_stopped.then_some(Stopped::Yes))
    }

    /// Returns whether the prompt is in the queue or the history.
    fn has(&self, run: &Run<'_>, id: &str) -> Result<bool, Ended> {
        let is_queued = self.queued_prompts(run)?.iter().any(|item| item[1] == id);
        Ok(is_queued
            || self
                .get_json(run, &format!("/history/{id}"))?
                .get(id)
                .is_some())
    }

    /// Returns the prompts that are running or queued.
    fn queued_prompts(&self, run: &Run<'_>) -> Result<Vec<Value>, Ended> {
        let queue = self.get_json(run, "/queue")?;
        let lists = ["queue_running", "queue_pending"].iter();
        let items = lists.filter_map(|name| queue[*name].as_array()).flatten();
        Ok(items.cloned().collect())
    }

    /// Returns the prompt id of the task if ComfyUI has received it.
    fn find(&self, run: &Run<'_>, submission: &str) -> Result<Option<String>, Ended> {
        let is_ours = |item: &&Value| is_of(item, submission);
        let queued_prompts = self.queued_prompts(run)?;
        let history = self.get_json(run, "/history")?;
        let found = queued_prompts
            .iter()
            .chain(prompts_in(&history))
            .find(is_ours);
        Ok(found.and_then(|item| item[1].as_str()).map(str::to_owned))
    }

    fn submit(&self, run: &Run<'_>, submission: &str) -> Result<String, Ended> {
        let graph = self.fill_in(run)?;
        let body = json!({
            "prompt": graph,
            "prompt_id": submission,
            "client_id": submission,
            // Without it, newer versions send previews only if they were started with `--preview-method`.
            "extra_data": {"preview_method": "auto"},
        });
        let reply = self.call(run, move |client, address| {
            client.json("POST", &format!("{address}/prompt"), &[], &body, SHORT)
        })?;
        match reply.status {
            200..=299 => {
                let id = reply.json()["prompt_id"].as_str().map(str::to_owned);
                id.ok_or_else(|| Ended::Failed("ComfyUI's answer has no prompt_id.".into()))
            }
            400..=428 | 430..=499 => {
                let body = reply.json();
                let nodes = body["node_errors"]
                    .as_object()
                    .filter(|nodes| !nodes.is_empty());
                let nodes = nodes
                    .map(|nodes| json!(nodes).to_string())
                    .unwrap_or_default();
                let nodes: String = nodes.chars().take(500).collect();
                let message = format!("ComfyUI refused the workflow: {} {nodes}", reply.reason());
                Err(Ended::Failed(message.trim().to_owned()))
            }
            _ => Err(run.defer(reply.reason(), reply.retry_after)),
        }
    }

    /// Returns the graph with the input filled in. Uploads outputs of this service and sets their names.
    fn fill_in(&self, run: &Run<'_>) -> Result<Value, Ended> {
        let count = Cell::new(0);
        let given = run.convert_input(|path| {
            // Uploads have the same file name, in different folders.
            let name = format!(
                "atelier-{}-{}-{}",
                run.id,
                count.replace(count.get() + 1),
                path.file_name()
                    .and_then(|name| name.to_str())
                    .unwrap_or_default()
            );
            let bytes = file::read(path)?;
            let reply = self.call(run, move |client, address| {
                let request = ureq::http::Request::post(format!("{address}/upload/image")).header(
                    "content-type",
                    format!("multipart/form-data; boundary={BOUNDARY}"),
                );
                client.send(request, form(&name, &bytes), FETCH)
            })?;
            if reply.is_success() {
                Ok(reply.json()["name"].clone())
            } else {
                Err(run.defer(reply.reason(), reply.retry_after))
            }
        })?;
        let mut graph = self.graph.clone();
        for (name, node, input) in &self.bindings {
            if let Some(value) = given.get(name) {
                graph[node]["inputs"][input] = value.clone();
            }
        }
        Ok(graph)
    }

    fn outputs(&self, run: &Run<'_>, entry: &Value) -> Result<Vec<Artifact>, Ended> {
        if entry.pointer("/status/status_str") == Some(&json!("error")) {
            return Err(Ended::Failed(failure(entry)));
        }
        let items = results::items(entry);
        if items.is_empty() {
            let why = results::explain_missing_results(entry, &self.graph, &self.bindings);
            return Err(Ended::Failed(why));
        }
        let mut collected = Collected::default();
        for item in items {
            collected.add(match item {
                Item::File(file) => self.view(run, file),
                Item::Text(text) => Ok(Artifact {
                    extension: "txt",
                    bytes: text.into_bytes(),
                }),
            })?;
        }
        if collected.files.is_empty() {
            return Err(Ended::Failed(collected.reasons()));
        }
        let report = collected.report(run, "files", 0);
        Ok(collected.files.into_iter().chain(report).collect())
    }

    /// Fetches a file.
    fn view(&self, run: &Run<'_>, file: &Map<String, Value>) -> Result<Artifact, Ended> {
        let text = |name: &str| file.get(name).and_then(Value::as_str).unwrap_or_default();
        let name = text("filename").to_owned();
        let query: Vec<String> = ["filename", "subfolder", "type"]
            .iter()
            .map(|key| format!("{key}={}", utf8_percent_encode(text(key), RESERVED)))
            .collect();
        let address = format!("{}/view?{}", self.address, query.join("&"));
        let uri = address.parse().map_err(|error| {
            Ended::Failed(format!(
                "The output at {address} can't be fetched: {error}."
            ))
        })?;
        fetch_from(run, &self.client, &uri, &name, true)
    }

    /// Stops a task that has reached its time limit. A prompt notices an interruption only between two steps.
    fn stop_with_retries(&self, id: &str) {
        for _ in 0..STOP_TRIES {
            match self.try_stop(id) {
                Ok(Some(_)) => return,
                Ok(None) => std::thread::sleep(POLL),
                Err(error) => {
                    tracing::warn!("task {id}: can't cancel: {error}");
                    return;
                }
            }
        }
        tracing::warn!("task {id}: ComfyUI has not stopped it yet");
    }

    /// Returns whether a prompt of the task is in the history, without a time limit.
    fn has_ended(&self, submission: &str) -> Result<bool, String> {
        let path = format!("/history/{submission}");
        if self.fetch_json(&path)?.get(submission).is_some() {
            return Ok(true);
        }
        // Older versions choose the prompt's id themselves.
        let history = self.fetch_json("/history")?;
        Ok(prompts_in(&history).any(|prompt| is_of(prompt, submission)))
    }

    /// Returns the ids of the running and of the pending prompts of the task, without a time limit.
    fn prompts_of(&self, submission: &str) -> Result<(Vec<String>, Vec<String>), String> {
        let queue = self.fetch_json("/queue")?;
        let ids = |name: &str| {
            let items = queue[name].as_array().into_iter().flatten();
            let ours = items.filter(|item| is_of(item, submission));
            ours.filter_map(|item| item[1].as_str().map(str::to_owned))
                .collect()
        };
        Ok((ids("queue_running"), ids("queue_pending")))
    }

    fn fetch_json(&self, path: &str) -> Result<Value, String> {
        let found = self.client.get(&format!("{}{path}", self.address), SHORT);
        let reply = found.map_err(|error| error.to_string())?;
        match reply.is_success() {
            true => Ok(reply.json()),
            false => Err(reply.reason()),
        }
    }

    fn post(&self, path: &str, body: &Value) -> Result<(), String> {
        let url = format!("{}{path}", self.address);
        let reply = self.client.json("POST", &url, &[], body, SHORT);
        let reply = reply.map_err(|error| error.to_string())?;
        match reply.is_success() {
            true => Ok(()),
            false => Err(reply.reason()),
        }
    }

    fn get_json(&self, run: &Run<'_>, path: &str) -> Result<Value, Ended> {
        let path = path.to_owned();
        let reply = self.call(run, move |client, address| {
            client.get(&format!("{address}{path}"), SHORT)
        })?;
        if reply.is_success() {
            Ok(reply.json())
        } else {
            Err(run.defer_poll(reply.reason(), reply.retry_after))
        }
    }

    /// Calls the server. A failed call is retryable, because the next attempt looks for the task before it submits it
    /// again.
    fn call(
        &self,
        run: &Run<'_>,
        call: impl FnOnce(&Client, &str) -> Result<Reply, CallError> + Send + 'static,
    ) -> Result<Reply, Ended> {
        let (client, address) = (self.client.clone(), self.address.clone());
        run.wait_for(move || call(&client, &address))?
            .map_err(|error| match error {
                CallError::Refused(why) => Ended::Failed(why),
                error => Ended::Retry(error.to_string()),
            })
    }
}

/// Returns the prompts of the history.
fn prompts_in(history: &Value) -> impl Iterator<Item = &Value> {
    let entries = history.as_object().into_iter().flatten();
    entries.map(|(_, entry)| &entry["prompt"])
}

/// Returns whether an item of the queue or the history belongs to a submission. Older versions choose the prompt's id
/// themselves, but store the submission as the client id.
fn is_of(item: &Value, submission: &str) -> bool {
    item[1] == submission || item.pointer("/3/client_id") == Some(&json!(submission))
}

/// Returns whether an entry of the history is complete. ComfyUI may still be writing it.
fn is_complete(entry: &Value) -> bool {
    match entry.pointer("/status/completed") {
        Some(Value::Bool(true)) => true,
        _ => entry.pointer("/status/status_str") == Some(&json!("error")),
    }
}

fn failure(entry: &Value) -> String {
    let messages = entry.pointer("/status/messages").and_then(Value::as_array);
    let mut messages = messages.into_iter().flatten();
    let found = messages.find_map(|message| match message[0].as_str()? {
        "execution_error" => {
            let text = message[1]["exception_message"].as_str().unwrap_or_default();
            let node = message[1]["node_type"].as_str().unwrap_or("a node");
            Some(format!("{node} failed: {}", text.trim()))
        }
        "execution_interrupted" => Some("It was interrupted in ComfyUI.".to_owned()),
        _ => None,
    });
    found.unwrap_or_else(|| "ComfyUI failed, and does not say why.".to_owned())
}

/// Formats a task's id as a UUID, as ComfyUI requires.
fn uuid(id: &str) -> String {
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32];
    let parts = parts.map(|range| id.get(range).unwrap_or_default());
    parts.join("-")
}

/// Returns a form with the file as its only field. The name needs no escaping.
fn form(name: &str, bytes: &[u8]) -> Vec<u8> {
    let head = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"image\"; filename=\"{name}\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n"
    );
    let tail = format!(
        "\r\n--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"overwrite\"\r\n\r\ntrue\r\n--{BOUNDARY}--\r\n"
    );
    [head.as_bytes(), bytes, tail.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against a canceled task that is looked for again and again, because its prompt has another id.
    #[test]
    fn a_prompt_is_recognized_by_its_id_or_its_client() {
        let history = json!({
            "1": {"prompt": [1, "own-1", {}, {"client_id": "ours"}, []]},
            "2": {"prompt": [2, "newer", {}, {"client_id": "someone"}, []]},
            "3": {"prompt": []},
            "4": {},
        });
        let has = |submission: &str| prompts_in(&history).any(|item| is_of(item, submission));
        assert!(has("ours") && has("newer"));
        assert!(!has("own") && !has("other"));
    }
}
