//! `POST /v2/uploads`, an extension of INTERFACE: the limits that a service announces, and its reply.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ApiError;
use crate::output::{OutputAddress, SafeUrl};
use crate::prose::bounded;

/// The limits of uploads, from `uploads` in the model list. A service without the field accepts no uploads.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UploadLimits {
    /// The maximum size of a file, in bytes.
    pub max_bytes: u64,
    /// The accepted media types; empty if the service does not list them.
    pub types: Vec<String>,
    /// How long a file is kept, in seconds, if the service reports it.
    pub ttl_seconds: Option<u64>,
}

/// The reply to `POST /v2/uploads`. Only the URL is required.
///
/// Browsers store it until it is in its field, so names and types must not change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Uploaded {
    /// The URL of the file: `http://` or `https://`, without a user name.
    pub url: String,
    /// The media type; empty if unknown.
    pub media_type: String,
    /// The size in bytes.
    pub bytes: Option<u64>,
    /// Width and height of an image, in pixels.
    pub size: Option<(u64, u64)>,
    /// When the file is deleted, in seconds since 1970.
    pub expires_at: Option<u64>,
}

impl Uploaded {
    /// Reads the body of a successful reply.
    ///
    /// # Errors
    ///
    /// [`ApiError::Malformed`] without a URL that is safe to show.
    pub fn from_body(body: &Value) -> Result<Self, ApiError> {
        let data = &body["data"];
        let url = data["url"].as_str().unwrap_or_default();
        let is_web = matches!(OutputAddress::of(url), OutputAddress::Web);
        let url = SafeUrl::link(url, "").filter(|_| is_web);
        let url = url.ok_or_else(|| ApiError::malformed("it has no address of the file"))?;
        let number = |name: &str| data[name].as_u64();
        Ok(Self {
            url: url.to_string(),
            media_type: bounded(data["type"].as_str().unwrap_or_default().to_owned()),
            bytes: number("bytes"),
            size: number("width").zip(number("height")),
            expires_at: number("expires_at"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reads_a_complete_reply() {
        let body = json!({"success": true, "data": {
            "url": "http://127.0.0.1:8787/outputs/3f/0.jpg", "type": "image/jpeg", "bytes": 183_044,
            "sha256": "9f86", "width": 1600, "height": 1200, "expires_at": 1_796_040_000_u64
        }});
        let uploaded = Uploaded {
            url: "http://127.0.0.1:8787/outputs/3f/0.jpg".into(),
            media_type: "image/jpeg".into(),
            bytes: Some(183_044),
            size: Some((1600, 1200)),
            expires_at: Some(1_796_040_000),
        };
        assert_eq!(Uploaded::from_body(&body), Ok(uploaded));
    }

    #[test]
    fn only_the_url_is_required() {
        let odd = json!({"data": {
            "url": "https://files.example/a", "type": 7, "bytes": "many", "width": 10, "height": null, "expires_at": -1
        }});
        let uploaded = Uploaded {
            url: "https://files.example/a".into(),
            ..Uploaded::default()
        };
        assert_eq!(Uploaded::from_body(&odd), Ok(uploaded));
    }

    #[test]
    fn rejects_replies_without_a_safe_url() {
        for body in [
            json!(null),
            json!({}),
            json!([]),
            json!({"data": "http://files.example/a"}),
            json!({"data": {"url": 7}}),
            json!({"data": {"url": ""}}),
            json!({"data": {"url": "/outputs/a.png"}}),
            json!({"data": {"url": "javascript:alert(1)"}}),
            json!({"data": {"url": "data:image/png;base64,AAAA"}}),
            json!({"data": {"url": "https://user:word@files.example/a"}}),
        ] {
            let read = Uploaded::from_body(&body);
            assert!(
                matches!(read, Err(ApiError::Malformed { .. })),
                "{body}: {read:?}"
            );
        }
    }
}
