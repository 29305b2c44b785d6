//! Packs all ComfyUI nodes into one folder of `custom_nodes` (`GET /api/comfyui-nodes.zip`): a node pack in the format of
//! ComfyUI's registry, with a workflow for each model.

use std::io::{Cursor, Error, Write};

use atelier_contract::{Schema, python_file};
use minijinja::context;
use serde_json::{Map, Value, json};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::{
    ModelTexts, SERVICE_NAME, comfyui_node, editor_script, parameters, render_comfyui_node,
    template,
};
use crate::model::Model;
use crate::models::Models;

/// The folder in the archive.
const FOLDER: &str = "atelier-nodes";

/// The value of a seed's `control_after_generate`: the seed does not change, so a second run is cached and costs nothing.
const AFTER_RUN: &str = "fixed";

/// Returns the archive. The same models and address give the same bytes.
///
/// # Errors
///
/// A template can't be parsed or rendered, or a model's sample does not match its schema: a bug in this program, or an
/// error in the models file.
pub fn node_pack(models: &Models, base_url: &str) -> Result<Vec<u8>, Error> {
    let mut files = Vec::new();
    let mut modules = Vec::new();
    let keys: Vec<String> = models.iter().map(|m| comfyui_node::key(&m.id())).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let script = editor_script(&keys, "atelier.inputs").map_err(Error::other)?;
    files.push(("web/inputs.js".to_owned(), script));
    for model in models.iter() {
        let (id, schema, texts) = (model.id(), model.schema(), ModelTexts::from(model));
        let module = python_file::module(&id);
        let node = render_comfyui_node(&schema, &texts, base_url).map_err(Error::other)?;
        files.push((python_file::node(&id), node));
        let workflow = workflow(models, model)?.to_string();
        files.push((format!("example_workflows/{module}.json"), workflow));
        let key = comfyui_node::key(&id);
        files.push((format!("web/docs/{key}.md"), documentation(&schema, &texts)));
        modules.push(format!("{module}_node"));
    }
    let names: Vec<String> = models.iter().map(|m| m.about().name.to_owned()).collect();
    for name in ["__init__.py", "pyproject.toml", "README.md"] {
        let text = template(&format!("node_pack/{name}"))
            .and_then(|template| {
                template.render(context! {
                    modules => modules,
                    names => minijinja::value::Value::from_safe_string(names.join(", ")),
                    service_name => minijinja::value::Value::from_safe_string(SERVICE_NAME.into()),
                    folder => minijinja::value::Value::from_safe_string(FOLDER.into()),
                    version => minijinja::value::Value::from_safe_string(env!("CARGO_PKG_VERSION").into()),
                })
            })
            .map_err(Error::other)?;
        files.push((name.to_owned(), text));
    }
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in files {
        archive.start_file(format!("{FOLDER}/{name}"), options)?;
        archive.write_all(text.as_bytes())?;
    }
    Ok(archive.finish()?.into_inner())
}

/// Returns the help page of a node in ComfyUI.
fn documentation(schema: &Schema, texts: &ModelTexts) -> String {
    let cell = |text: &str| text.replace('|', "\\|").replace(['\r', '\n'], " ");
    let variables = parameters::variables(schema);
    let rows: String = schema
        .parameters()
        .map(|(parameter, required)| {
            let variable = variables.iter().find(|(of, _)| *of == parameter.name);
            let needed = match variable {
                Some((_, variable)) => format!("from the environment variable `{variable}`"),
                None if required => "required".to_owned(),
                None => String::new(),
            };
            let name = cell(&parameter.name);
            format!("| {name} | {needed} | {} |\n", cell(&parameter.description))
        })
        .collect();
    format!(
        "# {} ({SERVICE_NAME})\n\n{}\n\nA run starts a task at the service, which may cost money. \
         It runs only if something that saves or shows its result depends on it; the same inputs \
         with the same seed are paid for once. Cancel stops the waiting, not the task: run the same \
         inputs again, or give the id that the node shows to *Fetch result*.\n\n\
         | Input | | |\n| --- | --- | --- |\n{rows}\n`url` is the list of addresses of the results.\n",
        texts.name, texts.description
    )
}

/// Returns a workflow for ComfyUI's editor that runs the model with its sample input.
fn workflow(models: &Models, model: &dyn Model) -> Result<Value, Error> {
    let mut graph = Graph::default();
    let source = model.sample_source().and_then(|id| models.find(&id));
    let from = source.map(|source| graph.model(source, None));
    let node = graph.model(model, from);
    let name = model.about().name.to_lowercase();
    let (save, input, values) = match comfyui_node::type_of_results(model) {
        Some("VIDEO") => ("SaveVideo", "video", json!([name, "auto", "auto"])),
        Some("AUDIO") => ("SaveAudio", "audio", json!([name])),
        _ => ("SaveImage", "images", json!([name])),
    };
    let kind = comfyui_node::type_of_results(model).unwrap_or("IMAGE");
    graph.add(
        save,
        vec![(input, kind, None, Some((node, 1)))],
        &[],
        values,
    );
    graph.add(
        "PreviewAny",
        vec![("source", "*", None, Some((node, 0)))],
        &[],
        json!([]),
    );
    let texts = format!(
        "Set `SERVICE_UID` and `SERVICE_TOKEN` in the environment before you start ComfyUI.\n\n\
         {}\n\nRun starts a task at the service, which may cost money.",
        model.about().description
    );
    graph.add("MarkdownNote", Vec::new(), &[], json!([texts]));
    Ok(graph.into_value())
}

/// An input of a node: its name, its type, its widget if it has one, and the linked node and slot if there is a link.
type Socket<'a> = (&'a str, &'a str, Option<&'a str>, Option<(usize, usize)>);

/// Builds a workflow, with nodes from left to right.
#[derive(Default)]
struct Graph {
    nodes: Vec<Value>,
    links: Vec<Value>,
}

impl Graph {
    /// Adds the node of a model with its sample input. `from` is the node that makes the input image. Returns the id of
    /// the new node.
    fn model(&mut self, model: &dyn Model, from: Option<usize>) -> usize {
        let parts = comfyui_node::parts(&model.schema());
        let sample = model.sample();
        let mut values = Vec::new();
        let inputs = ["required", "optional"].map(|group| parts["INPUTS"][group].as_object());
        for (name, input) in inputs.into_iter().flatten().flatten() {
            let options = &input[1];
            let labels = parts["CHOICES"][name].as_object();
            let label = labels
                .into_iter()
                .flatten()
                .find(|(_, value)| sample.get(name) == Some(*value))
                .map(|(label, _)| json!(label));
            let sampled = label.or_else(|| sample.get(name).cloned());
            values.push(sampled.unwrap_or_else(|| options["default"].clone()));
            if options["control_after_generate"] == true {
                values.push(AFTER_RUN.into());
            }
        }
        let linked: Vec<Socket<'_>> = parts["MEDIA"]
            .as_object()
            .into_iter()
            .flat_map(Map::keys)
            .filter(|_| from.is_some())
            .map(|name| {
                let kind = parts["INPUTS"]["required"][name][0].as_str();
                let socket = kind.unwrap_or("STRING");
                (
                    name.as_str(),
                    socket,
                    Some(name.as_str()),
                    from.map(|from| (from, 0)),
                )
            })
            .collect();
        let mut outputs = vec![("url", "STRING")];
        outputs.extend(model.makes().map(comfyui_node::output));
        let key = comfyui_node::key(&model.id());
        self.add(&key, linked, &outputs, Value::Array(values))
    }

    fn add(
        &mut self,
        kind: &str,
        inputs: Vec<Socket<'_>>,
        outputs: &[(&str, &str)],
        values: Value,
    ) -> usize {
        let id = self.nodes.len() + 1;
        let inputs: Vec<Value> = inputs
            .into_iter()
            .enumerate()
            .map(|(at, (name, kind, widget, from))| {
                let mut input = json!({"name": name, "type": kind, "link": null});
                if let Some(widget) = widget {
                    input["widget"] = json!({"name": widget});
                }
                if let Some((node, slot)) = from {
                    let link = self.links.len() + 1;
                    self.links.push(json!([link, node, slot, id, at, kind]));
                    input["link"] = link.into();
                    if let Some(Value::Array(links)) = self
                        .nodes
                        .get_mut(node - 1)
                        .and_then(|node| node.pointer_mut(&format!("/outputs/{slot}/links")))
                    {
                        links.push(link.into());
                    }
                }
                input
            })
            .collect();
        let outputs: Vec<Value> = outputs
            .iter()
            .map(|(name, kind)| json!({"name": name, "type": kind, "links": []}))
            .collect();
        self.nodes.push(json!({
            "id": id, "type": kind, "pos": [40 + 440 * (id - 1), 80], "size": [400, 420],
            "flags": {}, "order": id - 1, "mode": 0, "inputs": inputs, "outputs": outputs,
            "properties": {"Node name for S&R": kind}, "widgets_values": values,
        }));
        id
    }

    fn into_value(self) -> Value {
        json!({
            "last_node_id": self.nodes.len(), "last_link_id": self.links.len(),
            "nodes": self.nodes, "links": self.links, "groups": [], "config": {}, "extra": {},
            "version": 0.4,
        })
    }
}
