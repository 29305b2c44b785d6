//! References to outputs that a service gave as data in their address (`data:image/png;base64,…`).
//!
//! Their bytes are stored once, as a file named after their content, and the task's record has a reference in their place. It
//! is a `data:` address without data (`data:image/png;stored=…,`), so that whatever knows nothing of references takes it for an
//! empty file of the same type.

use std::hash::Hasher as _;

use atelier_contract::{STORED_MARK, stored_name};
use serde_json::Value;
use siphasher::sip128::{Hasher128 as _, SipHasher13};

use atelier_contract::output::OutputAddress;

/// The folder of all such files among the stored outputs.
pub const FOLDER: &str = "stored/";

/// Shorter addresses stay in the record, in bytes.
const MIN_LENGTH: usize = 4_000;

/// The reference to what this address carries; none where it is short, or carries no picture, film or sound.
///
/// Records hold references: what is hashed, and how, never changes.
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

/// The key of the file that a reference stands for, in [`FOLDER`]; none where the address is no reference.
pub fn key(url: &str) -> Option<String> {
    let name = stored_name(url)?;
    Some([FOLDER, name].concat())
}

/// About how many bytes the file of a reference has: the address had them in base 64.
pub fn file_size(reference: &str) -> u64 {
    let length = stored_name(reference).and_then(|name| name.rsplit_once('-')?.1.parse().ok());
    length.unwrap_or(0_u64) / 4 * 3
}

pub fn is_reference(url: &str) -> bool {
    stored_name(url).is_some()
}

/// Data, and the reference to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data {
    pub reference: String,
    pub url: String,
}

impl Data {
    /// What this address carries, where that is worth storing.
    pub fn of(url: &str) -> Option<Self> {
        let reference = reference(url)?;
        let url = url.to_owned();
        Some(Self { reference, url })
    }
}

/// Puts references in the place of all data in an answer, whatever its shape, and gives the data.
pub fn take(answer: &mut Value) -> Vec<Data> {
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

/// Puts back what [`take`] has taken.
pub fn put_back(answer: &mut Value, taken: &[Data]) {
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

    /// Guards against megabytes of text in a task's record.
    #[test]
    fn data_becomes_a_short_reference_of_the_same_kind() {
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
    fn all_else_stays_as_it_is() {
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
    fn an_answer_of_any_shape_is_whole_again_once_all_is_put_back() {
        let (first, second) = (data("image/png", "A"), data("audio/wav", "B"));
        let answer = json!({"data": [
            {"output": [first, "https://example.com/a.png", first]},
            {"output": {"audio": {"url": second}}, "error": null, "n": 1},
        ]});
        let mut short = answer.clone();
        let taken = take(&mut short);
        assert_eq!(taken.len(), 2);
        assert!(short.to_string().len() < 500, "{short}");
        put_back(&mut short, &taken);
        assert_eq!(short, answer);
    }
}
