//! Reads the progress of a prompt from the messages of ComfyUI's websocket.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::report::Report;

/// The type of a binary message with a picture, of a prompt without a name.
const PREVIEW: u32 = 1;

/// The type of a binary message with JSON, which names the prompt, and a picture.
const PREVIEW_WITH_METADATA: u32 = 4;

/// The progress of a prompt.
pub struct Steps {
    prompt: String,
    /// The names of the workflow's nodes, by id.
    names: HashMap<String, String>,
    /// The nodes that sample. They take most of the time, so the fraction counts only their steps.
    samplers: HashSet<String>,
    /// The samplers that have ended.
    ended: HashSet<String>,
    /// The running node.
    node: Option<String>,
    /// Whether ComfyUI is running this prompt. It runs one at a time, and also sends the messages of other clients' prompts
    /// if these have no client id.
    is_running: bool,
}

impl Steps {
    pub fn new(graph: &Value, prompt: &str) -> Self {
        let nodes = || graph.as_object().into_iter().flatten();
        let class_of = |node: &Value| node["class_type"].as_str().unwrap_or_default().to_owned();
        let name_of = |node: &Value| match node.pointer("/_meta/title").and_then(Value::as_str) {
            Some(title) if !title.trim().is_empty() => title.trim().to_owned(),
            _ => class_of(node),
        };
        let samplers = nodes().filter(|(_, node)| is_sampler(&class_of(node)));
        Self {
            prompt: prompt.to_owned(),
            names: nodes()
                .map(|(id, node)| (id.clone(), name_of(node)))
                .collect(),
            samplers: samplers.map(|(id, _)| id.clone()).collect(),
            ended: HashSet::new(),
            node: None,
            is_running: false,
        }
    }

    /// Sets the id of the prompt, which older versions of ComfyUI choose themselves.
    pub fn set_prompt(&mut self, prompt: &str) {
        if self.prompt != prompt {
            prompt.clone_into(&mut self.prompt);
            self.is_running = false;
        }
    }

    /// Begins with a new connection: the prompt may have ended meanwhile.
    pub fn reconnect(&mut self) {
        self.is_running = false;
    }

    /// Reads a text message. Returns what it reports about this prompt.
    pub fn read_text(&mut self, text: &str) -> Option<Report> {
        let message: Value = serde_json::from_str(text).ok()?;
        let (kind, data) = (message["type"].as_str()?, &message["data"]);
        let prompt = data["prompt_id"].as_str()?;
        if prompt != self.prompt {
            self.is_running = false;
            return None;
        }
        let node = |data: &Value, name: &str| {
            let found = data[name].as_str().or_else(|| data["node"].as_str());
            found.map(str::to_owned)
        };
        match kind {
            "execution_start" => {
                self.is_running = true;
                self.ended.clear();
                None
            }
            "execution_cached" => {
                let nodes = data["nodes"].as_array().into_iter().flatten();
                let nodes = nodes.filter_map(Value::as_str);
                let samplers = nodes.filter(|node| self.samplers.contains(*node));
                self.ended.extend(samplers.map(str::to_owned));
                None
            }
            "executing" => {
                let node = node(data, "display_node");
                self.is_running = node.is_some();
                self.report(&node?, None)
            }
            "progress" => {
                self.is_running = true;
                self.report(&node(data, "display_node")?, steps_of(data))
            }
            "progress_state" => {
                self.is_running = true;
                let nodes = data["nodes"].as_object()?;
                for (id, state) in nodes
                    .iter()
                    .filter(|(_, state)| state["state"] == "finished")
                {
                    self.end(state["display_node_id"].as_str().unwrap_or(id));
                }
                let mut running = nodes
                    .iter()
                    .filter(|(_, state)| state["state"] == "running");
                let (id, state) = running
                    .clone()
                    .find(|(_, s)| steps_of(s).is_some())
                    .or_else(|| running.next())?;
                self.report(
                    state["display_node_id"].as_str().unwrap_or(id),
                    steps_of(state),
                )
            }
            "execution_success" | "execution_error" | "execution_interrupted" => {
                self.is_running = false;
                None
            }
            _ => None,
        }
    }

    /// Returns the picture in a binary message if it belongs to this prompt.
    pub fn picture_in<'a>(&self, message: &'a [u8]) -> Option<&'a [u8]> {
        let (kind, rest) = split_number(message)?;
        match kind {
            // A number for the format, and the picture.
            PREVIEW if self.is_running => rest.get(4..),
            PREVIEW_WITH_METADATA => {
                let (length, rest) = split_number(rest)?;
                let (metadata, picture) = rest.split_at_checked(usize::try_from(length).ok()?)?;
                let metadata: Value = serde_json::from_slice(metadata).ok()?;
                (metadata["prompt_id"] == *self.prompt).then_some(picture)
            }
            _ => None,
        }
    }

    /// Reports that a node is running, with the number of its finished steps and of all its steps.
    fn report(&mut self, node: &str, steps: Option<(f64, f64)>) -> Option<Report> {
        // A node of a group has the group's id as prefix.
        let group = node.split([':', '.']).next().unwrap_or_default();
        let id = if self.names.contains_key(node) {
            node
        } else {
            group
        };
        if self.node.as_deref() != Some(id)
            && let Some(before) = self.node.replace(id.to_owned())
        {
            self.end(&before);
        }
        let name = self.names.get(id)?;
        let Some((value, max)) = steps else {
            return Some(Report::message(name));
        };
        let message = format!("{name}: step {value:.0} of {max:.0}");
        let fraction = match self.samplers.len() {
            0 => value / max,
            _ if !self.samplers.contains(id) => return Some(Report::message(message)),
            #[expect(clippy::cast_precision_loss, reason = "they are few")]
            count => {
                let ended = self.ended.iter().filter(|ended| *ended != id).count();
                (ended as f64 + value / max) / count as f64
            }
        };
        Some(Report {
            message,
            ..Report::fraction(fraction)
        })
    }

    fn end(&mut self, node: &str) {
        if self.samplers.contains(node) {
            self.ended.insert(node.to_owned());
        }
    }
}

/// Returns the number of finished steps and of all steps, if there is more than one.
fn steps_of(data: &Value) -> Option<(f64, f64)> {
    let (value, max) = (data["value"].as_f64()?, data["max"].as_f64()?);
    (max > 1.0).then_some((value, max))
}

/// Returns whether nodes of this class sample. `KSamplerSelect` and `SamplerEuler…` only choose how.
fn is_sampler(class: &str) -> bool {
    class.contains("Sampler")
        && !class.contains("Select")
        && (!class.starts_with("Sampler") || class.starts_with("SamplerCustom"))
}

fn split_number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u32::from_be_bytes(*number), rest))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn steps() -> Steps {
        let graph = json!({
            "1": {"class_type": "KSamplerSelect"},
            "3": {"class_type": "KSampler", "_meta": {"title": "First pass"}},
            "4": {"class_type": "SamplerCustomAdvanced"},
            "8": {"class_type": "VAEDecode"},
        });
        Steps::new(&graph, "p")
    }

    fn read(steps: &mut Steps, kind: &str, data: Value) -> Option<Report> {
        steps.read_text(&json!({"type": kind, "data": data}).to_string())
    }

    fn report(fraction: f64, message: &str) -> Option<Report> {
        let fraction = Report::fraction(fraction);
        Some(Report {
            message: message.into(),
            ..fraction
        })
    }

    #[test]
    fn the_fraction_counts_the_steps_of_all_samplers() {
        let mut steps = steps();
        let progress = |node: &str, value: i32, max: i32| json!({"prompt_id": "p", "node": node, "value": value, "max": max});
        let executing = |node: Value| json!({"prompt_id": "p", "node": node});
        let found = read(&mut steps, "executing", executing(json!("3")));
        assert_eq!(found, Some(Report::message("First pass")));
        let found = read(&mut steps, "progress", progress("3", 5, 20));
        assert_eq!(found, report(0.125, "First pass: step 5 of 20"));
        read(&mut steps, "executing", executing(json!("4")));
        let found = read(&mut steps, "progress", progress("4", 1, 2));
        assert_eq!(found, report(0.75, "SamplerCustomAdvanced: step 1 of 2"));
        let found = read(&mut steps, "progress", progress("8", 1, 9));
        assert_eq!(found, Some(Report::message("VAEDecode: step 1 of 9")));
    }

    #[test]
    fn newer_versions_report_all_nodes_at_once() {
        let mut steps = steps();
        let state =
            |state: &str, value: f64, max: f64| json!({"state": state, "value": value, "max": max});
        let mut inner = state("running", 3.0, 4.0);
        inner["display_node_id"] = "4".into();
        let nodes = json!({"3": state("finished", 20.0, 20.0), "8": state("running", 0.0, 1.0), "4:7": inner});
        let found = read(
            &mut steps,
            "progress_state",
            json!({"prompt_id": "p", "nodes": nodes}),
        );
        assert_eq!(found, report(0.875, "SamplerCustomAdvanced: step 3 of 4"));
    }

    #[test]
    fn cached_samplers_have_ended() {
        let mut steps = steps();
        let cached = json!({"prompt_id": "p", "nodes": ["3", "8"]});
        assert_eq!(read(&mut steps, "execution_cached", cached), None);
        let progress = json!({"prompt_id": "p", "node": "4", "value": 1, "max": 2});
        let found = read(&mut steps, "progress", progress).unwrap();
        assert_eq!(found.fraction, Some(0.75));
    }

    #[test]
    fn malformed_messages_are_ignored() {
        let mut steps = steps();
        for text in [
            "",
            "not JSON",
            "{}",
            r#"{"type": "progress"}"#,
            r#"{"type": "progress", "data": {"prompt_id": "p"}}"#,
            r#"{"type": "progress", "data": {"prompt_id": "p", "node": 3}}"#,
            r#"{"type": "progress", "data": {"prompt_id": "p", "node": "77", "value": 1, "max": 2}}"#,
            r#"{"type": "progress_state", "data": {"prompt_id": "p", "nodes": []}}"#,
            r#"{"type": "status", "data": {"status": {}}}"#,
        ] {
            assert_eq!(steps.read_text(text), None, "{text}");
        }
        for (value, max) in [
            (json!("1"), json!(2)),
            (json!(0), json!(0)),
            (json!(1), json!(-2)),
        ] {
            let data = json!({"prompt_id": "p", "node": "3", "value": value, "max": max});
            let found = read(&mut steps, "progress", data);
            assert_eq!(found, Some(Report::message("First pass")));
        }
        for frame in [
            &b""[..],
            b"\0\0\0",
            b"\0\0\0\x04\xff\xff\xff\xff{}",
            b"\0\0\0\x04\0\0\0\x01{",
        ] {
            assert_eq!(steps.picture_in(frame), None);
        }
    }

    /// Guards against showing a user the picture of another user's prompt: ComfyUI sends the messages of prompts without a
    /// client id to all clients.
    #[test]
    fn messages_of_other_prompts_are_ignored() {
        let mut steps = steps();
        let picture = b"\0\0\0\x01\0\0\0\x01picture";
        assert_eq!(steps.picture_in(picture), None);
        read(&mut steps, "execution_start", json!({"prompt_id": "p"}));
        assert_eq!(steps.picture_in(picture), Some(&b"picture"[..]));
        let other = json!({"prompt_id": "q", "node": "3", "value": 1, "max": 2});
        assert_eq!(read(&mut steps, "progress", other), None);
        assert_eq!(steps.picture_in(picture), None);
        read(
            &mut steps,
            "executing",
            json!({"prompt_id": "p", "node": "3"}),
        );
        assert_eq!(steps.picture_in(picture), Some(&b"picture"[..]));
        read(
            &mut steps,
            "executing",
            json!({"prompt_id": "p", "node": null}),
        );
        assert_eq!(steps.picture_in(picture), None);
        for (prompt, found) in [("p", Some(&b"picture"[..])), ("q", None)] {
            let metadata = json!({"prompt_id": prompt}).to_string();
            let length = u32::try_from(metadata.len()).unwrap().to_be_bytes();
            let frame = [&[0, 0, 0, 4][..], &length, metadata.as_bytes(), b"picture"].concat();
            assert_eq!(steps.picture_in(&frame), found);
        }
    }
}
