//! Finds the models and parameters that take an output as their input.

use atelier_contract::{Media, Model, ModelId, Schema};

use crate::navigation::model_order;
use atelier_contract::output::OutputKind;

/// The schemas of as many models are looked at: a service may have ten thousand models, and which take
/// an image only their schemas say.
pub const LOOKED_AT: usize = 24;

/// The models most likely to take an output of this kind: those whose category says so
/// (`image-to-video`), then a person's favorites and those used last (see [`model_order::first`]).
pub fn candidates(models: &[Model], first: &str, kind: OutputKind) -> Vec<ModelId> {
    let mut order = model_order::order(models, first);
    order.sort_by_key(|at| !says_that_it_takes(&models[*at].id.category, kind));
    let likeliest = order.into_iter().take(LOOKED_AT);
    likeliest.map(|at| models[at].id.clone()).collect()
}

/// Whether it is known that no model takes such an output. `takes` says whether a model does, and `None` while its
/// schema is not known. The likeliest models are tried first, until one does or is not known.
pub fn is_taken_by_none(
    models: &[Model],
    kind: OutputKind,
    takes: impl Fn(&ModelId) -> Option<bool>,
) -> bool {
    let may_take = |model: &Model| says_that_it_takes(&model.id.category, kind);
    if models.is_empty() || models.len() > LOOKED_AT || models.iter().any(may_take) {
        return false;
    }
    let mut candidates = candidates(models, "", kind).into_iter();
    candidates.all(|model| takes(&model) == Some(false))
}

/// The parameters of a model that hold the address of such an output.
pub fn parameters(schema: &Schema, kind: OutputKind) -> Vec<String> {
    schema
        .parameters()
        .filter(|(parameter, _)| parameter.media().map(kind_of) == Some(kind))
        .map(|(parameter, _)| parameter.name.clone())
        .collect()
}

/// Gives the kind of outputs that a parameter of that medium takes.
pub fn kind_of(media: Media) -> OutputKind {
    match media {
        Media::Image => OutputKind::Image,
        Media::Video => OutputKind::Video,
        Media::Audio => OutputKind::Audio,
    }
}

/// `image-to-video` takes images.
fn says_that_it_takes(category: &str, kind: OutputKind) -> bool {
    let category = category.to_ascii_lowercase();
    let taken = category.split_once("-to-").map(|(taken, _)| taken);
    taken.is_some_and(|taken| OutputKind::of_category(taken) == kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
    fn a_category_that_says_so_comes_first_then_what_the_person_uses() {
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

    /// Guards against thousands of calls at one press.
    #[test]
    fn of_many_models_few_are_looked_at() {
        let models: Vec<Model> = (0..1000).map(|n| model("image", &n.to_string())).collect();
        let found = candidates(&models, "image/900", OutputKind::Image);
        assert_eq!(found.len(), LOOKED_AT);
        assert_eq!(found[0].subcategory, "900");
    }

    /// Guards against a button that leads to nothing and looks as if it led somewhere; and against calls that answer
    /// nothing any more.
    #[test]
    fn that_no_model_takes_it_is_known_once_all_have_been_asked() {
        let models = [model("image", "a"), model("audio", "b")];
        let asked = std::cell::RefCell::new(Vec::new());
        let is_vain = |models: &[Model], answers: [Option<bool>; 2]| {
            asked.borrow_mut().clear();
            is_taken_by_none(models, OutputKind::Audio, |model| {
                let mut asked = asked.borrow_mut();
                asked.push(model.subcategory.clone());
                answers[asked.len() - 1]
            })
        };
        assert!(is_vain(&models, [Some(false), Some(false)]));
        assert!(!is_vain(&models, [Some(false), Some(true)]));
        assert!(!is_vain(&models, [None, Some(false)]));
        assert_eq!(asked.borrow().len(), 1);
        assert!(!is_vain(&[], [None; 2]));
        // Its category says that one does, and of so many not all are asked.
        let taken = [model("image", "a"), model("audio-to-video", "b")];
        let many = vec![model("image", "a"); LOOKED_AT + 1];
        for models in [&taken[..], &many[..]] {
            assert!(!is_vain(models, [Some(false); 2]));
            assert_eq!(asked.borrow().len(), 0);
        }
    }

    #[test]
    fn only_parameters_of_the_kind_take_it() {
        let schema: Schema = serde_json::from_value(json!({
            "category": "image", "subcategory": "a", "parameters": {
                "required": [{"name": "prompt", "type": "string"}],
                "optional": [
                    {"name": "image_url", "type": "string"},
                    {"name": "mask", "type": "string"},
                    {"name": "audio_url", "type": "string"}
                ]
            }
        }))
        .unwrap();
        assert_eq!(
            parameters(&schema, OutputKind::Image),
            ["image_url", "mask"]
        );
        assert_eq!(parameters(&schema, OutputKind::Audio), ["audio_url"]);
        assert!(parameters(&schema, OutputKind::Video).is_empty());
        assert!(parameters(&schema, OutputKind::Other).is_empty());
    }
}
