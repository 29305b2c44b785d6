//! Finds the models and parameters that accept an output as their input.

use atelier_contract::output::OutputKind;
use atelier_contract::{Media, Model, ModelId, Schema};
use serde::{Deserialize, Serialize};

use crate::form::upload::stored::FieldKey;
use crate::navigation::model_order;

/// The maximum number of schemas to load. Only a schema shows whether its model accepts an image, and a service may
/// have ten thousand models.
pub const MAX_CANDIDATES: usize = 24;

/// An output in a field whose address may still be replaced, as a tab stores it. Names and types must not change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UndecidedOutput {
    /// The field, without an item.
    pub field: FieldKey,
    /// The name of the output.
    pub name: String,
    pub url: String,
}

/// Returns the models that most likely accept an output of this kind: first those whose category names the kind
/// (`image-to-video`), then the user's favorites and the models used last (see [`model_order::first`]).
pub fn candidates(models: &[Model], first: &str, kind: OutputKind) -> Vec<ModelId> {
    let mut order = model_order::order(models, first);
    order.sort_by_key(|at| !accepts_by_category(&models[*at].id.category, kind));
    let likeliest = order.into_iter().take(MAX_CANDIDATES);
    likeliest.map(|at| models[at].id.clone()).collect()
}

/// Whether it is known that no model accepts an output of this kind. `takes`: whether a model accepts it; `None` while
/// its schema is unknown. The most likely models are checked first, until one accepts it or is unknown.
pub fn is_accepted_by_none(
    models: &[Model],
    kind: OutputKind,
    takes: impl Fn(&ModelId) -> Option<bool>,
) -> bool {
    let may_take = |model: &Model| accepts_by_category(&model.id.category, kind);
    if models.is_empty() || models.len() > MAX_CANDIDATES || models.iter().any(may_take) {
        return false;
    }
    let mut candidates = candidates(models, "", kind).into_iter();
    candidates.all(|model| takes(&model) == Some(false))
}

/// Returns the parameters of a model that accept the address of an output of this kind.
pub fn parameters(schema: &Schema, kind: OutputKind) -> Vec<String> {
    schema
        .parameters()
        .filter(|(parameter, _)| {
            let media = parameter.media().or_else(|| parameter.media_list());
            media.map(kind_of) == Some(kind)
        })
        .map(|(parameter, _)| parameter.name.clone())
        .collect()
}

/// Returns the kind of outputs that a parameter of this medium accepts.
pub fn kind_of(media: Media) -> OutputKind {
    match media {
        Media::Image => OutputKind::Image,
        Media::Video => OutputKind::Video,
        Media::Audio => OutputKind::Audio,
    }
}

/// How an output is given to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputSource {
    /// The address is the value.
    Address,
    /// Its file is uploaded, like a file of the user.
    Upload,
    /// Its file is put into the request, as a data URI.
    Data,
}

/// Facts about an output that becomes an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputFacts {
    /// Whether the output arrived as data and has no address.
    pub is_stored: bool,
    /// Whether it belongs to the service that gets the input.
    pub is_of_service: bool,
    /// Whether its address is known to be dead.
    pub is_gone: bool,
}

/// Decides how an output becomes an input. `accepts_uploads`: whether the service does. If the file can't be read, the
/// address is the only choice.
pub fn input_source(output: OutputFacts, accepts_uploads: bool) -> InputSource {
    let OutputFacts {
        is_stored,
        is_of_service,
        is_gone,
    } = output;
    match (is_stored || is_gone, accepts_uploads) {
        (true, false) => InputSource::Data,
        (true, true) => InputSource::Upload,
        // Another service may not be reachable for this one, or delete its files earlier.
        (false, true) if !is_of_service => InputSource::Upload,
        (false, _) => InputSource::Address,
    }
}

/// Whether the category accepts such outputs: `image-to-video` accepts images.
fn accepts_by_category(category: &str, kind: OutputKind) -> bool {
    let category = category.to_ascii_lowercase();
    let input = category.split_once("-to-").map(|(input, _)| input);
    input.is_some_and(|input| OutputKind::of_category(input) == kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use atelier_contract::json as text;
    use serde_json::json;

    /// Tabs store undecided outputs, so their format must stay the same.
    #[test]
    fn a_stored_undecided_output_round_trips() {
        const SAMPLE: &str = r#"{"field":{"address":"","model":{"category":"image","subcategory":"repaint"},"parameter":"image_url"},"name":"k-0","url":"https://a.example/b"}"#;
        let read: Option<UndecidedOutput> = text::read(SAMPLE).and_then(text::decode);
        let written = read.map(|read| text::encode(&read).to_string());
        assert_eq!(written.as_deref(), Some(SAMPLE));
    }

    fn model(category: &str, subcategory: &str) -> Model {
        Model {
            name: String::new(),
            id: ModelId::new(category, subcategory),
            description: String::new(),
            documentation: String::new(),
            preview: String::new(),
            poster: String::new(),
            unavailable_reason: String::new(),
        }
    }

    #[test]
    fn matching_categories_are_first_then_the_users_models() {
        let models = [
            model("image", "a"),
            model("image", "b"),
            model("Image-to-Video", "c"),
            model("video-to-audio", "d"),
        ];
        let found = candidates(&models, "image/b", OutputKind::Image);
        let names: Vec<&str> = found.iter().map(|id| id.subcategory.as_str()).collect();
        assert_eq!(names, ["c", "b", "a", "d"]);
        let found = candidates(&models, "", OutputKind::Video);
        assert_eq!(found[0].subcategory, "d");
    }

    /// A single click must not load thousands of schemas.
    #[test]
    fn only_a_few_of_many_models_are_candidates() {
        let models: Vec<Model> = (0..1000).map(|n| model("image", &n.to_string())).collect();
        let found = candidates(&models, "image/900", OutputKind::Image);
        assert_eq!(found.len(), MAX_CANDIDATES);
        assert_eq!(found[0].subcategory, "900");
    }

    /// The button is disabled only if no model accepts the output. Schemas that don't matter for this are not loaded.
    #[test]
    fn no_model_accepts_it_only_if_all_schemas_are_known() {
        let models = [model("image", "a"), model("audio", "b")];
        let asked = std::cell::RefCell::new(Vec::new());
        let is_rejected_by_all = |models: &[Model], answers: [Option<bool>; 2]| {
            asked.borrow_mut().clear();
            is_accepted_by_none(models, OutputKind::Audio, |model| {
                let mut asked = asked.borrow_mut();
                asked.push(model.subcategory.clone());
                answers[asked.len() - 1]
            })
        };
        assert!(is_rejected_by_all(&models, [Some(false), Some(false)]));
        assert!(!is_rejected_by_all(&models, [Some(false), Some(true)]));
        assert!(!is_rejected_by_all(&models, [None, Some(false)]));
        assert_eq!(asked.borrow().len(), 1);
        assert!(!is_rejected_by_all(&[], [None; 2]));
        // A category shows that its model accepts the output. If there are too many models, not all are checked.
        let taken = [model("image", "a"), model("audio-to-video", "b")];
        let many = vec![model("image", "a"); MAX_CANDIDATES + 1];
        for models in [&taken[..], &many[..]] {
            assert!(!is_rejected_by_all(models, [Some(false); 2]));
            assert_eq!(asked.borrow().len(), 0);
        }
    }

    #[test]
    fn an_output_is_uploaded_if_its_address_does_not_help() {
        let facts = |is_stored, is_of_service, is_gone| OutputFacts {
            is_stored,
            is_of_service,
            is_gone,
        };
        for (output, with_uploads, without) in [
            (
                facts(false, true, false),
                InputSource::Address,
                InputSource::Address,
            ),
            (
                facts(false, true, true),
                InputSource::Upload,
                InputSource::Data,
            ),
            (
                facts(true, true, false),
                InputSource::Upload,
                InputSource::Data,
            ),
            (
                facts(false, false, false),
                InputSource::Upload,
                InputSource::Address,
            ),
            (
                facts(false, false, true),
                InputSource::Upload,
                InputSource::Data,
            ),
        ] {
            assert_eq!(input_source(output, true), with_uploads, "{output:?}");
            assert_eq!(input_source(output, false), without, "{output:?}");
        }
    }

    #[test]
    fn only_parameters_of_the_kind_accept_it() {
        let schema: Schema = serde_json::from_value(json!({
            "category": "image", "subcategory": "a", "parameters": {
                "required": [{"name": "prompt", "type": "string"}],
                "optional": [
                    {"name": "image_url", "type": "string"},
                    {"name": "mask", "type": "string"},
                    {"name": "references", "type": "array", "items": {"type": "string", "format": "uri"}},
                    {"name": "image_input", "type": "array", "items": {"type": "string", "format": "uri"}},
                    {"name": "audio_url", "type": "string"}
                ]
            }
        }))
        .unwrap();
        assert_eq!(
            parameters(&schema, OutputKind::Image),
            ["image_url", "mask", "image_input"]
        );
        assert_eq!(parameters(&schema, OutputKind::Audio), ["audio_url"]);
        assert!(parameters(&schema, OutputKind::Video).is_empty());
        assert!(parameters(&schema, OutputKind::Other).is_empty());
    }
}
