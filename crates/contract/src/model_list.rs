//! The list of models, and what the service says in addition to it of itself.

use crate::lenient::{self, Target};
use crate::prose::bounded;
use crate::{ApiError, Guest, Model, ModelId};

/// The longest category or subcategory, in bytes: each is a segment of the paths of its schema.
const MAX_SEGMENT: usize = 2_000;

/// `GET /api/models`, whole. Entries without an identity are counted, not dropped in silence.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelList {
    pub models: Vec<Model>,
    /// Entries that could not be read.
    pub unreadable: usize,
    /// Credentials for any client, where the service offers them.
    pub guest: Option<Guest>,
    /// How many milliseconds the service honours the key of a submission, where it says that it
    /// honours keys.
    pub idempotent_for_ms: Option<u64>,
    /// What the service has in addition to INTERFACE to take its models elsewhere; see [`Integration`].
    pub integrations: Vec<String>,
    /// Whether the service tells an access token which account it is of; see
    /// [`AccountStatus`](crate::AccountStatus).
    pub has_accounts: bool,
}

/// Words for what a service may have in addition to INTERFACE, in the `integrations` of its list of models.
pub struct Integration;

impl Integration {
    pub const COMFYUI_NODES: &str = "comfyui-nodes";
    pub const OPENAI_FUNCTIONS: &str = "openai-functions";
    pub const MCP: &str = "mcp";
}

impl ModelList {
    /// Reads the body of the reply.
    ///
    /// # Errors
    /// [`ApiError::Malformed`] if it is no JSON, or has no list of models.
    pub fn from_body(body: &[u8]) -> Result<Self, ApiError> {
        let mut reply = Reply::default();
        lenient::read(body, &mut reply).map_err(|_| ApiError::not_json(body))?;
        let mut data = reply.data;
        if !data.is_list {
            return Err(ApiError::malformed("the reply has no list of models"));
        }
        data.end_entry();
        let Credentials { uid, token } = reply.guest;
        let ttl_seconds = reply.ttl.seconds;
        Ok(Self {
            unreadable: data.count - data.models.len(),
            models: data.models,
            guest: uid.zip(token).map(|(uid, token)| Guest { uid, token }),
            idempotent_for_ms: ttl_seconds.map(|seconds| (seconds * 1_000.0) as u64),
            integrations: reply.integrations.0.into_iter().flatten().collect(),
            has_accounts: reply.account.is_some(),
        })
    }
}

#[derive(Default)]
struct Reply {
    data: Data,
    guest: Credentials,
    ttl: Ttl,
    integrations: Words,
    account: Option<String>,
}

impl Target for Reply {
    fn field(&mut self, name: &str) -> Option<&mut dyn Target> {
        match name {
            "data" => begun(&mut self.data),
            "guest" => begun(&mut self.guest),
            "idempotency_key" => begun(&mut self.ttl),
            "integrations" => begun(&mut self.integrations),
            "account" => begun(&mut self.account),
            _ => None,
        }
    }
}

/// Without what stood there before.
fn begun<T: Target + Default>(target: &mut T) -> Option<&mut dyn Target> {
    *target = T::default();
    Some(target)
}

#[derive(Default)]
struct Credentials {
    uid: Option<String>,
    token: Option<String>,
}

impl Target for Credentials {
    fn field(&mut self, name: &str) -> Option<&mut dyn Target> {
        match name {
            "uid" => begun(&mut self.uid),
            "token" => begun(&mut self.token),
            _ => None,
        }
    }
}

#[derive(Default)]
struct Ttl {
    seconds: Option<f64>,
}

impl Target for Ttl {
    fn field(&mut self, name: &str) -> Option<&mut dyn Target> {
        match name {
            "ttl_seconds" => begun(&mut self.seconds),
            _ => None,
        }
    }
}

#[derive(Default)]
struct Words(Vec<Option<String>>);

impl Target for Words {
    fn entry(&mut self) -> Option<&mut dyn Target> {
        self.0.push(None);
        self.0.last_mut().map(|word| word as &mut dyn Target)
    }
}

#[derive(Default)]
struct Data {
    is_list: bool,
    models: Vec<Model>,
    /// Entries so far, of which the last is still being read.
    count: usize,
    entry: Entry,
}

impl Data {
    fn end_entry(&mut self) {
        if let Some(model) = std::mem::take(&mut self.entry).into_model() {
            self.models.push(model);
        }
    }
}

impl Target for Data {
    fn begin_list(&mut self) {
        self.is_list = true;
    }

    fn entry(&mut self) -> Option<&mut dyn Target> {
        self.end_entry();
        self.count += 1;
        Some(&mut self.entry)
    }
}

/// A model, as far as it has been read.
#[derive(Default)]
struct Entry {
    name: Option<String>,
    category: Option<String>,
    subcategory: Option<String>,
    description: Option<String>,
    documentation: Option<String>,
    preview: Option<String>,
    poster: Option<String>,
    away: Option<String>,
}

impl Target for Entry {
    fn field(&mut self, name: &str) -> Option<&mut dyn Target> {
        let text = match name {
            "name" => &mut self.name,
            "category" => &mut self.category,
            "subcategory" => &mut self.subcategory,
            "description" => &mut self.description,
            "documentation" => &mut self.documentation,
            "preview" => &mut self.preview,
            "poster" => &mut self.poster,
            "away" => &mut self.away,
            _ => return None,
        };
        begun(text)
    }
}

impl Entry {
    fn into_model(self) -> Option<Model> {
        // Longer ones fit into no address, and so have neither a schema nor a page.
        let is_addressable = |text: &String| text.len() <= MAX_SEGMENT;
        Some(Model {
            id: ModelId {
                category: self.category.filter(is_addressable)?,
                subcategory: self.subcategory.filter(is_addressable)?,
            },
            name: bounded(self.name.unwrap_or_default()),
            description: bounded(self.description.unwrap_or_default()),
            documentation: self.documentation.unwrap_or_default(),
            preview: self.preview.unwrap_or_default(),
            poster: self.poster.unwrap_or_default(),
            away: bounded(self.away.unwrap_or_default()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn list(body: &Value) -> ModelList {
        ModelList::from_body(body.to_string().as_bytes()).unwrap()
    }

    /// Guards against a list that is never shown because of one category of 10 MB.
    #[test]
    fn a_category_that_fits_into_no_address_is_counted_as_unreadable() {
        let entry = |category: &str| json!({"category": category, "subcategory": "a"});
        let long = "é".repeat(5_000_000);
        let body = json!({"success": true, "data": [entry("image"), entry(&long)]});
        let read = list(&body);
        assert_eq!((read.models.len(), read.unreadable), (1, 1));
    }

    #[test]
    fn what_a_service_says_of_keys_is_read_with_care() {
        let said = |said: Value| {
            let body = json!({"success": true, "data": [], "idempotency_key": said});
            list(&body).idempotent_for_ms
        };
        assert_eq!(said(json!({"ttl_seconds": 86400})), Some(86_400_000));
        assert_eq!(said(json!({"ttl_seconds": 1.5, "more": 1})), Some(1_500));
        // Only the duration counts: without it, nothing is known.
        for odd in [
            json!(true),
            json!({}),
            json!(null),
            json!({"ttl_seconds": "1"}),
        ] {
            assert_eq!(said(odd), None);
        }
        assert_eq!(said(json!({"ttl_seconds": -5})), Some(0));
    }

    #[test]
    fn what_a_service_says_of_integrations_is_read_with_care() {
        let said = |said: Value| {
            let body = json!({"success": true, "data": [], "integrations": said});
            list(&body).integrations
        };
        assert_eq!(said(json!(["mcp", 1, "new"])), ["mcp", "new"]);
        for odd in [json!(null), json!("mcp"), json!({"mcp": true})] {
            assert!(said(odd).is_empty());
        }
    }

    #[test]
    fn an_entry_with_fields_missing_or_of_other_types_is_still_a_model() {
        let list = list(&json!({"success": true, "data": [
            {"category": "image", "subcategory": "a", "name": null, "poster": 7, "endpoint": "none", "new": 1,
             "description": ["x", {"y": [null, 1.5, -1, true]}], "preview": {"category": 7}},
            {"category": "image"},
            {"category": 1, "subcategory": "b"},
            7, "text", null, true, -1.5, [], [{"category": "image", "subcategory": "c"}]
        ], "count": "many", "message": [1]}));
        assert_eq!(list.models.len(), 1);
        assert_eq!(list.unreadable, 9);
        assert_eq!(list.models[0].display_name(), "a");
        assert_eq!(list.models[0].description, "");
    }

    #[test]
    fn a_poster_is_read_where_there_is_one() {
        let list = list(&json!({"data": [
            {"category": "image", "subcategory": "a", "poster": "/posters/a.webp"},
            {"category": "image", "subcategory": "b"}
        ]}));
        let posters: Vec<&str> = list.models.iter().map(|m| m.poster.as_str()).collect();
        assert_eq!(posters, ["/posters/a.webp", ""]);
    }

    /// As with every other reply, whose last word counts.
    #[test]
    fn of_a_field_that_is_there_twice_the_last_counts() {
        let body = r#"{"data": [{"category": "x"}], "data": [
            {"category": "a", "subcategory": "b", "name": "old", "name": "new", "n\u0061me": "newest"}]}"#;
        let list = ModelList::from_body(body.as_bytes()).unwrap();
        assert_eq!((list.models.len(), list.unreadable), (1, 0));
        assert_eq!(list.models[0].name, "newest");
    }

    #[test]
    fn a_reply_without_a_list_is_malformed() {
        let deep = format!("{{\"data\": {}{}}}", "[".repeat(5_000), "]".repeat(5_000));
        let in_a_field = format!(
            r#"{{"data": [{{"category": "a", "subcategory": "b", "new": {}{}}}]}}"#,
            "[".repeat(5_000),
            "]".repeat(5_000)
        );
        for body in [
            "",
            "{}",
            "[]",
            "7",
            "null",
            "\"data\"",
            r#"{"data": {}}"#,
            r#"{"data": []"#,
            r#"{"data": []} and more"#,
            "<html></html>",
            &deep,
            &in_a_field,
        ] {
            let read = ModelList::from_body(body.as_bytes());
            assert!(
                matches!(read, Err(ApiError::Malformed { .. })),
                "{body:.40}: {read:?}"
            );
        }
    }
}
