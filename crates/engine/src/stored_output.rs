//! References to outputs that a service has returned as data URLs (`data:image/png;base64,…`).
//!
//! The data is stored once, in a file named after its content, and the task's record contains a reference instead. A
//! reference is a `data:` URL without data (`data:image/png;stored=…,`), so that code that doesn't know references
//! treats it as an empty file of the same type.

use std::hash::Hasher as _;

use atelier_contract::{STORED_MARK, stored_name};
use serde_json::Value;
use siphasher::sip128::{Hasher128 as _, SipHasher13};

use atelier_contract::output::OutputAddress;

/// The folder of these files among the stored outputs.
pub const FOLDER: &str = "stored/";

/// The minimum length in bytes of a data URL that is replaced by a reference. Shorter ones stay in the record.
const MIN_LENGTH: usize = 4_000;

/// Returns the reference for a data URL; `None` if it is short or is not an image, video or audio file.
///
/// Stored records contain references, so the hashed bytes and the hash function must never change.
pub fn reference(url: &str) -> Option<String> {
    let OutputAddress::Data(mime) = OutputAddress::of(url.get(..100)?) else {
        return None;
    };
    let is_shown = ["image/", "video/", "audio/"]
        .iter()
        .any(|kind| mime.starts_with(kind));
    if !is_shown || url.len() < MIN_LENGTH || url.bytes().any(|byte| byte.is_ascii_control()) {
        return None;
    }
    let mut hasher = SipHasher13::new();
    hasher.write(url.as_bytes());
    let hash = hasher.finish128().as_u128();
    Some(format!(
        "data:{mime}{STORED_MARK}{hash:032x}-{},",
        url.len()
    ))
}

/// Returns the key of a reference's file, in [`FOLDER`]; `None` if the URL is not a reference.
pub fn key(url: &str) -> Option<String> {
    let name = stored_name(url)?;
    Some([FOLDER, name].concat())
}

/// Returns the approximate size of a reference's file in bytes. The length in the reference is that of the base64 text.
pub fn file_size(reference: &str) -> u64 {
    let length = stored_name(reference).and_then(|name| name.rsplit_once('-')?.1.parse().ok());
    length.unwrap_or(0_u64) / 4 * 3
}

/// Whether the URL is a reference.
pub fn is_reference(url: &str) -> bool {
    stored_name(url).is_some()
}

/// A data URL and its reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data {
    pub reference: String,
    pub url: String,
}

impl Data {
    /// Returns the data of a URL that is replaced by a reference; `None` for other URLs.
    pub fn of(url: &str) -> Option<Self> {
        let reference = reference(url)?;
        let url = url.to_owned();
        Some(Self { reference, url })
    }
}

/// Replaces all data URLs in a response of any shape by references, and returns the data.
pub fn extract(answer: &mut Value) -> Vec<Data> {
    let mut taken: Vec<Data> = Vec::new();
    each_text(answer, &mut |text| {
        if let Some(reference) = reference(text) {
            let url = std::mem::replace(text, reference.clone());
            if taken.iter().all(|known| known.reference != reference) {
                taken.push(Data { reference, url });
            }
        }
    });
    taken
}

/// Reverses [`extract`].
pub fn restore(answer: &mut Value, taken: &[Data]) {
    if !taken.is_empty() {
        each_text(answer, &mut |text| {
            if let Some(data) = taken.iter().find(|data| data.reference == *text) {
                text.clone_from(&data.url);
            }
        });
    }
}

fn each_text(value: &mut Value, act: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) => act(text),
        Value::Array(entries) => entries.iter_mut().for_each(|entry| each_text(entry, act)),
        Value::Object(fields) => fields.values_mut().for_each(|field| each_text(field, act)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use atelier_contract::output::{OutputKind, SafeUrl};

    fn data(mime: &str, letter: &str) -> String {
        format!("data:{mime};base64,{}", letter.repeat(5_000))
    }

    /// A task's record must not contain megabytes of text.
    #[test]
    fn data_becomes_a_reference_of_the_same_type() {
        let picture = data("image/PNG", "A");
        let reference = reference(&picture).unwrap();
        assert_eq!(
            reference,
            "data:image/png;stored=d12da2a8ca995c56dee18acc5d166ce6-5022,"
        );
        assert_eq!(OutputKind::of(&reference, ""), OutputKind::Image);
        assert!(SafeUrl::media(&reference, "").is_some_and(|safe| !safe.is_link()));
        assert_eq!(
            key(&reference).unwrap(),
            "stored/d12da2a8ca995c56dee18acc5d166ce6-5022"
        );
        assert_eq!(file_size(&reference), 3_765);
        assert_eq!(file_size("data:image/png;base64,AA-4"), 0);
        assert_eq!(super::reference(&reference), None);
        assert_ne!(super::reference(&data("image/png", "B")), Some(reference));
    }

    #[test]
    fn other_urls_have_no_reference() {
        for url in [
            "",
            "data:image/png;base64,AAAA",
            &data("text/html", "A"),
            &"ä".repeat(5_000),
            &format!("https://example.com/{}", "a".repeat(5_000)),
        ] {
            assert_eq!(reference(url), None, "{url:.60}");
            assert_eq!(key(url), None, "{url:.60}");
        }
        assert_eq!(key("data:image/png;stored=../0,"), None);
        assert_eq!(key("https://example.com/;stored=00,"), None);
    }

    #[test]
    fn put_back_restores_responses_of_any_shape() {
        let (first, second) = (data("image/png", "A"), data("audio/wav", "B"));
        let answer = json!({"data": [
            {"output": [first, "https://example.com/a.png", first]},
            {"output": {"audio": {"url": second}}, "error": null, "n": 1},
        ]});
        let mut short = answer.clone();
        let taken = extract(&mut short);
        assert_eq!(taken.len(), 2);
        assert!(short.to_string().len() < 500, "{short}");
        restore(&mut short, &taken);
        assert_eq!(short, answer);
    }
}
