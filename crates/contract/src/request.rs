//! The body and the headers of a single call.

use std::fmt;

use serde_json::{Map, Value};

use crate::{Input, ModelId, TaskId};

/// The header of a single submission that names it, so that the same one sent again is taken once:
/// for services that say they honour it (see [`crate::ModelList`]). Not part of INTERFACE. In small
/// letters, as `http` wants its constants; on the wire it is the same in any case.
pub const IDEMPOTENCY_HEADER: &str = "idempotency-key";

/// The same as a field of an item of a batch.
pub const IDEMPOTENCY_FIELD: &str = "idempotency_key";

/// Who asks (INTERFACE "Authentication"). The token is shown by nothing that prints: it only
/// yields the header's value.
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

    /// The value of the `Authorization` header.
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

/// The body of `POST /v2/generate`: the common fields, then the model's own.
#[derive(Clone, PartialEq)]
pub struct GenerateRequest<'a> {
    pub uid: &'a str,
    pub input: &'a Input,
    /// The values of secret parameters. This body alone holds them: an [`Input`] is stored, and has none.
    pub secrets: Option<&'a Map<String, Value>>,
}

impl GenerateRequest<'_> {
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
