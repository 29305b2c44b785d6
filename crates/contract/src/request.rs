//! The bodies and headers of single calls.

use std::fmt;

use serde_json::{Map, Value};

use crate::{Input, ModelId, TaskId};

/// The header with the idempotency key of a single submission, with which the service accepts a repeated submission
/// only once. An extension of INTERFACE, for services that support it (see [`crate::ModelList`]). It is in lower case,
/// because the `http` crate requires that.
pub const IDEMPOTENCY_HEADER: &str = "idempotency-key";

/// The field with the idempotency key in a batch item.
pub const IDEMPOTENCY_FIELD: &str = "idempotency_key";

/// The credentials of the caller (INTERFACE "Authentication"). The token is never printed, and can be read only as the
/// value of the header.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Credentials {
    pub uid: String,
    token: String,
}

impl Credentials {
    pub fn new(uid: impl Into<String>, token: impl Into<String>) -> Self {
        Self {
            uid: uid.into(),
            token: token.into(),
        }
    }

    /// Returns the value of the `Authorization` header.
    pub fn authorization(&self) -> String {
        format!("Bearer {}", self.token)
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("uid", &self.uid)
            .finish_non_exhaustive()
    }
}

/// The body of `POST /v2/generate`: the common fields, then the model's.
#[derive(Clone, PartialEq)]
pub struct GenerateRequest<'a> {
    pub uid: &'a str,
    pub input: &'a Input,
    /// The values of secret parameters. They are only in this body, because an [`Input`] is stored.
    pub secrets: Option<&'a Map<String, Value>>,
}

impl GenerateRequest<'_> {
    /// Returns the JSON body.
    pub fn to_body(&self) -> Value {
        let mut body = common(self.uid, self.input.model());
        for (name, value) in self
            .input
            .values()
            .iter()
            .chain(self.secrets.into_iter().flatten())
        {
            body.insert(name.clone(), value.clone());
        }
        Value::Object(body)
    }
}

/// The body of `POST /v2/status` and `POST /v2/response`.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskRequest<'a> {
    pub id: &'a TaskId,
    pub uid: &'a str,
    pub model: &'a ModelId,
}

impl TaskRequest<'_> {
    /// Returns the JSON body.
    pub fn to_body(&self) -> Value {
        let mut body = Map::new();
        body.insert("id".into(), self.id.0.as_str().into());
        body.append(&mut common(self.uid, self.model));
        Value::Object(body)
    }
}

fn common(uid: &str, model: &ModelId) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("uid".into(), uid.into());
    body.insert("category".into(), model.category.clone().into());
    body.insert("subcategory".into(), model.subcategory.clone().into());
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_never_printed() {
        let credentials = Credentials::new("me", "secret");
        assert!(!format!("{credentials:?}").contains("secret"));
        assert_eq!(credentials.authorization(), "Bearer secret");
    }
}
