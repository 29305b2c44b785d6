//! The model list, and the service's extensions that it announces.

use crate::lenient::{self, Target};
use crate::prose::bounded;
use crate::{ApiError, Guest, Model, ModelId, UploadLimits, path};

/// The maximum length of a category or subcategory, in bytes. Each is a path segment of the schema's URL.
const MAX_SEGMENT: usize = 2_000;

/// The response to `GET /api/models`. Entries without an identity are counted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelList {
    pub models: Vec<Model>,
    /// The number of invalid entries.
    pub unreadable: usize,
    /// The guest credentials, if the service offers them.
    pub guest: Option<Guest>,
    /// The time for which the service remembers an idempotency key, in milliseconds, if it supports keys.
    pub idempotent_for_ms: Option<u64>,
    /// The service's integrations with other tools, an extension of INTERFACE; see [`Integration`].
    pub integrations: Vec<String>,
    /// Whether the service supports [`AccountStatus`](crate::AccountStatus).
    pub has_accounts: bool,
    /// The limits of uploads, an extension of INTERFACE; `None` if the service accepts none.
    pub uploads: Option<UploadLimits>,
    /// Whether the service can cancel tasks, an extension of INTERFACE; see [`Cancellation`](crate::Cancellation).
    pub can_cancel: bool,
    /// Whether the service has a stream of the changes of tasks, an extension of INTERFACE; see
    /// [`ServerEvent`](crate::ServerEvent).
    pub has_events: bool,
}

/// The known values of `integrations` in the model list, an extension of INTERFACE.
pub struct Integration;

impl Integration {
    pub const COMFYUI_NODES: &str = "comfyui-nodes";
    pub const OPENAI_FUNCTIONS: &str = "openai-functions";
    pub const MCP: &str = "mcp";
}

impl ModelList {
    /// Parses the body of the response.
    ///
    /// # Errors
    ///
    /// [`ApiError::Malformed`] if it is not JSON, or has no list of models.
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
            uploads: reply.uploads.limits(),
            can_cancel: reply.cancel == Some(true),
            has_events: reply.events.as_deref() == Some(path::EVENTS),
        })
    }
}

#[derive(Default)]
struct Reply {
    data: Data,
    guest: Credentials,
    ttl: Ttl,
    integrations: Texts,
    account: Option<String>,
    uploads: Uploads,
    cancel: Option<bool>,
    events: Option<String>,
}

impl Target for Reply {
    fn field(&mut self, name: &str) -> Option<&mut dyn Target> {
        match name {
            "data" => reset_target(&mut self.data),
            "guest" => reset_target(&mut self.guest),
            "idempotency_key" => reset_target(&mut self.ttl),
            "integrations" => reset_target(&mut self.integrations),
            "account" => reset_target(&mut self.account),
            "uploads" => reset_target(&mut self.uploads),
            "cancel" => reset_target(&mut self.cancel),
            "events" => reset_target(&mut self.events),
            _ => None,
        }
    }
}

/// Resets a target and returns it.
fn reset_target<T: Target + Default>(target: &mut T) -> Option<&mut dyn Target> {
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
            "uid" => reset_target(&mut self.uid),
            "token" => reset_target(&mut self.token),
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
            "ttl_seconds" => reset_target(&mut self.seconds),
            _ => None,
        }
    }
}

/// The field `uploads`, while it is read.
#[derive(Default)]
struct Uploads {
    max_bytes: Option<f64>,
    types: Texts,
    ttl_seconds: Option<f64>,
}

impl Uploads {
    /// Returns the limits; `None` without a maximum size of at least a byte.
    fn limits(self) -> Option<UploadLimits> {
        let max_bytes = self.max_bytes.filter(|bytes| *bytes >= 1.0)?;
        Some(UploadLimits {
            max_bytes: max_bytes as u64,
            types: self.types.0.into_iter().flatten().map(bounded).collect(),
            ttl_seconds: self.ttl_seconds.map(|seconds| seconds as u64),
        })
    }
}

impl Target for Uploads {
    fn field(&mut self, name: &str) -> Option<&mut dyn Target> {
        match name {
            "max_bytes" => reset_target(&mut self.max_bytes),
            "types" => reset_target(&mut self.types),
            "ttl_seconds" => reset_target(&mut self.ttl_seconds),
            _ => None,
        }
    }
}

#[derive(Default)]
struct Texts(Vec<Option<String>>);

impl Target for Texts {
    fn entry(&mut self) -> Option<&mut dyn Target> {
        self.0.push(None);
        self.0.last_mut().map(|word| word as &mut dyn Target)
    }
}

#[derive(Default)]
struct Data {
    is_list: bool,
    models: Vec<Model>,
    /// The number of entries so far. The last one is still being read.
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

/// A model entry that is being read.
#[derive(Default)]
struct Entry {
    name: Option<String>,
    category: Option<String>,
    subcategory: Option<String>,
    description: Option<String>,
    documentation: Option<String>,
    preview: Option<String>,
    poster: Option<String>,
    unavailable_reason: Option<String>,
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
            "away" => &mut self.unavailable_reason,
            _ => return None,
        };
        reset_target(text)
    }
}

impl Entry {
    fn into_model(self) -> Option<Model> {
        // Longer names don't fit into a URL, so the model would have neither a schema nor a page.
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
            unavailable_reason: bounded(self.unavailable_reason.unwrap_or_default()),
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

    /// A model with a category of 10 MB must not prevent showing the list.
    #[test]
    fn an_oversized_category_counts_as_unreadable() {
        let entry = |category: &str| json!({"category": category, "subcategory": "a"});
        let long = "é".repeat(5_000_000);
        let body = json!({"success": true, "data": [entry("image"), entry(&long)]});
        let read = list(&body);
        assert_eq!((read.models.len(), read.unreadable), (1, 1));
    }

    #[test]
    fn reads_key_support_tolerantly() {
        let read_reply = |read_reply: Value| {
            let body = json!({"success": true, "data": [], "idempotency_key": read_reply});
            list(&body).idempotent_for_ms
        };
        assert_eq!(read_reply(json!({"ttl_seconds": 86400})), Some(86_400_000));
        assert_eq!(
            read_reply(json!({"ttl_seconds": 1.5, "more": 1})),
            Some(1_500)
        );
        // Only the duration counts; without it, key support is unknown.
        for odd in [
            json!(true),
            json!({}),
            json!(null),
            json!({"ttl_seconds": "1"}),
        ] {
            assert_eq!(read_reply(odd), None);
        }
        assert_eq!(read_reply(json!({"ttl_seconds": -5})), Some(0));
    }

    #[test]
    fn reads_integrations_tolerantly() {
        let read_reply = |read_reply: Value| {
            let body = json!({"success": true, "data": [], "integrations": read_reply});
            list(&body).integrations
        };
        assert_eq!(read_reply(json!(["mcp", 1, "new"])), ["mcp", "new"]);
        for odd in [json!(null), json!("mcp"), json!({"mcp": true})] {
            assert!(read_reply(odd).is_empty());
        }
    }

    #[test]
    fn reads_upload_limits_tolerantly() {
        let read = |uploads: Value| {
            let body = json!({"success": true, "data": [], "uploads": uploads});
            list(&body).uploads
        };
        let whole = read(
            json!({"max_bytes": 50_000_000, "types": ["image/png", 1, "audio/ogg"], "ttl_seconds": 60}),
        );
        let limits = UploadLimits {
            max_bytes: 50_000_000,
            types: vec!["image/png".into(), "audio/ogg".into()],
            ttl_seconds: Some(60),
        };
        assert_eq!(whole, Some(limits));
        let bare = read(json!({"max_bytes": 1, "types": "all", "ttl_seconds": "7 d", "new": [1]}));
        let limits = UploadLimits {
            max_bytes: 1,
            ..UploadLimits::default()
        };
        assert_eq!(bare, Some(limits));
        for odd in [
            json!(null),
            json!(true),
            json!(50_000_000),
            json!("on"),
            json!([]),
            json!({}),
            json!({"max_bytes": null}),
            json!({"max_bytes": "50 MB"}),
            json!({"max_bytes": 0}),
            json!({"max_bytes": -5, "types": ["image/png"]}),
        ] {
            assert_eq!(read(odd.clone()), None, "{odd}");
        }
        assert_eq!(list(&json!({"data": []})).uploads, None);
    }

    #[test]
    fn only_true_announces_that_tasks_can_be_canceled() {
        let read = |cancel: Value| list(&json!({"data": [], "cancel": cancel})).can_cancel;
        assert!(read(json!(true)));
        for odd in [
            json!(false),
            json!(null),
            json!(1),
            json!("true"),
            json!([true]),
            json!({"cancel": true}),
        ] {
            assert!(!read(odd.clone()), "{odd}");
        }
        assert!(!list(&json!({"data": []})).can_cancel);
    }

    /// The page sends the token to this path.
    #[test]
    fn only_the_known_path_announces_events() {
        let read = |events: Value| list(&json!({"data": [], "events": events})).has_events;
        assert!(read(json!("/v2/events")));
        for odd in [
            json!(true),
            json!("/events"),
            json!("https://other.example/v2/events"),
            json!(["/v2/events"]),
        ] {
            assert!(!read(odd.clone()), "{odd}");
        }
        assert!(!list(&json!({"data": []})).has_events);
    }

    #[test]
    fn accepts_models_with_missing_or_odd_fields() {
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
    fn reads_posters() {
        let list = list(&json!({"data": [
            {"category": "image", "subcategory": "a", "poster": "/posters/a.webp"},
            {"category": "image", "subcategory": "b"}
        ]}));
        let posters: Vec<&str> = list.models.iter().map(|m| m.poster.as_str()).collect();
        assert_eq!(posters, ["/posters/a.webp", ""]);
    }

    /// This is consistent with all other responses.
    #[test]
    fn the_last_of_duplicate_fields_counts() {
        let body = r#"{"data": [{"category": "x"}], "data": [
            {"category": "a", "subcategory": "b", "name": "old", "name": "new", "n\u0061me": "newest"}]}"#;
        let list = ModelList::from_body(body.as_bytes()).unwrap();
        assert_eq!((list.models.len(), list.unreadable), (1, 0));
        assert_eq!(list.models[0].name, "newest");
    }

    #[test]
    fn a_response_without_a_list_is_malformed() {
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
