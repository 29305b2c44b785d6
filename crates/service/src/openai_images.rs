//! Maps requests of OpenAI's images API to the parameters of a model.

use atelier_contract::{Entry, IDEMPOTENCY_FIELD, Kind, Parameter, Schema, check};
use serde_json::{Map, Value};

use crate::failure::Failure;

/// The maximum number of images of one request.
pub const MAX_IMAGES: usize = 10;

/// Fields that are specific to OpenAI's models. Many clients always send them, so each is ignored unless the model has a
/// parameter of that name that accepts the value.
const IGNORED: [&str; 11] = [
    "background",
    "input_fidelity",
    "moderation",
    "n",
    "output_compression",
    "output_format",
    "partial_images",
    "quality",
    "stream",
    "style",
    "user",
];

/// Fields that this module maps to parameters, or that are not parameters.
const MAPPED: [&str; 5] = [
    "model",
    "prompt",
    "size",
    "response_format",
    IDEMPOTENCY_FIELD,
];

/// The field with the name of the model.
pub const MODEL: &str = "model";

pub mod memory;
pub mod refusals;
pub mod waits;

/// An uploaded image of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// The name of its form field, such as `image`, `image[]` or `mask`.
    pub field: String,
    /// The path of the upload, which begins with `/outputs/`.
    pub path: String,
}

/// The tasks that a request asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// The number of tasks with this input.
    pub tasks: usize,
    /// Whether the response contains the images instead of their URLs.
    pub is_base64: bool,
    pub input: Map<String, Value>,
}

/// Reads a request for a model. `is_form`: the fields come from a form, where numbers are strings.
///
/// # Errors
///
/// 422 if a field is invalid, or if the model has no parameter for the prompt or an image.
pub fn read(
    fields: &Map<String, Value>,
    pictures: &[Picture],
    schema: &Schema,
    is_form: bool,
) -> Result<Order, Failure> {
    let has = |name: &str| schema.parameter(name).is_some();
    let mut input = Map::new();
    for (name, value) in fields {
        if MAPPED.contains(&name.as_str()) || value.is_null() {
            continue;
        }
        let value = match schema.parameter(name) {
            Some((parameter, _)) if IGNORED.contains(&name.as_str()) => {
                convert(parameter, value, is_form).unwrap_or_default()
            }
            None if IGNORED.contains(&name.as_str()) => None,
            Some((parameter, _)) => convert(parameter, value, is_form)?,
            None => Some(value.clone()),
        };
        input.extend(value.map(|value| (name.clone(), value)));
    }
    if fields
        .get("stream")
        .is_some_and(|it| *it == true || *it == "true")
        && !has("stream")
    {
        return Err(Failure::invalid_field("stream", "stream is not supported"));
    }
    if let Some(prompt) = text(fields, "prompt")? {
        set_prompt(schema, prompt, &mut input)?;
    }
    if let Some(size) = fields.get("size").filter(|size| !size.is_null()) {
        set_size(schema, size, &mut input)?;
    }
    set_pictures(schema, pictures, &mut input)?;
    let is_base64 = match text(fields, "response_format")? {
        Some("url") => false,
        None | Some("b64_json") => true,
        Some(_) => {
            let message = "response_format must be url or b64_json";
            return Err(Failure::invalid_field("response_format", message));
        }
    };
    let tasks = match fields.get("n").filter(|_| !has("n")) {
        None | Some(Value::Null) => 1,
        Some(count) => count_of(count)?,
    };
    Ok(Order {
        tasks,
        is_base64,
        input,
    })
}

/// Converts a value to the type of the parameter; `None` if the parameter is left out.
fn convert(parameter: &Parameter, value: &Value, is_form: bool) -> Result<Option<Value>, Failure> {
    let entry = match value {
        Value::String(text) if is_form => Entry::Text(text.clone()),
        value => Entry::Value(value.clone()),
    };
    check(parameter, false, Some(&entry)).map_err(|problem| Failure::invalid(vec![problem]))
}

/// Returns a field that must be a string; `None` if it is absent.
fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, Failure> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Failure::invalid_field(
            name,
            format!("{name} must be a string"),
        )),
    }
}

fn count_of(count: &Value) -> Result<usize, Failure> {
    let number = match count {
        Value::String(text) => text.trim().parse().ok(),
        count => count.as_u64(),
    };
    let number = number.and_then(|number| usize::try_from(number).ok());
    number
        .filter(|number| (1..=MAX_IMAGES).contains(number))
        .ok_or_else(|| {
            Failure::invalid_field("n", format!("n must be an integer from 1 to {MAX_IMAGES}"))
        })
}

/// Sets the parameter `prompt`, or the first required text if the model has no parameter of that name.
fn set_prompt(
    schema: &Schema,
    prompt: &str,
    input: &mut Map<String, Value>,
) -> Result<(), Failure> {
    let is_text = |parameter: &Parameter| {
        let is_file = parameter.picture_role().is_some() || parameter.media().is_some();
        parameter.kind() == Kind::Text && !is_file && !parameter.is_secret()
    };
    let named = schema.parameter("prompt").map(|(parameter, _)| parameter);
    let mut required = schema.parameters().filter(|(_, required)| *required);
    let target = named.or_else(|| {
        required
            .find(|(parameter, _)| is_text(parameter))
            .map(|(parameter, _)| parameter)
    });
    match target {
        Some(parameter) if !input.contains_key(&parameter.name) => {
            input.insert(parameter.name.clone(), prompt.into());
        }
        None if !prompt.trim().is_empty() => {
            let message = format!("prompt: the model {} has no parameter for it", schema.model);
            return Err(Failure::invalid_field("prompt", message));
        }
        _ => {}
    }
    Ok(())
}

/// Sets the parameter `size`, `width` and `height`, or the nearest `aspect_ratio`. A model without these has its own size.
fn set_size(schema: &Schema, size: &Value, input: &mut Map<String, Value>) -> Result<(), Failure> {
    let text = match size {
        Value::String(text) => text.trim(),
        _ => "",
    };
    if size.is_string() && (text.is_empty() || text == "auto") {
        return Ok(());
    }
    let mut set = |name: &str, value: Value| {
        input.entry(name).or_insert(value);
    };
    if let Some((parameter, _)) = schema.parameter("size") {
        if let Some(size) = convert(parameter, size, size.is_string())? {
            set("size", size);
        }
        return Ok(());
    }
    let size = text;
    let sides = size.split_once(['x', 'X', '×']);
    let sides = sides.and_then(|(width, height)| {
        let side = |text: &str| text.trim().parse::<u32>().ok().filter(|side| *side > 0);
        Some((side(width)?, side(height)?))
    });
    let Some((width, height)) = sides else {
        let message = "size must be auto, or width and height in pixels such as 1024x1024";
        return Err(Failure::invalid_field("size", message));
    };
    if schema.parameter("width").is_some() && schema.parameter("height").is_some() {
        set("width", width.into());
        set("height", height.into());
    } else if let Some((parameter, _)) = schema.parameter("aspect_ratio") {
        let wanted = f64::from(width) / f64::from(height);
        let distance = |ratio: f64| (ratio / wanted).ln().abs();
        let ratios = parameter.choices().iter().filter_map(|choice| {
            let (width, height) = choice.as_str()?.split_once(':')?;
            let (width, height): (f64, f64) = (width.parse().ok()?, height.parse().ok()?);
            let ratio = width / height;
            (ratio.is_finite() && ratio > 0.0).then_some((choice, ratio))
        });
        let nearest = ratios.min_by(|(_, a), (_, b)| distance(*a).total_cmp(&distance(*b)));
        if let Some((choice, _)) = nearest {
            set("aspect_ratio", choice.clone());
        }
    }
    Ok(())
}

/// Sets the parameters for images: the field `mask` is the mask, the fields `image` and `image[]` are the other images, and a
/// field with the name of a parameter is that parameter.
fn set_pictures(
    schema: &Schema,
    pictures: &[Picture],
    input: &mut Map<String, Value>,
) -> Result<(), Failure> {
    let is_mask = |parameter: &&Parameter| parameter.is_mask();
    let parameters: Vec<&Parameter> = schema
        .parameters()
        .map(|(parameter, _)| parameter)
        .filter(|parameter| parameter.picture_role().is_some())
        .collect();
    let name_of = |picture: &Picture| {
        let name = picture.field.split('[').next().unwrap_or_default();
        name.to_owned()
    };
    let no_parameter = |name: &str| {
        let message = format!("{name}: the model {} has no parameter for it", schema.model);
        Failure::invalid_field(name, message)
    };
    let mut names: Vec<String> = Vec::new();
    for picture in pictures {
        let name = name_of(picture);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    for name in names {
        let paths: Vec<&str> = pictures
            .iter()
            .filter(|picture| name_of(picture) == name)
            .map(|picture| picture.path.as_str())
            .collect();
        let named = || parameters.iter().find(|parameter| parameter.name == name);
        let target = match name.as_str() {
            "mask" => parameters.iter().find(|it| is_mask(it)),
            "image" => named()
                .filter(|it| !is_mask(it))
                .or_else(|| parameters.iter().find(|it| !is_mask(it))),
            _ => named(),
        };
        let parameter = *target.ok_or_else(|| no_parameter(&name))?;
        let value: Value = match (parameter.kind(), paths.as_slice()) {
            (Kind::Array, paths) => paths.into(),
            (_, [path]) => (*path).into(),
            (_, paths) => {
                let message = format!(
                    "{name}: the model {} accepts one image, but the request has {}",
                    schema.model,
                    paths.len()
                );
                return Err(Failure::invalid_field(&name, message));
            }
        };
        input.insert(parameter.name.clone(), value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema(optional: Value) -> Schema {
        serde_json::from_value(json!({
            "category": "image", "subcategory": "a",
            "parameters": {
                "required": [{"name": "prompt", "type": "string", "description": ""}],
                "optional": optional,
            }
        }))
        .unwrap()
    }

    fn order(fields: Value, optional: Value) -> Result<Order, String> {
        let fields = fields.as_object().unwrap();
        read(fields, &[], &schema(optional), false).map_err(|failure| failure.body.message)
    }

    #[test]
    fn a_request_of_a_usual_client_becomes_an_input() {
        let fields = json!({
            "model": "image/a", "prompt": "a fox", "n": 2, "size": "1024x1024", "quality": "auto", "user": null,
            "background": "auto", "output_format": "png", "steps": 4, "idempotency_key": "k",
        });
        let steps = json!([{"name": "steps", "type": "integer", "description": ""}]);
        let expected = Order {
            tasks: 2,
            is_base64: true,
            input: json!({"steps": 4, "prompt": "a fox"})
                .as_object()
                .unwrap()
                .clone(),
        };
        assert_eq!(order(fields, steps), Ok(expected));
        // A model with such parameters gets the values that it accepts.
        let own = json!([
            {"name": "n", "type": "integer", "description": ""},
            {"name": "quality", "type": "string", "description": ""},
            {"name": "output_format", "type": "enum", "allowedValues": ["webp"], "description": ""},
        ]);
        let fields = json!({"prompt": "a", "n": 3, "quality": "hd", "output_format": "png"});
        let own = order(fields, own).unwrap();
        assert_eq!(own.tasks, 1);
        assert_eq!(
            json!(own.input),
            json!({"n": 3, "quality": "hd", "prompt": "a"})
        );
    }

    #[test]
    fn the_size_sets_the_parameters_that_the_model_has() {
        let size = |size: &str, optional: Value| {
            let fields = json!({"prompt": "a", "size": size});
            let order = order(fields, optional).unwrap();
            let mut input = order.input;
            input.remove("prompt");
            json!(input)
        };
        let sides = json!([
            {"name": "width", "type": "integer", "description": ""},
            {"name": "height", "type": "integer", "description": ""},
        ]);
        let ratio = json!([{
            "name": "aspect_ratio", "type": "enum", "allowedValues": ["1:1", "16:9", "2:3", "0:0"], "description": "",
        }]);
        let own = json!([{"name": "size", "type": "string", "description": ""}]);
        assert_eq!(
            size("1792x1024", sides.clone()),
            json!({"width": 1792, "height": 1024})
        );
        assert_eq!(
            size("1792x1024", ratio.clone()),
            json!({"aspect_ratio": "16:9"})
        );
        assert_eq!(size("1024x1536", ratio), json!({"aspect_ratio": "2:3"}));
        assert_eq!(size("1024x1024", own), json!({"size": "1024x1024"}));
        assert_eq!(size("1024x1024", json!([])), json!({}));
        assert_eq!(size("auto", sides.clone()), json!({}));
        let number = json!([{"name": "size", "type": "integer", "description": ""}]);
        let sized = order(json!({"prompt": "a", "size": 512}), number.clone()).unwrap();
        assert_eq!(sized.input["size"], 512);
        assert_eq!(size("512", number), json!({"size": 512}));
        // A parameter in the request takes precedence.
        let both = json!({"prompt": "a", "size": "8x8", "width": 16});
        let both = order(both, sides).unwrap().input;
        assert_eq!((&both["width"], &both["height"]), (&json!(16), &json!(8)));
    }

    #[test]
    fn invalid_fields_are_refused() {
        for (fields, name) in [
            (json!({"prompt": "a", "n": 0}), "n"),
            (json!({"prompt": "a", "n": 11}), "n"),
            (json!({"prompt": "a", "n": "two"}), "n"),
            (json!({"prompt": 1}), "prompt"),
            (
                json!({"prompt": "a", "response_format": "gif"}),
                "response_format",
            ),
            (json!({"prompt": "a", "stream": true}), "stream"),
            (
                json!({"prompt": "a", "response_format": 1}),
                "response_format",
            ),
        ] {
            let message = order(fields.clone(), json!([])).unwrap_err();
            assert!(message.starts_with(name), "{fields}: {message}");
        }
        let sides = json!([
            {"name": "width", "type": "integer", "description": ""},
            {"name": "height", "type": "integer", "description": ""},
        ]);
        let message = order(json!({"prompt": "a", "size": "large"}), sides).unwrap_err();
        assert!(message.starts_with("size"), "{message}");
    }

    fn with_pictures(fields: &[(&str, &str)], optional: Value) -> Result<Value, String> {
        let picture = |(field, path): &(&str, &str)| Picture {
            field: (*field).to_owned(),
            path: (*path).to_owned(),
        };
        let pictures: Vec<Picture> = fields.iter().map(picture).collect();
        let form = json!({"strength": "0.5"});
        let order = read(
            form.as_object().unwrap(),
            &pictures,
            &schema(optional),
            true,
        );
        order
            .map(|order| json!(order.input))
            .map_err(|failure| failure.body.message)
    }

    #[test]
    fn images_and_masks_find_their_parameters() {
        let single = json!([
            {"name": "mask_image", "type": "string", "description": ""},
            {"name": "source", "type": "string", "format": "uri", "description": ""},
            {"name": "strength", "type": "float", "description": ""},
        ]);
        let both = [("image", "/i"), ("mask", "/m")];
        assert_eq!(
            with_pictures(&both, single.clone()),
            Ok(json!({"strength": 0.5, "source": "/i", "mask_image": "/m"}))
        );
        let two = [("image[]", "/1"), ("image[]", "/2")];
        let message = with_pictures(&two, single).unwrap_err();
        assert!(
            message.contains("accepts one image, but the request has 2"),
            "{message}"
        );
        let list = json!([{"name": "images", "type": "array", "description": ""}]);
        let two = with_pictures(&two, list.clone()).unwrap();
        assert_eq!(two["images"], json!(["/1", "/2"]));
        let message = with_pictures(&both, list).unwrap_err();
        assert!(message.starts_with("mask"), "{message}");
    }

    #[test]
    fn the_prompt_becomes_the_first_required_text_that_is_no_file_or_secret() {
        let schema: Schema = serde_json::from_value(json!({
            "category": "audio", "subcategory": "speech",
            "parameters": {
                "required": [
                    {"name": "voice", "type": "string", "description": ""},
                    {"name": "api_key", "type": "string", "format": "password", "description": ""},
                    {"name": "text", "type": "string", "description": ""},
                ],
                "optional": [],
            }
        }))
        .unwrap();
        let fields = json!({"prompt": "hello"});
        let order = read(fields.as_object().unwrap(), &[], &schema, false).unwrap();
        assert_eq!(json!(order.input), json!({"text": "hello"}));
    }
}
