//! A parameter of a model: its type, bounds and choices.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use crate::json::{self, Record};
use crate::prose::bounded;
use crate::{Entry, serde_through_value};

/// One parameter of a model (INTERFACE "Parameter definition").
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    pub name: String,
    /// The service's own type name; [`Parameter::kind`] interprets it.
    pub type_name: String,
    pub description: String,
    /// The default. `Some(Value::Null)` if the schema has `"default": null`, which is different from no default.
    pub default: Option<Value>,
    pub allowed_values: Option<Vec<Value>>,
    pub minimum: Option<Number>,
    pub maximum: Option<Number>,
    /// Fields that the interface doesn't define.
    pub extra: Map<String, Value>,
}

serde_through_value!(Parameter);

/// The kind of a parameter's value, independent of the service's type name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    /// One of [`Parameter::choices`], with its JSON type.
    Enum,
    /// A list of any number of [`Parameter::choices`].
    MultiChoice,
    Integer,
    Number,
    Boolean,
    Array,
    Object,
    /// An unknown type, which accepts any JSON.
    Unknown,
}

/// The medium that a URL parameter refers to, by its name. Browsers store it, so names must not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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

    /// Returns the entry that applies while the parameter is not touched.
    pub fn default_entry(&self) -> Option<Entry> {
        self.default.clone().map(Entry::Value)
    }

    /// Returns the permitted values: `allowedValues`, or for a list also the `enum` of its `items`, as in JSON Schema.
    /// Empty if all values are permitted.
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

    /// Returns the kind. Permitted values take precedence over the type name. A list accepts several of them, unless
    /// they are lists themselves.
    pub fn kind(&self) -> Kind {
        let choices = self.choices();
        if !choices.is_empty() {
            let are_items = self.is_list() && !choices.iter().all(Value::is_array);
            return if are_items {
                Kind::MultiChoice
            } else {
                Kind::Enum
            };
        }
        match self.type_name.to_ascii_lowercase().as_str() {
            "string" | "text" | "str" | "url" | "uri" => Kind::Text,
            // An enumeration without values permits any text.
            "enum" => Kind::Text,
            "integer" | "int" | "long" | "int64" | "uint64" => Kind::Integer,
            "number" | "float" | "double" | "decimal" => Kind::Number,
            "boolean" | "bool" => Kind::Boolean,
            "array" | "list" => Kind::Array,
            "object" | "dict" | "map" => Kind::Object,
            _ => Kind::Unknown,
        }
    }

    /// Returns the maximum length of a text in characters: JSON Schema's `maxLength`, an extension of INTERFACE.
    pub fn max_length(&self) -> Option<u64> {
        let bounds = self.kind() == Kind::Text;
        bounds
            .then(|| self.extra.get("maxLength")?.as_u64())
            .flatten()
    }

    fn words(&self) -> Vec<String> {
        words(&self.name)
    }

    /// Whether the parameter is a multi-line text.
    pub fn is_long_text(&self) -> bool {
        self.kind() == Kind::Text
            && self.words().iter().any(|word| {
                matches!(
                    word.as_str(),
                    "prompt" | "text" | "lyrics" | "script" | "caption" | "story" | "message"
                )
            })
    }

    /// Whether the parameter is an integer that seeds the random number generator.
    pub fn is_seed(&self) -> bool {
        self.kind() == Kind::Integer && self.words().iter().any(|word| word == "seed")
    }

    /// Returns the medium of a text parameter that contains the URL of an image, video or audio file. The format `mask` is an
    /// extension of INTERFACE.
    pub fn media(&self) -> Option<Media> {
        if self.kind() != Kind::Text || self.is_long_text() {
            return None;
        }
        if self.extra.get("format").and_then(Value::as_str) == Some("mask") {
            return Some(Media::Image);
        }
        self.words().iter().find_map(|word| medium(word))
    }

    /// Returns the medium of a list whose items are the URLs of image, video or audio files. `items` must describe texts:
    /// with the format `uri`, or with a name that ends like one of files (`image_urls` or `frames`, but not `image_tags`).
    pub fn media_list(&self) -> Option<Media> {
        if self.kind() != Kind::Array {
            return None;
        }
        let items = self.extra.get("items")?;
        let rule = |name: &str| items.get(name).and_then(Value::as_str);
        let is_uri = rule("format") == Some("uri");
        let is_text = match rule("type") {
            Some(name) => name.eq_ignore_ascii_case("string"),
            None => is_uri,
        };
        let found = self.named_files().or_else(|| {
            let words = self.words();
            let found = words.iter().find_map(|word| medium_of_several(word));
            found.filter(|_| is_uri)
        });
        found.filter(|_| is_text)
    }

    /// Returns the medium of the files that the name of a list stands for: it ends with a medium in the plural or singular, or
    /// with a word for files (`image_urls`), in each case also as a list (`image_list`).
    pub(crate) fn named_files(&self) -> Option<Media> {
        let words = self.words();
        let words = match words.as_slice() {
            [before @ .., last] if matches!(last.as_str(), "list" | "array") => before,
            words => words,
        };
        let (last, before) = words.split_last()?;
        if matches!(singular(last), "frame" | "keyframe") {
            // The frames of a video are pictures.
            return Some(Media::Image);
        }
        let files = ["url", "uri", "input", "file", "reference"];
        medium_of_several(last).or_else(|| {
            let before = || before.iter().find_map(|word| medium_of_several(word));
            files.contains(&singular(last)).then(before).flatten()
        })
    }

    /// Returns the bounds of a list's length: JSON Schema's `minItems` and `maxItems`, an extension of INTERFACE.
    pub fn item_bounds(&self) -> (Option<u64>, Option<u64>) {
        let bound = |name| self.extra.get(name).filter(|_| self.is_list())?.as_u64();
        (bound("minItems"), bound("maxItems"))
    }

    /// Whether the value is a secret, such as an API key, which must not be stored or written into a file or link.
    /// INTERFACE defines no marker. OpenAPI uses the format `password`, and cog uses `x-cog-secret`.
    pub fn is_secret(&self) -> bool {
        self.extra.get("format").and_then(Value::as_str) == Some("password")
            || self.extra.get("x-cog-secret").and_then(Value::as_bool) == Some(true)
    }

    /// Whether the text is certainly the URL of a file: its format is `uri`, or its name ends with a medium
    /// (`style_image`, but not `image_style` or `voice`).
    pub fn takes_file(&self) -> bool {
        let is_uri = self.extra.get("format").and_then(Value::as_str) == Some("uri");
        let last = self.name.rsplit('_').next().unwrap_or_default();
        let media = ["image", "mask", "picture", "photo", "video", "audio"];
        let is_medium = media.iter().any(|word| last.eq_ignore_ascii_case(word));
        self.kind() == Kind::Text && (is_uri || is_medium)
    }
}

/// Whether a parameter's name suggests a secret that the schema does not mark. The user is asked before its value is
/// shared.
pub fn is_secret_name(name: &str) -> bool {
    let words = words(name);
    let is_secret =
        |word: &String| matches!(word.as_str(), "token" | "password" | "secret" | "apikey");
    words.iter().any(is_secret) || words.windows(2).any(|pair| pair == ["api", "key"])
}

/// Returns the medium that a word of a name stands for.
fn medium(word: &str) -> Option<Media> {
    match word {
        "image" | "images" | "img" | "picture" | "photo" | "mask" => Some(Media::Image),
        "video" => Some(Media::Video),
        "audio" | "sound" | "voice" | "song" => Some(Media::Audio),
        _ => None,
    }
}

/// Like [`medium`], for a word that may be in the plural.
fn medium_of_several(word: &str) -> Option<Media> {
    medium(word).or_else(|| medium(singular(word)))
}

fn singular(word: &str) -> &str {
    word.strip_suffix('s').unwrap_or(word)
}

/// Splits a name into lower-case words: `imageUrl` and `image_url` both yield `image`, `url`.
pub(crate) fn words(name: &str) -> Vec<String> {
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

/// Parses a bound; `None` if it is not a number.
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
    fn preserves_falsy_defaults() {
        for default in [json!(false), json!(0), json!(""), json!(null)] {
            let p = parameter(json!({"name": "a", "type": "string", "default": default}));
            assert_eq!(p.default, Some(default.clone()));
            assert_eq!(serde_json::to_value(&p).unwrap()["default"], default);
        }
        let none = parameter(json!({"name": "a", "type": "string"}));
        assert_eq!(none.default, None);
    }

    #[test]
    fn bounds_are_exact_and_unknown_fields_preserved() {
        let p = parameter(json!({
            "name": "seed", "type": "integer", "minimum": 0, "maximum": 18446744073709551615u64,
            "unit": "px"
        }));
        assert_eq!(p.maximum, Some(Number::from(u64::MAX)));
        assert_eq!(p.extra["unit"], "px");
        assert!(p.is_seed());
    }

    #[test]
    fn splits_names_into_words() {
        let kind_of = |name: &str| parameter(json!({"name": name, "type": "string"}));
        assert_eq!(kind_of("imageUrl").media(), Some(Media::Image));
        assert_eq!(kind_of("start_image").media(), Some(Media::Image));
        assert!(kind_of("negative_prompt").is_long_text());
        assert_eq!(kind_of("imagination").media(), None);
        assert_eq!(kind_of("").media(), None);
    }

    #[test]
    fn lists_of_addresses_have_a_medium() {
        let uri = json!({"type": "string", "format": "uri"});
        let text = json!({"type": "string"});
        let of = |name: &str, items: &Value| {
            parameter(json!({"name": name, "type": "array", "items": items})).media_list()
        };
        for (name, items, media) in [
            ("image_input", &uri, Some(Media::Image)),
            ("images", &uri, Some(Media::Image)),
            ("image_urls", &text, Some(Media::Image)),
            ("referenceVideos", &text, Some(Media::Video)),
            ("voices", &json!({"format": "uri"}), Some(Media::Audio)),
            ("photos", &text, Some(Media::Image)),
            ("image_list", &text, Some(Media::Image)),
            ("imageUrlList", &text, Some(Media::Image)),
            ("reference_images", &text, Some(Media::Image)),
            ("frames", &text, Some(Media::Image)),
            ("video_frames", &text, Some(Media::Image)),
            ("audio_list", &text, Some(Media::Audio)),
            ("image_prompts", &text, None),
            ("image_prompt_list", &text, None),
            ("photo_style", &text, None),
            ("frame_prompts", &text, None),
            ("list", &text, None),
            ("urls", &text, None),
            // Texts about images are no images, and addresses of an unknown medium need no picture.
            ("image_tags", &text, None),
            ("links", &uri, None),
            ("image_size", &json!({"type": "integer"}), None),
            ("images", &json!({"type": "object"}), None),
            ("images", &json!({}), None),
        ] {
            assert_eq!(of(name, items), media, "{name}");
        }
        let single = json!({"name": "image", "type": "string", "items": uri});
        assert_eq!(parameter(single).media_list(), None);
    }

    #[test]
    fn recognizes_secret_markers() {
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

    /// A schema may fail to mark a token as a secret. The user must be warned before sharing the token.
    #[test]
    fn recognizes_names_of_secrets() {
        for name in [
            "huggingface_token",
            "apiKey",
            "API-KEY",
            "db_password",
            "secret",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["max_tokens", "key", "tokenizer", "prompt", "secretary", ""] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn maps_type_names_to_kinds() {
        let kind = |type_name: &str| parameter(json!({"name": "a", "type": type_name})).kind();
        assert_eq!(kind("FLOAT"), Kind::Number);
        assert_eq!(kind("tensor"), Kind::Unknown);
        let choice = parameter(json!({"name": "a", "type": "integer", "allowedValues": [1, "1"]}));
        assert_eq!(choice.kind(), Kind::Enum);
    }

    /// A parameter with several choices must be sent as a list, even with a single value.
    #[test]
    fn a_list_with_permitted_values_is_a_multiple_choice() {
        for several in [
            json!({"name": "a", "type": "array", "allowedValues": ["bird", "car"]}),
            json!({"name": "a", "type": "List", "items": {"type": "string", "enum": ["bird", "car"]}}),
        ] {
            let several = parameter(several);
            assert_eq!(several.kind(), Kind::MultiChoice);
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
