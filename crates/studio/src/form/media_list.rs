//! A list of files as the value of a parameter: addresses, and files whose uploads will add theirs.

mod items;

use atelier_contract::output::OutputAddress;
use atelier_contract::{Entry, Parameter, json};
use serde_json::Value;

use crate::text::excerpt::excerpt;
use crate::text::plural::{agreeing, counted};

pub use items::{EarlierUpload, ListItem, MediaList};

/// The message of a list that takes no more items.
pub const FULL: &str = "The list is full. Remove an item to add another.";

/// What is added to a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    File,
    Address,
    Output,
}

impl Added {
    /// Formats a count: `1 address`, `2 addresses`.
    fn counted(self, count: usize) -> String {
        match self {
            Self::File => counted(count, "file"),
            Self::Address if count == 1 => "1 address".to_owned(),
            Self::Address => format!("{count} addresses"),
            Self::Output => counted(count, "output"),
        }
    }
}

/// The maximum number of characters of a name.
const MAX_NAME: usize = 60;

/// Returns the addresses in an entry; `None` if it is something else than a list of texts.
pub fn addresses(shown: Option<&Entry>) -> Option<Vec<String>> {
    let value = match shown {
        None | Some(Entry::Value(Value::Null)) => return Some(Vec::new()),
        Some(Entry::Text(text)) if text.trim().is_empty() => return Some(Vec::new()),
        Some(Entry::Text(text)) => json::parse(text.trim().as_bytes()).ok()?,
        Some(Entry::Value(value)) => value.clone(),
    };
    let Value::Array(items) = value else {
        return None;
    };
    let text = |item: Value| match item {
        Value::String(text) => Some(text),
        _ => None,
    };
    items.into_iter().map(text).collect()
}

/// Returns the entry for these addresses. `None` resets the parameter, because the list is empty and has no other default.
pub fn entry(parameter: &Parameter, addresses: Vec<String>) -> Option<Entry> {
    let default = addresses_by_default(parameter);
    let is_reset = addresses.is_empty() && default.is_none_or(|default| default.is_empty());
    (!is_reset).then(|| Entry::Value(addresses.into()))
}

fn addresses_by_default(parameter: &Parameter) -> Option<Vec<String>> {
    addresses(parameter.default_entry().as_ref())
}

/// Returns how many items can be added to a list of this length; `usize::MAX` without a bound.
pub fn space(parameter: &Parameter, count: usize) -> usize {
    let (_, max) = parameter.item_bounds();
    max.map_or(usize::MAX, |max| {
        usize::try_from(max)
            .unwrap_or(usize::MAX)
            .saturating_sub(count)
    })
}

/// Returns the message if not all of `count` things fit into a list; empty if they do.
pub fn overflow_message(parameter: &Parameter, count: usize, space: usize, added: Added) -> String {
    let (Some(max), true) = (parameter.item_bounds().1, count > space) else {
        return String::new();
    };
    let most = counted(usize::try_from(max).unwrap_or(usize::MAX), "item");
    match space {
        0 => format!("The list takes at most {most}. Remove one to add another."),
        _ => {
            let are = agreeing(space, "is", "are");
            format!(
                "The list takes at most {most}: only the first {space} of {} {are} added.",
                added.counted(count)
            )
        }
    }
}

/// Splits a typed text into addresses, which are separated by spaces or lines.
///
/// # Errors
///
/// A sentence for the user: the text is empty, or a part of it is not an address.
pub fn typed_addresses(text: &str) -> Result<Vec<String>, String> {
    let parts: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    if parts.is_empty() {
        return Err("Enter an address first, such as https://example.com/file.png.".to_owned());
    }
    // The browser's own addresses of files mean nothing to a service.
    let is_other = |part: &&String| {
        let kind = OutputAddress::of(part);
        matches!(kind, OutputAddress::Text | OutputAddress::Blob)
    };
    match parts.iter().find(is_other) {
        Some(part) => Err(format!(
            "“{}” is not an address. Enter one such as https://example.com/file.png.",
            excerpt(part, MAX_NAME)
        )),
        None => Ok(parts),
    }
}

/// Returns a name for the file at an address: the end of its path.
pub fn name(address: &str) -> String {
    if address.starts_with("data:") {
        return "File in the request".to_owned();
    }
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    let last = path.split('/').rfind(|part| !part.is_empty());
    excerpt(last.unwrap_or(address), MAX_NAME)
}

/// Returns the name that is shown for a file, which may have none.
pub fn shown_name(name: &str) -> &str {
    match name.trim() {
        "" => "Unnamed file",
        name => name,
    }
}

/// Returns the message after an item was moved.
pub fn moved_message(name: &str, place: usize, count: usize) -> String {
    format!("{name} is now {} of {count}.", place + 1)
}

/// Returns the index that a dragged item gets if it is dropped at `y`. `middles`: the middles of all items from top to
/// bottom. `from`: the index of the dragged item.
pub fn drop_place(middles: &[f64], from: usize, y: f64) -> usize {
    let others = middles.iter().enumerate().filter(|(at, _)| *at != from);
    others.filter(|(_, middle)| **middle < y).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|it| (*it).to_owned()).collect()
    }

    fn parameter(rules: Value) -> Parameter {
        let mut value = json!({
            "name": "images", "type": "array", "items": {"type": "string", "format": "uri"}
        });
        let fields = value.as_object_mut().unwrap();
        fields.extend(rules.as_object().unwrap().clone());
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn reads_every_form_of_a_list_and_nothing_else() {
        let of = |entry: Entry| addresses(Some(&entry));
        assert_eq!(addresses(None), Some(Vec::new()));
        assert_eq!(
            of(Entry::Value(json!(["a", "b"]))),
            Some(texts(&["a", "b"]))
        );
        assert_eq!(of(Entry::Text(r#" ["a"] "#.into())), Some(texts(&["a"])));
        assert_eq!(of(Entry::Text(" ".into())), Some(Vec::new()));
        for other in [
            Entry::Text("[".into()),
            Entry::Text("https://a".into()),
            Entry::Value(json!(["a", 1])),
            Entry::Value(json!({"a": 1})),
        ] {
            assert_eq!(of(other.clone()), None, "{other:?}");
        }
    }

    #[test]
    fn an_empty_list_is_untouched_unless_it_clears_a_default() {
        let plain = parameter(json!({"default": []}));
        assert_eq!(entry(&plain, Vec::new()), None);
        let list = Entry::Value(json!(["a"]));
        assert_eq!(entry(&plain, texts(&["a"])), Some(list));
        let filled = parameter(json!({"default": ["a"]}));
        assert_eq!(entry(&filled, Vec::new()), Some(Entry::Value(json!([]))));
    }

    #[test]
    fn bounds_limit_what_is_added() {
        let bounded = parameter(json!({"maxItems": 3}));
        assert_eq!(space(&bounded, 1), 2);
        assert_eq!(space(&bounded, 9), 0);
        assert_eq!(space(&parameter(json!({})), 9), usize::MAX);
        let message = |count, space| overflow_message(&bounded, count, space, Added::File);
        assert_eq!(message(2, 2), "");
        assert_eq!(
            message(5, 1),
            "The list takes at most 3 items: only the first 1 of 5 files is added."
        );
        assert_eq!(
            message(1, 0),
            "The list takes at most 3 items. Remove one to add another."
        );
    }

    /// Guards against "addresss".
    #[test]
    fn what_is_added_is_counted_with_its_own_plural() {
        let bounded = parameter(json!({"maxItems": 3}));
        let message = |added| overflow_message(&bounded, 4, 3, added);
        for (added, words) in [
            (Added::File, "4 files"),
            (Added::Address, "4 addresses"),
            (Added::Output, "4 outputs"),
        ] {
            assert_eq!(
                message(added),
                format!("The list takes at most 3 items: only the first 3 of {words} are added.")
            );
        }
        assert_eq!(Added::Address.counted(1), "1 address");
    }

    #[test]
    fn only_addresses_are_added() {
        assert_eq!(
            typed_addresses(" https://a/1.png\nhttps://a/2.png "),
            Ok(texts(&["https://a/1.png", "https://a/2.png"]))
        );
        assert!(
            typed_addresses(" ")
                .unwrap_err()
                .starts_with("Enter an address")
        );
        let other = typed_addresses("https://a/1.png cat").unwrap_err();
        assert!(other.starts_with("“cat” is not an address"), "{other}");
    }

    #[test]
    fn names_are_the_end_of_the_path() {
        assert_eq!(name("https://a.example/x/cat.png?size=1#2"), "cat.png");
        assert_eq!(name("https://a.example/"), "a.example");
        assert_eq!(name("data:image/png;base64,AA"), "File in the request");
    }

    /// Guards against an item that shows nothing, and whose button is named "Remove".
    #[test]
    fn a_file_without_a_name_has_a_shown_name() {
        for (name, shown) in [
            ("cat.png", "cat.png"),
            ("", "Unnamed file"),
            (" ", "Unnamed file"),
        ] {
            assert_eq!(shown_name(name), shown);
        }
    }

    #[test]
    fn a_dragged_item_is_dropped_between_the_others() {
        let middles = [10.0, 30.0, 50.0];
        for (from, y, place) in [
            (0, 5.0, 0),
            (0, 35.0, 1),
            (0, 90.0, 2),
            (2, 5.0, 0),
            (2, 45.0, 2),
        ] {
            assert_eq!(drop_place(&middles, from, y), place, "{from} at {y}");
        }
    }
}
