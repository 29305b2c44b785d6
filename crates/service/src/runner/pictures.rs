//! Reads the pictures in a response of OpenAI's images API, in the forms that compatible servers use.

use serde_json::Value;

use super::addresses::{is_http, strip_prefix};
use super::file;

/// Keys of an entry that contain base64.
const BASE64_KEYS: [&str; 4] = ["b64_json", "b64", "base64", "image_base64"];

/// Keys of an entry that contain an address or base64.
const OTHER_KEYS: [&str; 4] = ["url", "image_url", "uri", "image"];

/// The maximum length of an excerpt of a response in a message, in characters.
const MAX_EXCERPT: usize = 500;

/// One entry of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Picture {
    Bytes(Vec<u8>),
    /// Absolute, or relative to the server.
    Address(String),
    /// Why there is no picture.
    Missing(String),
}

/// Reads all entries of a response, in order.
pub fn pictures(body: &Value) -> Vec<Picture> {
    entries(body, 0).into_iter().map(picture).collect()
}

/// Returns the reason in a response without any picture.
pub fn excerpt(body: &Value) -> String {
    let found = ["/error/message", "/error", "/detail", "/message"]
        .iter()
        .find_map(|pointer| body.pointer(pointer).filter(|value| !value.is_null()));
    let text = match found.unwrap_or(body) {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    text.chars().take(MAX_EXCERPT).collect()
}

/// Returns the list that contains pictures, under any key. Without pictures, returns the list `data`.
fn entries<'a>(body: &'a Value, depth: u8) -> Vec<&'a Value> {
    match body {
        Value::Array(list) => list.iter().collect(),
        Value::Object(fields) if depth < 3 => {
            let with_pictures = |value: &'a Value| {
                let entries = entries(value, depth + 1);
                entries
                    .iter()
                    .any(|entry| has_picture(entry))
                    .then_some(entries)
            };
            let usual = ["data", "images"].iter().filter_map(|key| fields.get(*key));
            // The usual keys take precedence, because a response may also contain the address of its input.
            let of_usual = usual.map(with_pictures).find_map(|found| found);
            let itself = || has_picture(body).then(|| vec![body]);
            let of_others = || fields.values().find_map(with_pictures);
            let data = || fields.get("data").and_then(Value::as_array);
            of_usual
                .or_else(itself)
                .or_else(of_others)
                .unwrap_or_else(|| data().into_iter().flatten().collect())
        }
        Value::Object(_) if has_picture(body) => vec![body],
        _ => Vec::new(),
    }
}

fn has_picture(entry: &Value) -> bool {
    !matches!(picture(entry), Picture::Missing(_))
}

fn picture(entry: &Value) -> Picture {
    let text = |key: &str| {
        let value = match entry.get(key)? {
            Value::Object(inner) => inner.get("url")?,
            value => value,
        };
        value.as_str().filter(|text| !text.trim().is_empty())
    };
    let encoded = BASE64_KEYS.iter().find_map(|key| {
        let text = text(key)?;
        let bytes = file::of_base64(text).filter(|bytes| !bytes.is_empty());
        bytes.map(Picture::Bytes).or_else(|| of_text(text))
    });
    let other = || OTHER_KEYS.iter().find_map(|key| of_text(text(key)?));
    let bare = || of_text(entry.as_str()?);
    let missing = || match BASE64_KEYS.iter().find_map(|key| text(key)) {
        Some(_) => "it is not base64".to_owned(),
        None => excerpt(entry),
    };
    encoded
        .or_else(other)
        .or_else(bare)
        .unwrap_or_else(|| Picture::Missing(missing()))
}

/// Reads a `data:` URI, an address, or base64 of a known file type: `/9j/…` is a JPEG, not a path.
fn of_text(text: &str) -> Option<Picture> {
    let text = text.trim();
    if strip_prefix(text, "data:").is_some() {
        let file = file::of_data_uri(text)?;
        return (!file.bytes.is_empty()).then_some(Picture::Bytes(file.bytes));
    }
    if is_http(text) {
        return Some(Picture::Address(text.to_owned()));
    }
    let bytes = file::of_base64(text).filter(|bytes| file::is_known(bytes));
    if let Some(bytes) = bytes {
        return Some(Picture::Bytes(bytes));
    }
    let is_path = !text.contains(char::is_whitespace) && text.contains('/');
    is_path.then(|| Picture::Address(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\xfb\xff\xfe";
    const BASE64: &str = "iVBORw0KGgr7//4=";

    /// Guards against losing pictures in the response formats of compatible servers.
    #[test]
    fn pictures_are_read_in_every_form() {
        let data_uri = format!("data:image/png;base64,{BASE64}");
        for entry in [
            json!({"b64_json": BASE64}),
            json!({"b64_json": data_uri}),
            json!({"b64_json": "iVBORw0K\r\nGgr7//4=\r\n"}),
            json!({"b64_json": "iVBORw0KGgr7__4"}),
            json!({"url": null, "b64_json": BASE64}),
            json!({"url": "", "b64_json": BASE64, "revised_prompt": "a fox"}),
            json!({"url": data_uri}),
            json!({"url": data_uri, "b64_json": ""}),
            json!({"image_url": {"url": data_uri}}),
            json!({"url": data_uri.replace("data:", "DATA:")}),
            json!({"image": BASE64}),
            json!(data_uri),
            json!(BASE64),
        ] {
            for body in [
                json!({"created": 1, "data": [entry]}),
                json!({"created": 1, "data": entry}),
                json!({"created": 1, "data": [], "images": [entry]}),
                json!({"data": {"result": [entry]}, "usage": {"total": 1}}),
                json!({"object": "list", "url": "/v1/images", "image": "/in.png", "data": [entry]}),
                json!([entry]),
            ] {
                // A bare text is an entry only in a list.
                if entry.is_string() && body["data"].is_string() {
                    continue;
                }
                assert_eq!(pictures(&body), [Picture::Bytes(PNG.to_vec())], "{body}");
            }
        }
        for address in [
            "https://a.example/b.png?c=d",
            "HTTPS://a.example/b.png",
            "/files/1/content",
            "images/1.png",
        ] {
            let body = json!({"data": [{"url": address, "b64_json": null}]});
            assert_eq!(pictures(&body), [Picture::Address(address.into())]);
        }
        let jpeg = json!([{"url": "/9j/4AAQSkZJRg=="}]);
        assert!(matches!(&pictures(&jpeg)[..], [Picture::Bytes(_)]));
    }

    #[test]
    fn a_missing_picture_keeps_its_reason() {
        let body = json!({"data": [{"b64_json": BASE64}, {"error": {"message": "filtered"}}]});
        let missing = Picture::Missing("filtered".into());
        assert_eq!(pictures(&body), [Picture::Bytes(PNG.to_vec()), missing]);
        let body = json!({"data": [{"b64_json": "***"}]});
        assert_eq!(
            pictures(&body),
            [Picture::Missing("it is not base64".into())]
        );
        assert_eq!(pictures(&json!({"data": []})), []);
        let body = json!({"error": {"message": "rejected by the safety system", "code": "x"}});
        assert_eq!(pictures(&body), []);
        assert_eq!(excerpt(&body), "rejected by the safety system");
        let filtered =
            json!({"data": [], "content_filter_results": {"sexual": {"filtered": true}}});
        assert!(excerpt(&filtered).contains("content_filter_results"));
    }
}
