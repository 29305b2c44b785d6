//! A parameter of a model: its type, its bounds and its choices.

use serde_json::{Map, Number, Value};

use crate::json::{self, Record};
use crate::prose::bounded;
use crate::{Entry, serde_through_value};

/// One parameter of a model (INTERFACE "Parameter definition").
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    pub name: String,
    /// The service's own type name; [`Parameter::kind`] is what it means here.
    pub type_name: String,
    pub description: String,
    /// `Some(Value::Null)` where the schema says `"default": null`: that is a default too.
    pub default: Option<Value>,
    pub allowed_values: Option<Vec<Value>>,
    pub minimum: Option<Number>,
    pub maximum: Option<Number>,
    /// Fields that the interface does not name.
    pub extra: Map<String, Value>,
}

serde_through_value!(Parameter);

/// What a parameter's value is, whatever word the service used for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    /// One of [`Parameter::choices`], each keeping its JSON type.
    Enum,
    /// A list of any number of [`Parameter::choices`].
    Several,
    Integer,
    Number,
    Boolean,
    Array,
    Object,
    /// A type we have no word for: any JSON.
    Unknown,
}

/// What a text parameter's URL points at, judged by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Media {
    Image,
    Video,
    Audio,
}

impl Parameter {
    pub fn from_value(value: Value) -> Option<Self> {
        let mut record = Record::read(value)?;
        let mut text = |name| match record.take(name) {
            None => Some(String::new()),
            Some(value) => json::text(value),
        };
        let (type_name, description) = (text("type")?, text("description")?);
        Some(Self {
            name: record.text("name")?,
            type_name,
            description: bounded(description),
            default: record.take("default"),
            allowed_values: record.optional("allowedValues", |value| json::list(value, Some))?,
            minimum: record.take("minimum").and_then(bound),
            maximum: record.take("maximum").and_then(bound),
            extra: record.rest(),
        })
    }

    pub fn to_value(&self) -> Value {
        let mut record = Record::new();
        record.put("name", self.name.as_str().into());
        record.put("type", self.type_name.as_str().into());
        record.put("description", self.description.as_str().into());
        record.put_some("default", self.default.clone());
        record.put_some(
            "allowedValues",
            self.allowed_values.clone().map(Value::Array),
        );
        record.put_some("minimum", self.minimum.clone().map(Value::Number));
        record.put_some("maximum", self.maximum.clone().map(Value::Number));
        record.put_all(&self.extra);
        record.into_value()
    }

    /// What a control shows, and what is checked, while nothing was entered.
    pub fn default_entry(&self) -> Option<Entry> {
        self.default.clone().map(Entry::Value)
    }

    /// The permitted values, of which one is chosen, or several: `allowedValues`, for a list also the `enum` of its
    /// `items`, as JSON Schema has it. Empty where any value is permitted.
    pub fn choices(&self) -> &[Value] {
        if let Some(allowed) = self.allowed_values.as_deref().filter(|it| !it.is_empty()) {
            return allowed;
        }
        let items = self.extra.get("items").filter(|_| self.is_list());
        let items = items.and_then(|items| items.get("enum")?.as_array());
        items.map(Vec::as_slice).unwrap_or_default()
    }

    fn is_list(&self) -> bool {
        let word = self.type_name.as_str();
        word.eq_ignore_ascii_case("array") || word.eq_ignore_ascii_case("list")
    }

    /// Permitted values win over the type's word, except for a list: of these it has several. Where they are lists
    /// themselves, one of them is chosen.
    pub fn kind(&self) -> Kind {
        let choices = self.choices();
        if !choices.is_empty() {
            let are_items = self.is_list() && !choices.iter().all(Value::is_array);
            return if are_items { Kind::Several } else { Kind::Enum };
        }
        match self.type_name.to_ascii_lowercase().as_str() {
            "string" | "text" | "str" | "url" | "uri" => Kind::Text,
            // An enumeration that lists nothing permits any text.
            "enum" => Kind::Text,
            "integer" | "int" | "long" | "int64" | "uint64" => Kind::Integer,
            "number" | "float" | "double" | "decimal" => Kind::Number,
            "boolean" | "bool" => Kind::Boolean,
            "array" | "list" => Kind::Array,
            "object" | "dict" | "map" => Kind::Object,
            _ => Kind::Unknown,
        }
    }

    /// The most characters that a text may have: JSON Schema's `maxLength`, which INTERFACE does not
    /// name.
    pub fn max_length(&self) -> Option<u64> {
        let bounds = self.kind() == Kind::Text;
        bounds
            .then(|| self.extra.get("maxLength")?.as_u64())
            .flatten()
    }

    fn words(&self) -> Vec<String> {
        words(&self.name)
    }

    /// A text that people write several lines of.
    pub fn is_long_text(&self) -> bool {
        self.kind() == Kind::Text
            && self.words().iter().any(|word| {
                matches!(
                    word.as_str(),
                    "prompt" | "text" | "lyrics" | "script" | "caption" | "story" | "message"
                )
            })
    }

    /// An integer that seeds randomness, so that a dice button makes sense.
    pub fn is_seed(&self) -> bool {
        self.kind() == Kind::Integer && self.words().iter().any(|word| word == "seed")
    }

    /// A text that holds the address of an image, a video or a sound.
    pub fn media(&self) -> Option<Media> {
        if self.kind() != Kind::Text || self.is_long_text() {
            return None;
        }
        self.words().iter().find_map(|word| match word.as_str() {
            "image" | "images" | "img" | "picture" | "photo" | "mask" => Some(Media::Image),
            "video" => Some(Media::Video),
            "audio" | "sound" | "voice" | "song" => Some(Media::Audio),
            _ => None,
        })
    }

    /// Whether its value is a secret, such as a key at another provider: not to be kept, and not to be written into a
    /// file or link. INTERFACE names no mark for it; OpenAPI's is the format `password`, cog's is `x-cog-secret`.
    pub fn is_secret(&self) -> bool {
        self.extra.get("format").and_then(Value::as_str) == Some("password")
            || self.extra.get("x-cog-secret").and_then(Value::as_bool) == Some(true)
    }

    /// A text that certainly holds the address of a file: its format is `uri`, or its name ends with the word for a
    /// medium (`style_image`; not `image_style`, and not `voice`, which may be the name of one).
    pub fn takes_file(&self) -> bool {
        let is_uri = self.extra.get("format").and_then(Value::as_str) == Some("uri");
        let last = self.name.rsplit('_').next().unwrap_or_default();
        let media = ["image", "mask", "picture", "photo", "video", "audio"];
        let is_medium = media.iter().any(|word| last.eq_ignore_ascii_case(word));
        self.kind() == Kind::Text && (is_uri || is_medium)
    }
}

/// Whether a parameter's name sounds like that of a secret, though the schema may not say so: a person is asked before
/// its value is shared.
pub fn sounds_secret(name: &str) -> bool {
    let words = words(name);
    let is_secret =
        |word: &String| matches!(word.as_str(), "token" | "password" | "secret" | "apikey");
    words.iter().any(is_secret) || words.windows(2).any(|pair| pair == ["api", "key"])
}

/// The words of a name, lower case: `imageUrl` and `image_url` both give `image`, `url`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && after_lower) {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(c.to_ascii_lowercase());
        }
        after_lower = c.is_lowercase() || c.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A bound that is no number bounds nothing.
fn bound(value: Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(number),
        Value::String(text) => crate::parse_number(&text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parameter(value: Value) -> Parameter {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn falsy_defaults_survive() {
        for default in [json!(false), json!(0), json!(""), json!(null)] {
            let p = parameter(json!({"name": "a", "type": "string", "default": default}));
            assert_eq!(p.default, Some(default.clone()));
            assert_eq!(serde_json::to_value(&p).unwrap()["default"], default);
        }
        let none = parameter(json!({"name": "a", "type": "string"}));
        assert_eq!(none.default, None);
    }

    #[test]
    fn bounds_above_2_53_are_exact_and_unknown_fields_are_kept() {
        let p = parameter(json!({
            "name": "seed", "type": "integer", "minimum": 0, "maximum": 18446744073709551615u64,
            "unit": "px"
        }));
        assert_eq!(p.maximum, Some(Number::from(u64::MAX)));
        assert_eq!(p.extra["unit"], "px");
        assert!(p.is_seed());
    }

    #[test]
    fn words_of_a_name() {
        let kind_of = |name: &str| parameter(json!({"name": name, "type": "string"}));
        assert_eq!(kind_of("imageUrl").media(), Some(Media::Image));
        assert_eq!(kind_of("start_image").media(), Some(Media::Image));
        assert!(kind_of("negative_prompt").is_long_text());
        assert_eq!(kind_of("imagination").media(), None);
        assert_eq!(kind_of("").media(), None);
    }

    #[test]
    fn secrets_are_marked_as_such() {
        let is_secret = |value: Value| parameter(value).is_secret();
        assert!(is_secret(
            json!({"name": "key", "type": "string", "format": "password"})
        ));
        assert!(is_secret(
            json!({"name": "key", "type": "string", "x-cog-secret": true})
        ));
        assert!(!is_secret(
            json!({"name": "api_key", "type": "string", "x-cog-secret": false})
        ));
    }

    /// Guards against a token in a shared link because the schema does not call it a secret.
    #[test]
    fn names_that_sound_like_secrets() {
        for name in [
            "huggingface_token",
            "apiKey",
            "API-KEY",
            "db_password",
            "secret",
        ] {
            assert!(sounds_secret(name), "{name}");
        }
        for name in ["max_tokens", "key", "tokenizer", "prompt", "secretary", ""] {
            assert!(!sounds_secret(name), "{name}");
        }
    }

    #[test]
    fn kinds_of_types_seen_and_not_seen() {
        let kind = |type_name: &str| parameter(json!({"name": "a", "type": type_name})).kind();
        assert_eq!(kind("FLOAT"), Kind::Number);
        assert_eq!(kind("tensor"), Kind::Unknown);
        let choice = parameter(json!({"name": "a", "type": "integer", "allowedValues": [1, "1"]}));
        assert_eq!(choice.kind(), Kind::Enum);
    }

    /// Guards against a list of permitted values that is sent as one of them.
    #[test]
    fn a_list_of_permitted_values_is_a_choice_of_several() {
        for several in [
            json!({"name": "a", "type": "array", "allowedValues": ["bird", "car"]}),
            json!({"name": "a", "type": "List", "items": {"type": "string", "enum": ["bird", "car"]}}),
        ] {
            let several = parameter(several);
            assert_eq!(several.kind(), Kind::Several);
            assert_eq!(several.choices(), [json!("bird"), json!("car")]);
        }
        let lists =
            parameter(json!({"name": "a", "type": "array", "allowedValues": [[1], [1, 2]]}));
        assert_eq!(lists.kind(), Kind::Enum);
        let free = parameter(json!({"name": "a", "type": "array", "items": {"type": "string"}}));
        assert_eq!(free.kind(), Kind::Array);
        let text = parameter(json!({"name": "a", "type": "string", "items": {"enum": ["a"]}}));
        assert_eq!(text.kind(), Kind::Text);
    }
}
