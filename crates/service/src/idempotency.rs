//! `Idempotency-Key`, as in the IETF draft of that name: a repeated submission with the same key gets the first response
//! again, and creates no second task.

use atelier_contract::{IDEMPOTENCY_FIELD, IDEMPOTENCY_HEADER, ModelId};
use axum::http::{HeaderMap, HeaderName};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use thiserror::Error;

/// The header on `/v2/generate`.
pub const HEADER: HeaderName = HeaderName::from_static(IDEMPOTENCY_HEADER);

/// How long a key is stored, in seconds.
pub const TTL_SECONDS: u32 = 24 * 60 * 60;

/// The maximum length of a key, in characters.
const MAX_LENGTH: usize = 255;

/// Why a key is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum KeyError {
    #[error("There is more than one Idempotency-Key header.")]
    Several,
    /// The key in this header or field is malformed.
    #[error("{0} must be 1 to {most} visible ASCII characters.", most = MAX_LENGTH)]
    Malformed(&'static str),
}

/// An idempotency key: 1 to 255 visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Returns the key in the headers, bare or as an RFC 8941 string.
    ///
    /// # Errors
    ///
    /// There is more than one such header, or its value is invalid.
    pub fn of_headers(headers: &HeaderMap) -> Result<Option<Self>, KeyError> {
        let mut values = headers.get_all(HEADER).iter();
        let Some(value) = values.next() else {
            return Ok(None);
        };
        if values.next().is_some() {
            return Err(KeyError::Several);
        }
        let text = value
            .to_str()
            .map_err(|_| KeyError::Malformed("Idempotency-Key"))?;
        let text = text.trim();
        let key = match text.strip_prefix('"') {
            None => Some(text.to_owned()),
            Some(quoted) => unquote(quoted),
        };
        key.and_then(Self::new)
            .map(Some)
            .ok_or(KeyError::Malformed("Idempotency-Key"))
    }

    /// Returns the key in the fields of a request.
    ///
    /// # Errors
    ///
    /// The field is not a string, or its value is invalid.
    pub fn of_fields(fields: &Map<String, Value>) -> Result<Option<Self>, KeyError> {
        match fields.get(IDEMPOTENCY_FIELD) {
            None => Ok(None),
            Some(Value::String(text)) => Self::new(text.clone())
                .map(Some)
                .ok_or(KeyError::Malformed(IDEMPOTENCY_FIELD)),
            Some(_) => Err(KeyError::Malformed(IDEMPOTENCY_FIELD)),
        }
    }

    /// Returns a key that is derived from `parts`.
    pub fn derived(parts: &Value) -> Self {
        Self(digest(parts))
    }

    fn new(text: String) -> Option<Self> {
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        (visible && (1..=MAX_LENGTH).contains(&text.len())).then_some(Self(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Parses the rest of a quoted string after its opening quote.
fn unquote(rest: &str) -> Option<String> {
    let mut text = String::new();
    let mut characters = rest.chars();
    loop {
        match characters.next()? {
            '"' => return characters.next().is_none().then_some(text),
            '\\' => text.push(characters.next().filter(|c| matches!(c, '"' | '\\'))?),
            c => text.push(c),
        }
    }
}

/// A submission with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    /// The account of the key: keys of different users or tokens are independent.
    pub account: String,
    pub key: Key,
    /// Identifies the request.
    pub fingerprint: String,
}

/// Returns a digest that identifies the account of a key. If the service requires a specific token, the account is the
/// user, so that keys survive a change of the token. Otherwise it is the user with the token.
pub fn account(uid: &str, token: &str, has_required_token: bool) -> String {
    let token = if has_required_token { "" } else { token };
    digest(&serde_json::json!([uid, token]))
}

/// Returns a digest of the model and the parameters as sent, independent of their order.
pub fn fingerprint(model: &ModelId, given: &Map<String, Value>) -> String {
    let mut request = serde_json::json!([model.category, model.subcategory, given]);
    request.sort_all_objects();
    digest(&request)
}

fn digest(value: &Value) -> String {
    hex::encode(Sha256::digest(value.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn header(value: &str) -> Result<Option<String>, KeyError> {
        let mut headers = HeaderMap::new();
        headers.insert(HEADER, value.parse().unwrap());
        Key::of_headers(&headers).map(|key| key.map(|key| key.0))
    }

    #[test]
    fn a_key_is_a_bare_or_quoted_string() {
        assert_eq!(header("a-1"), Ok(Some("a-1".into())));
        assert_eq!(header("\"a-1\""), Ok(Some("a-1".into())));
        assert_eq!(header(r#""a\"\\b""#), Ok(Some(r#"a"\b"#.into())));
        assert_eq!(header(&"x".repeat(255)), Ok(Some("x".repeat(255))));
        let malformed = Err(KeyError::Malformed("Idempotency-Key"));
        for odd in [
            "", "\"\"", "\"a", "\"a\"b", "a b", "\"a b\"", "\"\\a\"", "é",
        ] {
            assert_eq!(header(odd), malformed, "{odd}");
        }
        assert_eq!(header(&"x".repeat(256)), malformed);
        assert!(Key::of_headers(&HeaderMap::new()).unwrap().is_none());
        let mut twice = HeaderMap::new();
        twice.append(HEADER, "a".parse().unwrap());
        twice.append(HEADER, "b".parse().unwrap());
        assert_eq!(Key::of_headers(&twice), Err(KeyError::Several));
    }

    #[test]
    fn the_fingerprint_depends_only_on_model_and_values() {
        let model = ModelId::new("image", "strata");
        let print = |given: Value| fingerprint(&model, given.as_object().unwrap());
        let one = print(json!({"prompt": "a", "more": {"x": 1, "y": 2}}));
        assert_eq!(one, print(json!({"more": {"y": 2, "x": 1}, "prompt": "a"})));
        assert_ne!(one, print(json!({"prompt": "a"})));
        assert_ne!(
            print(json!({"seed": u64::MAX})),
            print(json!({"seed": u64::MAX - 1}))
        );
        let moved = fingerprint(&ModelId::new("imagestrata", ""), &Map::new());
        assert_ne!(moved, print(json!({})));
    }

    #[test]
    fn an_account_is_a_user_and_a_token() {
        assert_ne!(account("me", "a", false), account("me", "b", false));
        assert_ne!(account("me", "a", false), account("you", "a", false));
        assert_eq!(account("me", "old", true), account("me", "new", true));
    }
}
