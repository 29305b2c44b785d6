//! Reads the files and texts from an entry of ComfyUI's history, or the reason why the entry has none.

use serde_json::{Map, Value, json};

/// The fields in which nodes return the texts that they show. Some nodes return the same text in both.
const TEXTS: [&str; 2] = ["text", "string"];

/// The names of seed inputs. With another seed, ComfyUI does not use cached results.
const SEEDS: [&str; 2] = ["seed", "noise_seed"];

/// One result of a workflow.
#[derive(Debug, PartialEq)]
pub enum Item<'a> {
    /// The location of a file in ComfyUI: `filename`, `subfolder` and `type`.
    File(&'a Map<String, Value>),
    Text(String),
}

/// Returns the results of a finished workflow, in the order of its nodes: the files that it has saved, or without saved
/// files, its previews and the texts that it shows.
pub fn items(entry: &Value) -> Vec<Item<'_>> {
    let mut nodes: Vec<(&String, &Value)> =
        entry["outputs"].as_object().into_iter().flatten().collect();
    nodes.sort_by_cached_key(|(id, _)| order(id));
    let all = nodes.iter().flat_map(|(_, node)| of_node(node));
    let (saved, shown): (Vec<_>, Vec<_>) = all.partition(is_saved);
    if saved.is_empty() { shown } else { saved }
}

fn is_saved(item: &Item<'_>) -> bool {
    matches!(item, Item::File(file) if file.get("type") == Some(&json!("output")))
}

/// Returns a sort key that orders ids by number. The ids of nodes in subgraphs have several numbers (`57:6`).
fn order(id: &str) -> Vec<(u64, String)> {
    let parts = id.split(':');
    parts
        .map(|part| (part.parse().unwrap_or(u64::MAX), part.to_owned()))
        .collect()
}

fn of_node(output: &Value) -> Vec<Item<'_>> {
    let lists = output.as_object().into_iter().flatten();
    let items = lists.filter_map(|(_, list)| list.as_array()).flatten();
    let files = items
        .filter_map(Value::as_object)
        .filter(|item| item.contains_key("filename"))
        .map(Item::File);
    files
        .chain(texts(output).into_iter().map(Item::Text))
        .collect()
}

fn texts(output: &Value) -> Vec<String> {
    let list = TEXTS.iter().find_map(|name| output[*name].as_array());
    let texts: Vec<&str> = list
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    // If a node returns a text instead of a list of texts, ComfyUI makes a list of its characters.
    if texts.iter().all(|text| text.chars().count() == 1) && !texts.is_empty() {
        return vec![texts.concat()];
    }
    let texts = texts.into_iter().filter(|text| !text.is_empty());
    texts.map(str::to_owned).collect()
}

/// Returns the reason why a workflow has no results. `bindings` are the inputs that parameters set: parameter, node and
/// input.
pub fn explain_missing_results(
    entry: &Value,
    graph: &Value,
    bindings: &[(String, String, String)],
) -> String {
    let messages = entry.pointer("/status/messages").and_then(Value::as_array);
    let mut messages = messages.into_iter().flatten();
    let cached = messages.find(|message| message[0] == "execution_cached");
    let cached = cached.and_then(|message| message[1]["nodes"].as_array());
    let mut nodes = graph.as_object().into_iter().flatten();
    let is_cached = |id: &str| cached.is_some_and(|cached| cached.iter().any(|node| node == id));
    if cached.is_none() || !nodes.all(|(id, _)| is_cached(id)) {
        return "The workflow has saved no file and shows no text. Add a node that saves its result, such as Save \
                Image, and export it again."
            .into();
    }
    let seeds = graph
        .as_object()
        .into_iter()
        .flatten()
        .flat_map(|(id, node)| {
            let has = |name: &&&str| node["inputs"].get(**name).is_some_and(Value::is_number);
            SEEDS
                .iter()
                .filter(has)
                .map(move |name| (id.as_str(), *name))
        });
    let seeds: Vec<(&str, &str)> = seeds.collect();
    let bound = bindings
        .iter()
        .find(|(_, node, input)| seeds.contains(&(node, input)));
    let next = match (bound, seeds.first()) {
        (Some((parameter, ..)), _) => format!("give another {parameter}"),
        (None, Some((node, input))) => format!(
            "use another seed: add a parameter for it to the models file (input = \"{node}.{input}\"), or change \
             another parameter"
        ),
        (None, None) => "change a parameter".to_owned(),
    };
    format!(
        "ComfyUI had nothing to do, and saved no file: the results of all nodes are cached from an earlier task \
         with the same input. For a new result, {next}."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, kind: &str) -> Value {
        json!({"filename": name, "subfolder": "", "type": kind})
    }

    fn shown(outputs: Value) -> Vec<String> {
        let entry = json!({"outputs": outputs});
        let items = items(&entry);
        let message = items.iter().map(|item| match item {
            Item::File(file) => file["filename"].as_str().unwrap().to_owned(),
            Item::Text(text) => format!("text {text}"),
        });
        message.collect()
    }

    /// Guards against a failure of workflows that only return a text.
    #[test]
    fn texts_are_results_where_no_file_is_saved() {
        let text = json!({"text": ["a fox", ""], "string": ["a fox"]});
        assert_eq!(shown(json!({"9": text})), ["text a fox"]);
        let preview = json!({"images": [file("p.png", "temp")]});
        let both = json!({"10": text, "9": preview});
        assert_eq!(shown(both), ["p.png", "text a fox"]);
        let saved = json!({"images": [file("a.png", "output")]});
        assert_eq!(shown(json!({"9": text, "10": saved})), ["a.png"]);
        let string = json!({"string": ["a", " ", "b"], "result": ["m.glb", null]});
        assert_eq!(shown(json!({"9": string})), ["text a b"]);
    }

    /// Guards against returning a preview instead of the video, and against ignoring results of unknown kinds.
    #[test]
    fn saved_files_are_results_and_previews_are_not() {
        let film = json!({"gifs": [file("a.mp4", "output")]});
        let preview = json!({"images": [file("p.png", "temp")], "animated": [true]});
        assert_eq!(shown(json!({"9": film, "10": preview})), ["a.mp4"]);
        let audio = json!({"audio": [file("a.flac", "output")]});
        let mesh = json!({"3d": [file("m.glb", "output")]});
        assert_eq!(shown(json!({"9": audio, "11": mesh})), ["a.flac", "m.glb"]);
    }

    /// Guards against sorting node ids as texts, with node 10 before node 9.
    #[test]
    fn results_are_in_the_order_of_the_nodes_also_in_subgraphs() {
        let text = |text: &str| json!({"text": [text]});
        let outputs =
            json!({"57:10": text("c"), "57:9": text("b"), "9": text("a"), "100": text("d")});
        assert_eq!(shown(outputs), ["text a", "text b", "text c", "text d"]);
    }

    /// Guards against the message "no file" without an explanation when all nodes are cached.
    #[test]
    fn a_fully_cached_run_is_reported_with_instructions() {
        let entry = |nodes: Value| json!({"status": {"messages": [["execution_cached", {"nodes": nodes}]]}});
        let graph = json!({"3": {"inputs": {"seed": 1}}, "4": {"inputs": {"text": ""}}});
        let all = entry(json!(["4", "3"]));
        let seed = ("dice".to_owned(), "3".to_owned(), "seed".to_owned());
        let message = explain_missing_results(&all, &graph, std::slice::from_ref(&seed));
        assert!(
            message.contains("cached") && message.contains("another dice"),
            "{message}"
        );
        let message = explain_missing_results(&all, &graph, &[]);
        assert!(
            message.contains("cached") && message.contains("\"3.seed\""),
            "{message}"
        );
        for some in [entry(json!(["4"])), entry(json!([])), json!({})] {
            let message = explain_missing_results(&some, &graph, std::slice::from_ref(&seed));
            assert!(
                !message.contains("cached") && message.contains("Save Image"),
                "{message}"
            );
        }
    }
}
