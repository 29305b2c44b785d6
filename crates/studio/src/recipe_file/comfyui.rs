//! The workflows of ComfyUI: graphs of nodes, as they are submitted (`prompt`) or as the editor saves them (`workflow`).
//!
//! A workflow does not say which of its values matter. The values are those of the node that samples and of the nodes linked
//! to it.

use std::collections::{BTreeMap, HashSet, VecDeque};

use serde_json::{Map, Value};

use super::names::{
    CFG_SCALE, DENOISING_STRENGTH, GUIDANCE, HEIGHT, NEGATIVE_PROMPT, PROMPT, SAMPLER, SCHEDULER,
    SEED, STEPS, WIDTH,
};
use super::{Entry, FoundRecipe, Program, object};

/// The maximum number of nodes. Workflows of several hundred nodes exist.
const MAX_NODES: usize = 5_000;
/// The maximum number of inputs of a node.
const MAX_INPUTS: usize = 200;
/// The maximum number of nodes that a search visits.
const MAX_VISITS: usize = 500;

/// An input of a node.
enum Input {
    Value(Value),
    /// The id of the node that gives the value.
    Link(String),
}

struct Node {
    class: String,
    inputs: Vec<(String, Input)>,
}

type Graph = BTreeMap<String, Node>;

/// Reads the recipe of an entry.
pub fn read(entry: &Entry<'_>) -> Option<FoundRecipe> {
    let root = entry.object.as_ref()?;
    // Programs that save videos put both into one object.
    let nested: Vec<Map<String, Value>> = ["prompt", "workflow"]
        .iter()
        .filter_map(|name| match root.get(*name)? {
            Value::Object(graph) => Some(graph.clone()),
            Value::String(text) => object(text),
            _ => None,
        })
        .collect();
    let mut graphs = std::iter::once(root).chain(&nested);
    graphs.find_map(|graph| of_graph(&submitted(graph).or_else(|| edited(graph))?))
}

/// Reads a workflow as it is submitted: `{"3": {"class_type": "KSampler", "inputs": {"seed": 1, "model": ["4", 0]}}}`.
fn submitted(root: &Map<String, Value>) -> Option<Graph> {
    let node = |(id, node): (&String, &Value)| {
        let class = node.get("class_type")?.as_str()?.to_owned();
        let inputs = node.get("inputs").and_then(Value::as_object);
        let inputs = inputs.into_iter().flatten().take(MAX_INPUTS);
        let inputs = inputs.map(|(name, value)| (name.clone(), input(value)));
        let inputs = inputs.collect();
        Some((id.clone(), Node { class, inputs }))
    };
    let graph: Graph = root.iter().take(MAX_NODES).filter_map(node).collect();
    (!graph.is_empty()).then_some(graph)
}

fn input(value: &Value) -> Input {
    match value.as_array().map(Vec::as_slice) {
        Some([Value::String(id), Value::Number(_)]) => Input::Link(id.clone()),
        Some([Value::Number(id), Value::Number(_)]) => Input::Link(id.to_string()),
        _ => Input::Value(value.clone()),
    }
}

/// The names of the values of nodes whose saved form contains the values without names. An empty name is skipped.
const WIDGETS: [(&str, &[&str]); 14] = [
    (
        "KSampler",
        &[
            "seed",
            "",
            "steps",
            "cfg",
            "sampler_name",
            "scheduler",
            "denoise",
        ],
    ),
    (
        "KSamplerAdvanced",
        &[
            "",
            "noise_seed",
            "",
            "steps",
            "cfg",
            "sampler_name",
            "scheduler",
        ],
    ),
    ("CLIPTextEncode", &["text"]),
    ("CLIPTextEncodeFlux", &["clip_l", "t5xxl", "guidance"]),
    ("CheckpointLoaderSimple", &["ckpt_name"]),
    ("CheckpointLoader", &["", "ckpt_name"]),
    ("UNETLoader", &["unet_name"]),
    ("UnetLoaderGGUF", &["unet_name"]),
    ("EmptyLatentImage", &["width", "height"]),
    ("EmptySD3LatentImage", &["width", "height"]),
    ("RandomNoise", &["noise_seed"]),
    ("BasicScheduler", &["scheduler", "steps", "denoise"]),
    ("KSamplerSelect", &["sampler_name"]),
    ("FluxGuidance", &["guidance"]),
];

/// What the editor shows next to a seed. Saved values contain it, although it is no input.
const AFTER_SEED: [&str; 4] = ["fixed", "increment", "decrement", "randomize"];

/// Reads a workflow as the editor saves it: `nodes` with `widgets_values`, and `links`.
fn edited(root: &Map<String, Value>) -> Option<Graph> {
    let nodes = root.get("nodes")?.as_array()?;
    let links = root.get("links").and_then(Value::as_array);
    // A link is `[id, node it comes from, slot, node it goes to, slot, type]`, or an object.
    let link = |link: &Value| {
        let (id, from) = match link {
            Value::Array(link) => (link.first()?, link.get(1)?),
            link => (link.get("id")?, link.get("origin_id")?),
        };
        Some((id.to_string(), id_of(from)))
    };
    let links: BTreeMap<String, String> = links
        .into_iter()
        .flatten()
        .take(MAX_NODES * 4)
        .filter_map(link)
        .collect();
    let node = |node: &Value| {
        let class = node.get("type")?.as_str()?.to_owned();
        // Muted and bypassed nodes don't run.
        if matches!(node["mode"].as_i64(), Some(2 | 4)) {
            return None;
        }
        let sockets = node.get("inputs").and_then(Value::as_array);
        let sockets: Vec<&Value> = sockets.into_iter().flatten().take(MAX_INPUTS).collect();
        let linked = sockets.iter().filter_map(|socket| {
            let from = links.get(&socket.get("link")?.to_string())?;
            let name = socket.get("name")?.as_str()?;
            Some((name.to_owned(), Input::Link(from.clone())))
        });
        let mut inputs: Vec<(String, Input)> = linked.collect();
        for (name, value) in widgets(&class, &sockets, node.get("widgets_values")) {
            // A linked input overrides the value.
            if inputs.iter().all(|(other, _)| *other != name) {
                inputs.push((name, Input::Value(value)));
            }
        }
        Some((id_of(node.get("id")?), Node { class, inputs }))
    };
    let graph: Graph = nodes.iter().take(MAX_NODES).filter_map(node).collect();
    (!graph.is_empty()).then_some(graph)
}

fn id_of(value: &Value) -> String {
    match value {
        Value::String(id) => id.clone(),
        id => id.to_string(),
    }
}

/// Names the saved values of a node.
fn widgets(class: &str, sockets: &[&Value], values: Option<&Value>) -> Vec<(String, Value)> {
    let values = match values {
        Some(Value::Object(values)) => {
            return values
                .iter()
                .take(MAX_INPUTS)
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
        }
        Some(Value::Array(values)) => values,
        _ => return Vec::new(),
    };
    if let Some((_, names)) = WIDGETS.iter().find(|(known, _)| *known == class) {
        let named = names
            .iter()
            .zip(values)
            .filter(|(name, _)| !name.is_empty());
        return named
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect();
    }
    let names = sockets
        .iter()
        .filter_map(|socket| socket["widget"]["name"].as_str());
    let names: Vec<&str> = names.collect();
    // A node with a single text, such as a primitive, is useful even if its input is not named.
    if names.is_empty() {
        let first = values
            .first()
            .filter(|value| value.is_string() || value.is_number());
        return first
            .map(|value| ("value".to_owned(), value.clone()))
            .into_iter()
            .collect();
    }
    let mut values = values.iter().peekable();
    let mut named = Vec::new();
    for name in names {
        let Some(value) = values.next() else { break };
        named.push((name.to_owned(), value.clone()));
        if name.contains("seed") {
            let is_choice = |it: &&Value| it.as_str().is_some_and(|it| AFTER_SEED.contains(&it));
            values.next_if(is_choice);
        }
    }
    named
}

impl Node {
    fn input(&self, name: &str) -> Option<&Input> {
        let mut inputs = self.inputs.iter();
        inputs.find(|(own, _)| own == name).map(|(_, input)| input)
    }

    fn value(&self, name: &str) -> Option<&Value> {
        match self.input(name)? {
            Input::Value(value) => Some(value),
            Input::Link(_) => None,
        }
    }

    fn links(&self) -> impl Iterator<Item = (&str, &str)> {
        self.inputs.iter().filter_map(|(name, input)| match input {
            Input::Link(id) => Some((name.as_str(), id.as_str())),
            Input::Value(_) => None,
        })
    }
}

/// The names of inputs with a text, the most specific first.
const TEXTS: [&str; 12] = [
    "text",
    "t5xxl",
    "text_g",
    "clip_l",
    "text_l",
    "prompt",
    "string",
    "value",
    "populated_text",
    "wildcard_text",
    "text_positive",
    "positive",
];

fn of_graph(graph: &Graph) -> Option<FoundRecipe> {
    let (_, sampler) = graph.iter().max_by_key(|(id, node)| rank(id, node))?;
    let mut recipe = FoundRecipe::new(Program::ComfyUi);
    let positive = text(graph, sampler, &["positive", "conditioning", "prompt"]);
    recipe.put_plain(PROMPT, positive.as_ref());
    let negative = text(graph, sampler, &["negative", "negative_prompt"]);
    recipe.put_plain(
        NEGATIVE_PROMPT,
        negative.filter(|it| Some(it) != positive.as_ref()).as_ref(),
    );
    for (name, inputs) in [
        (SEED, &["seed", "noise_seed"] as &[&str]),
        (STEPS, &["steps"]),
        (CFG_SCALE, &["cfg"]),
        (GUIDANCE, &["guidance"]),
        (SAMPLER, &["sampler_name"]),
        (SCHEDULER, &["scheduler"]),
        (DENOISING_STRENGTH, &["denoise"]),
        (WIDTH, &["width"]),
        (HEIGHT, &["height"]),
    ] {
        let found = near(graph, sampler, inputs);
        // With 1, nothing is kept of the input: this is the default.
        let is_default =
            name == DENOISING_STRENGTH && found.as_ref().and_then(Value::as_f64) == Some(1.0);
        if !is_default {
            recipe.put_plain(name, found.as_ref());
        }
    }
    let model = near(graph, sampler, &["ckpt_name", "unet_name"]);
    recipe.name_model(model.as_ref().and_then(Value::as_str));
    (recipe.values.len() >= 2 || recipe.values.contains_key(PROMPT)).then_some(recipe)
}

/// Ranks a node by how likely its values are those of the result.
fn rank(id: &str, node: &Node) -> (bool, usize, u64, std::cmp::Reverse<(usize, String)>) {
    let is_sampler = node.class.to_lowercase().contains("sampler") && node.links().next().is_some();
    let expected = [
        "positive",
        "negative",
        "seed",
        "noise_seed",
        "steps",
        "cfg",
        "latent_image",
        "guider",
        "sigmas",
        "prompt",
    ];
    let has = expected
        .iter()
        .filter(|name| node.input(name).is_some())
        .count();
    // Of two samplers, the one that starts from noise determines the picture.
    let denoise = node.value("denoise").and_then(Value::as_f64).unwrap_or(1.0);
    let denoise = (denoise.clamp(0.0, 1.0) * 1_000.0) as u64;
    let first = std::cmp::Reverse((id.len(), id.to_owned()));
    (is_sampler, has, denoise, first)
}

/// Searches a node and the nodes linked to it for a text or number with one of these names, the nearest first. Conditioning is
/// searched last, because nodes for control pictures have values of the same names.
fn near(graph: &Graph, from: &Node, names: &[&str]) -> Option<Value> {
    let mut seen = HashSet::new();
    let mut pending = VecDeque::from([from]);
    let mut conditioning = VecDeque::new();
    while let Some(node) = pending.pop_front().or_else(|| conditioning.pop_front()) {
        for name in names {
            match node.input(name) {
                Some(Input::Value(value @ (Value::String(_) | Value::Number(_)))) => {
                    return Some(value.clone());
                }
                // The value comes from a node such as a primitive.
                Some(Input::Link(id)) => {
                    let value = primitive(graph, id, names);
                    if value.is_some() {
                        return value;
                    }
                }
                _ => {}
            }
        }
        for (name, id) in node.links() {
            if seen.len() < MAX_VISITS
                && seen.insert(id)
                && let Some(node) = graph.get(id)
            {
                match name.contains("positive")
                    || name.contains("negative")
                    || name.contains("conditioning")
                {
                    true => conditioning.push_back(node),
                    false => pending.push_back(node),
                }
            }
        }
    }
    None
}

/// Returns the value of a node that only gives a value, directly or through others.
fn primitive(graph: &Graph, id: &str, names: &[&str]) -> Option<Value> {
    let mut id = id;
    for _ in 0..8 {
        let node = graph.get(id)?;
        let all = names
            .iter()
            .chain(&["value", "int", "float", "number", "text", "string"]);
        let mut values = all.filter_map(|name| node.value(name));
        if let Some(value) = values.find(|value| value.is_number() || value.is_string()) {
            return Some(value.clone());
        }
        id = node.links().next()?.1;
    }
    None
}

/// Returns the text that is linked to one of these inputs of a node, or to the same input of a guider.
fn text(graph: &Graph, from: &Node, roles: &[&str]) -> Option<Value> {
    let mut visits = MAX_VISITS;
    let role = |node: &Node, visits: &mut usize| {
        roles.iter().find_map(|role| match node.input(role)? {
            Input::Value(value @ Value::String(_)) => Some(value.clone()),
            Input::Value(_) => None,
            Input::Link(id) => linked_text(graph, id, roles, visits, &mut HashSet::new()),
        })
    };
    role(from, &mut visits).or_else(|| {
        let Some(Input::Link(guider)) = from.input("guider") else {
            return None;
        };
        role(graph.get(guider)?, &mut visits)
    })
}

/// Searches a node and the nodes linked to it, depth first, for a text.
fn linked_text<'a>(
    graph: &'a Graph,
    id: &'a str,
    roles: &[&str],
    visits: &mut usize,
    seen: &mut HashSet<&'a str>,
) -> Option<Value> {
    let mut pending = vec![id];
    while let Some(id) = pending.pop() {
        *visits = visits.checked_sub(1)?;
        let Some(node) = graph.get(id).filter(|_| seen.insert(id)) else {
            continue;
        };
        let texts = TEXTS.iter().filter_map(|name| node.value(name));
        let mut texts = texts.filter(|text| text.as_str().is_some_and(|it| !it.trim().is_empty()));
        if let Some(text) = texts.next() {
            return Some(text.clone());
        }
        // A node with both conditionings passes each of them on. Elsewhere, models, pictures and CLIP lead to no text.
        let has_role = node.links().any(|(name, _)| roles.contains(&name));
        let next = node.links().filter(|(name, _)| match has_role {
            true => roles.contains(name),
            false => {
                name.contains("conditioning")
                    || TEXTS.contains(name)
                    || name.starts_with("text")
                    || name.starts_with("string")
            }
        });
        let mut next: Vec<&str> = next.map(|(_, id)| id).collect();
        next.reverse();
        pending.extend(next);
    }
    None
}
