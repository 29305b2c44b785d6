//! The form of `POST /v1/images/edits`: pictures as files, everything else as text.

use std::fs::File;
use std::path::{Path, PathBuf};

use atelier_contract::PictureRole;
use serde_json::{Map, Value};

use super::Images;
use crate::model::Ended;
use crate::picture::to_transparent_mask;
use crate::runner::file::{self, content_type_of};
use crate::runner::form::{FileName, Form};
use crate::runner::http::CallError;
use crate::runner::{Run, addresses};

/// The field of a single picture.
const IMAGE: &str = "image";

/// The field of several pictures.
const IMAGES: &str = "image[]";

const MASK: &str = "mask";

/// One field of a form.
#[derive(Debug)]
pub struct Field {
    name: String,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Text(String),
    /// A file of this service, which is read while it is sent.
    Path(PathBuf),
    Bytes {
        bytes: Vec<u8>,
        extension: &'static str,
    },
}

impl Content {
    /// Makes the white areas of a mask transparent. A file that can't be decoded stays as it is: the server may accept it.
    fn make_transparent(&mut self) -> Result<(), Ended> {
        let converted = match self {
            Self::Text(_) => return Ok(()),
            Self::Path(path) => to_transparent_mask(&file::read(path)?),
            Self::Bytes { bytes, .. } => to_transparent_mask(bytes),
        };
        if let Ok(Some(bytes)) = converted {
            let extension = "png";
            *self = Self::Bytes { bytes, extension };
        }
        Ok(())
    }
}

/// Removes the pictures from an input and returns their fields, in the order of the parameters. Returns none if the input
/// has no picture.
///
/// # Errors
///
/// As for [`Run::own_file`]; also [`Ended::Failed`] if a file can't be read, a `data:` URI can't be decoded, a list has
/// other values among its pictures, or there is a mask without a picture.
pub fn take_pictures(
    server: &Images,
    run: &Run<'_>,
    input: &mut Map<String, Value>,
) -> Result<Vec<Field>, Ended> {
    let parameters = &server.parameters;
    let (mut images, mut masks) = (Vec::new(), Vec::new());
    for parameter in parameters.required.iter().chain(&parameters.optional) {
        let Some(role) = parameter.picture_role() else {
            continue;
        };
        let Some(value) = input.get(&parameter.name) else {
            continue;
        };
        let values = match value {
            Value::Array(items) => items.iter().collect(),
            value => vec![value],
        };
        let is_blank = |value: &&Value| {
            value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
        };
        let values: Vec<&Value> = values.into_iter().filter(|v| !is_blank(v)).collect();
        let contents = values.iter().map(|value| content(run, value));
        let contents: Vec<Option<Content>> = contents.collect::<Result<_, _>>()?;
        let (count, contents) = (contents.len(), contents.into_iter().flatten());
        let contents: Vec<Content> = contents.collect();
        if contents.is_empty() && count > 0 {
            // Other values, such as the name of a style, stay as they are.
            continue;
        }
        if contents.len() < count {
            return Err(Ended::Failed(format!(
                "{} has a value that is neither a picture nor an address.",
                parameter.name
            )));
        }
        input.remove(&parameter.name);
        match role {
            PictureRole::Image => images.extend(contents),
            PictureRole::Mask => masks.extend(contents),
        }
    }
    if images.is_empty() && !masks.is_empty() {
        return Err(Ended::Failed(
            "A mask needs a picture to edit: fill in a picture as well.".into(),
        ));
    }
    let usual = if images.len() > 1 { IMAGES } else { IMAGE };
    let name = server.image_field.as_deref().unwrap_or(usual);
    if server.has_transparent_masks {
        for mask in &mut masks {
            mask.make_transparent()?;
        }
    }
    let images = images.into_iter().map(|content| (name, content));
    let masks = masks.into_iter().map(|content| (MASK, content));
    let fields = images.chain(masks).map(|(name, content)| Field {
        name: name.to_owned(),
        content,
    });
    Ok(fields.collect())
}

/// Returns the content of a picture; `None` if the value is neither a file nor an address. An address of another server
/// stays a text.
fn content(run: &Run<'_>, value: &Value) -> Result<Option<Content>, Ended> {
    if let Some(path) = run.own_file(value)? {
        // Fails before the request is marked as sent.
        File::open(&path).map_err(|error| file::not_readable(&error))?;
        return Ok(Some(Content::Path(path)));
    }
    let Some(text) = value.as_str() else {
        return Ok(None);
    };
    if addresses::strip_prefix(text, "data:").is_some() {
        let decoded = file::of_data_uri(text).filter(|file| !file.bytes.is_empty());
        let file = decoded.ok_or_else(|| {
            Ended::Failed("A data: URI in the input can't be decoded; use base64.".into())
        })?;
        return Ok(Some(Content::Bytes {
            bytes: file.bytes,
            extension: file.extension,
        }));
    }
    let is_address = addresses::is_http(text);
    Ok(is_address.then(|| Content::Text(text.to_owned())))
}

/// Adds the remaining values of a request as texts: the items of a list one by one, and objects as JSON.
pub fn add_texts(fields: &mut Vec<Field>, values: Map<String, Value>) {
    for (name, value) in values {
        let (name, values) = match value {
            Value::Array(items) => (format!("{name}[]"), items),
            value => (name, vec![value]),
        };
        let values = values.into_iter().filter(|value| !value.is_null());
        fields.extend(values.map(|value| Field {
            name: name.clone(),
            content: Content::Text(match value {
                Value::String(text) => text,
                other => other.to_string(),
            }),
        }));
    }
}

/// Builds the form, and opens its files. The boundary depends only on the task, so that a repeated request is equal to
/// the first one.
///
/// # Errors
///
/// [`CallError::NotSent`] if a file can't be opened.
pub fn form<'a>(task: &str, fields: &'a [Field]) -> Result<Form<'a>, CallError> {
    let mut form = Form::new(format!("atelier-{task}"));
    for (number, Field { name, content }) in fields.iter().enumerate() {
        let extension = match content {
            Content::Text(text) => {
                form.bytes(name, None, text.as_bytes());
                continue;
            }
            Content::Path(path) => extension_of(path),
            Content::Bytes { extension, .. } => *extension,
        };
        let file = FileName {
            name: &format!("{}.{extension}", number + 1),
            content_type: content_type_of(extension),
        };
        match content {
            Content::Path(path) => form
                .file(name, &file, path)
                .map_err(|error| CallError::NotSent(error.to_string()))?,
            Content::Bytes { bytes, .. } => form.bytes(name, Some(&file), bytes),
            Content::Text(_) => {}
        }
    }
    Ok(form)
}

fn extension_of(path: &Path) -> &str {
    path.extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or(file::UNKNOWN)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_are_repeated_and_objects_are_json() {
        let mut fields = Vec::new();
        let values = json!({"a": "x", "b": true, "l": ["y", null, 1], "n": 2, "o": {"k": 1}});
        let Value::Object(values) = values else {
            unreachable!()
        };
        add_texts(&mut fields, values);
        let shown = fields.iter().map(|field| match &field.content {
            Content::Text(text) => format!("{}={text}", field.name),
            other => panic!("{other:?}"),
        });
        let shown: Vec<String> = shown.collect();
        assert_eq!(
            shown,
            ["a=x", "b=true", "l[]=y", "l[]=1", "n=2", "o={\"k\":1}"]
        );
    }
}
