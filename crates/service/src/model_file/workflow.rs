//! Reads a ComfyUI workflow and the inputs that parameters set.

use serde_json::{Map, Value};

/// The menu of ComfyUI that exports the API format.
const EXPORT: &str = "open it in ComfyUI and choose Workflow > Export (API)";

/// The fields that contain the workflow in a request to ComfyUI or to a service that wraps it.
const WRAPPERS: [&str; 3] = ["prompt", "input", "workflow"];

/// The maximum number of inputs or nodes in a message.
const MAX_LISTED: usize = 8;

/// The nodes of a workflow by their ids, as `POST /prompt` accepts them.
pub type Nodes = Map<String, Value>;

/// Returns the nodes of a workflow in API format. The workflow may be inside a request: `{"prompt": …}` or
/// `{"input": {"workflow": …}}`.
///
/// # Errors
///
/// Returns a message that says why ComfyUI would refuse the workflow, and what to do.
pub fn nodes(document: Value) -> Result<Nodes, String> {
    let not_api = || format!("it is not a workflow in API format: {EXPORT}");
    let Value::Object(mut nodes) = document else {
        return Err(not_api());
    };
    while let Some(inner) = WRAPPERS.iter().find_map(|name| inner_object(&nodes, name)) {
        nodes = inner;
    }
    if nodes.get("nodes").is_some_and(Value::is_array) {
        return Err(format!(
            "it is in the format that the editor saves, which ComfyUI's server does not run: {EXPORT}"
        ));
    }
    let is_node = |node: &Value| node["class_type"].is_string() && node["inputs"].is_object();
    let (good, bad): (Vec<_>, Vec<_>) = nodes.iter().partition(|(_, node)| is_node(node));
    let bad: Vec<&str> = bad.iter().map(|(id, _)| id.as_str()).collect();
    if good.is_empty() {
        return Err(not_api());
    }
    if !bad.is_empty() {
        return Err(format!(
            "node {} has no class_type or no inputs. ComfyUI exports such a node when its extension is not \
             installed: install it and export again, or delete the node",
            list_names(&bad)
        ));
    }
    Ok(nodes)
}

/// Returns the object under a name, unless it is a node.
fn inner_object(object: &Nodes, name: &str) -> Option<Nodes> {
    let inner = object.get(name)?.as_object()?;
    (!inner.contains_key("class_type")).then(|| inner.clone())
}

/// Finds the input of a node that a parameter sets, by `node.input`: the ids of nodes in subgraphs have a colon
/// (`57:6.text`), and names of inputs may have further dots.
///
/// # Errors
///
/// The workflow has no such input. The message lists the inputs that can be set.
pub fn target(nodes: &Nodes, parameter: &str, input: &str) -> Result<(String, String), String> {
    let Some((id, name)) = input.split_once('.') else {
        return Err(format!(
            "{input:?} for {parameter} must be a node and its input, such as 6.text"
        ));
    };
    if nodes
        .get(id)
        .and_then(|node| node["inputs"].get(name))
        .is_none()
    {
        let of_name = free_inputs(nodes, |_, other| other == name);
        let of_node = free_inputs(nodes, |node, _| node == id);
        let available = if of_name.is_empty() { of_node } else { of_name };
        return Err(match available.as_slice() {
            [] => format!("the workflow has no {input} for {parameter}"),
            available => format!(
                "the workflow has no {input} for {parameter}; it has {}",
                list_names(available)
            ),
        });
    }
    Ok((id.to_owned(), name.to_owned()))
}

/// Returns a warning if a parameter replaces a connection, with what to do if that is not intended.
pub fn cut_connection(nodes: &Nodes, parameter: &str, node: &str, input: &str) -> Option<String> {
    let source = source_of(nodes.get(node)?["inputs"].get(input)?)?;
    let available = free_inputs(nodes, |node, _| node == source);
    let instead = match available.as_slice() {
        [] => "remove the connection in ComfyUI and export again".to_owned(),
        available => format!("set an input of that node: {}", list_names(available)),
    };
    Some(format!(
        "{node}.{input} is connected to node {source}, and the value of {parameter} replaces that connection. If it \
         should not, {instead}"
    ))
}

/// Returns the inputs with a value for which `matches` is true, by node and name.
fn free_inputs(nodes: &Nodes, matches: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let inputs = nodes.iter().flat_map(|(id, node)| {
        let inputs = node["inputs"].as_object().into_iter().flatten();
        inputs.map(move |(name, value)| (id, name, value))
    });
    inputs
        .filter(|(id, name, value)| source_of(value).is_none() && matches(id, name))
        .map(|(id, name, _)| format!("{id}.{name}"))
        .collect()
}

/// Returns the node that a value links to: `["4", 0]`.
fn source_of(value: &Value) -> Option<&str> {
    match value.as_array()?.as_slice() {
        [Value::String(id), Value::Number(_)] => Some(id),
        _ => None,
    }
}

fn list_names<T: AsRef<str>>(names: &[T]) -> String {
    let shown: Vec<&str> = names.iter().take(MAX_LISTED).map(AsRef::as_ref).collect();
    let more = if names.len() > MAX_LISTED {
        ", …"
    } else {
        ""
    };
    shown.join(", ") + more
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn graph() -> Value {
        json!({
            "3": {"class_type": "KSampler", "inputs": {"seed": 1, "positive": ["57:6", 0]}},
            "57:6": {"class_type": "CLIPTextEncode", "inputs": {"text": "", "clip": ["4", 1], "a.b": [1, 2]}},
        })
    }

    /// Guards against a file that is refused although it contains a workflow.
    #[test]
    fn a_workflow_is_found_inside_a_request() {
        for document in [
            graph(),
            json!({"prompt": graph(), "client_id": "x"}),
            json!({"input": {"workflow": graph()}}),
            json!({"prompt": graph(), "workflow": {"nodes": []}}),
        ] {
            assert_eq!(Value::Object(nodes(document).unwrap()), graph());
        }
        let node = json!({"class_type": "A", "inputs": {}});
        let named = json!({"prompt": node, "input": node});
        assert_eq!(
            nodes(named).unwrap().len(),
            2,
            "nodes may have the ids prompt and input"
        );
    }

    /// Guards against a file that ComfyUI refuses only when the first task is sent.
    #[test]
    fn workflows_that_comfyui_would_refuse_are_refused_with_instructions() {
        let mut empty = graph();
        empty["15"] = json!({});
        for (document, words) in [
            (
                json!({"nodes": [], "links": []}),
                vec!["editor", "Export (API)"],
            ),
            (
                json!({"workflow": {"nodes": [{"id": 1}]}}),
                vec!["editor", "Export (API)"],
            ),
            (empty, vec!["node 15 ", "class_type", "install"]),
            (
                json!({"3": {"inputs": {}}}),
                vec!["API format", "Export (API)"],
            ),
            (json!({}), vec!["API format", "Export (API)"]),
            (json!([]), vec!["API format", "Export (API)"]),
        ] {
            let problem = nodes(document).unwrap_err();
            for word in words {
                assert!(problem.contains(word), "{problem}");
            }
        }
    }

    /// Guards against a parameter that replaces a connection without a warning.
    #[test]
    fn a_parameter_that_replaces_a_connection_causes_a_warning() {
        let graph = nodes(graph()).unwrap();
        let found = |input| target(&graph, "prompt", input);
        let pair = |node: &str, input: &str| Ok((node.to_owned(), input.to_owned()));
        assert_eq!(found("57:6.text"), pair("57:6", "text"));
        assert_eq!(found("57:6.a.b"), pair("57:6", "a.b"), "a list of numbers");
        for (input, words) in [
            ("6.text", vec!["no 6.text", "it has 57:6.text"]),
            ("3.steps", vec!["no 3.steps", "it has 3.seed"]),
            ("9.steps", vec!["no 9.steps"]),
            ("text", vec!["\"text\"", "6.text"]),
        ] {
            let problem = found(input).unwrap_err();
            for word in words {
                assert!(problem.contains(word), "{problem}");
            }
        }
        let warning = |node, input| cut_connection(&graph, "prompt", node, input);
        assert_eq!(warning("57:6", "text"), None);
        for (node, input, words) in [
            (
                "3",
                "positive",
                vec!["3.positive", "node 57:6", "57:6.text"],
            ),
            ("57:6", "clip", vec!["node 4", "remove the connection"]),
        ] {
            let warning = warning(node, input).unwrap();
            for word in words {
                assert!(warning.contains(word), "{warning}");
            }
        }
    }
}
