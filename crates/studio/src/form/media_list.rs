//! A list of files as the value of a parameter: addresses, and files whose uploads will add theirs.

use atelier_contract::output::OutputAddress;
use atelier_contract::{Entry, Parameter, json};
use serde_json::Value;

use crate::text::excerpt::excerpt;
use crate::text::plural::{agreeing, counted};

/// The maximum number of characters of a name.
const MAX_NAME: usize = 60;

/// An item of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListItem {
    /// Identifies the item as long as the form lives, wherever it is moved. Uploads refer to it.
    pub id: u32,
    /// The address; `None` until the file is uploaded.
    pub address: Option<String>,
}

/// The items of a field, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MediaList {
    items: Vec<ListItem>,
    last_id: u32,
}

impl MediaList {
    /// Creates a list of these addresses, followed by the items of uploads that were started earlier.
    pub fn new(addresses: &[String], uploads: &[u32]) -> Self {
        let mut list = Self {
            last_id: uploads.iter().copied().max().unwrap_or_default(),
            ..Self::default()
        };
        for address in addresses {
            list.add(Some(address.clone()));
        }
        list.sync_uploads(uploads);
        list
    }

    pub fn items(&self) -> &[ListItem] {
        &self.items
    }

    /// Returns the value: the addresses in order, without files that are not uploaded yet.
    pub fn addresses(&self) -> Vec<String> {
        let addresses = self.items.iter().filter_map(|item| item.address.clone());
        addresses.collect()
    }

    /// Adds an item at the end, and returns its id. `address`: `None` for a file that will be uploaded.
    pub fn add(&mut self, address: Option<String>) -> u32 {
        self.last_id += 1;
        let id = self.last_id;
        self.items.push(ListItem { id, address });
        id
    }

    /// Sets the address of an item; `None` if its file is uploaded anew. Returns whether there is such an item.
    pub fn set(&mut self, id: u32, address: Option<String>) -> bool {
        let item = self.items.iter_mut().find(|item| item.id == id);
        item.map(|item| item.address = address).is_some()
    }

    /// Removes an item. Returns the item that takes its place, or else the last one.
    pub fn remove(&mut self, id: u32) -> Option<u32> {
        let at = self.place(id)?;
        self.items.remove(at);
        let next = self.items.get(at).or(self.items.last());
        next.map(|item| item.id)
    }

    /// Returns the index of an item.
    pub fn place(&self, id: u32) -> Option<usize> {
        self.items.iter().position(|item| item.id == id)
    }

    /// Moves an item to an index, or to the end if that is too large. Returns whether the order has changed.
    pub fn move_to(&mut self, id: u32, to: usize) -> bool {
        let Some(from) = self.place(id) else {
            return false;
        };
        let to = to.min(self.items.len() - 1);
        let item = self.items.remove(from);
        self.items.insert(to, item);
        from != to
    }

    /// Takes a value that was set elsewhere, such as by undo. Items whose address stays keep their ids. Files that are not
    /// uploaded yet belong to the earlier value: they are removed, and their ids returned.
    pub fn follow(&mut self, addresses: &[String]) -> Vec<u32> {
        if self.addresses() == addresses {
            return Vec::new();
        }
        let mut before = std::mem::take(&mut self.items);
        for address in addresses {
            let is_same = |item: &ListItem| item.address.as_ref() == Some(address);
            match before.iter().position(is_same) {
                Some(at) => self.items.push(before.remove(at)),
                None => drop(self.add(Some(address.clone()))),
            }
        }
        let is_file = |item: &&ListItem| item.address.is_none();
        before.iter().filter(is_file).map(|it| it.id).collect()
    }

    /// Removes files that have no upload any more, and adds those of other uploads at the end.
    pub fn sync_uploads(&mut self, uploads: &[u32]) {
        self.items
            .retain(|item| item.address.is_some() || uploads.contains(&item.id));
        for id in uploads {
            if self.place(*id).is_none() {
                self.items.push(ListItem {
                    id: *id,
                    address: None,
                });
            }
        }
    }
}

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

/// Returns the message if not all of `count` things (files, addresses, outputs) fit into a list; empty if they do.
pub fn overflow_message(parameter: &Parameter, count: usize, space: usize, what: &str) -> String {
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
                counted(count, what)
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

    /// The last file of a drop is often the smallest. The order must be that of the drop.
    #[test]
    fn the_order_does_not_depend_on_which_upload_ends_first() {
        let mut list = MediaList::new(&texts(&["a"]), &[]);
        let (b, c) = (list.add(None), list.add(None));
        assert_eq!(list.addresses(), ["a"]);
        assert!(list.set(c, Some("c".into())));
        assert_eq!(list.addresses(), ["a", "c"]);
        assert!(list.set(b, Some("b".into())));
        assert_eq!(list.addresses(), ["a", "b", "c"]);
        assert!(!list.set(99, Some("d".into())));
    }

    #[test]
    fn items_are_moved_within_the_list() {
        let mut list = MediaList::new(&texts(&["a", "b", "c"]), &[]);
        let [a, b, c] = [0, 1, 2].map(|at: usize| list.items()[at].id);
        assert!(list.move_to(c, 0));
        assert_eq!(list.addresses(), ["c", "a", "b"]);
        assert!(!list.move_to(c, 0) && !list.move_to(b, 9) && !list.move_to(99, 0));
        assert!(list.move_to(c, 1));
        assert_eq!(list.addresses(), ["a", "c", "b"]);
        assert_eq!(list.remove(c), Some(b), "the focus goes to the next item");
        assert_eq!(list.remove(b), Some(a));
        assert_eq!(list.remove(a), None);
    }

    /// Guards against an upload that adds its file to a value that the user has loaded meanwhile.
    #[test]
    fn a_value_from_elsewhere_replaces_running_uploads() {
        let mut list = MediaList::new(&texts(&["a", "b", "a"]), &[]);
        let ids: Vec<u32> = list.items().iter().map(|it| it.id).collect();
        let file = list.add(None);
        assert!(list.follow(&texts(&["a", "b", "a"])).is_empty());
        assert_eq!(list.items().len(), 4);
        assert_eq!(list.follow(&texts(&["b", "a", "x", "a"])), [file]);
        let now: Vec<u32> = list.items().iter().map(|it| it.id).collect();
        assert_eq!((now[0], now[1], now[3]), (ids[1], ids[0], ids[2]));
        assert!(!ids.contains(&now[2]));
    }

    #[test]
    fn uploads_that_are_gone_or_new_change_the_list() {
        let mut list = MediaList::new(&texts(&["a"]), &[5, 7]);
        let ids: Vec<u32> = list.items().iter().map(|it| it.id).collect();
        assert_eq!(ids, [8, 5, 7], "ids of earlier uploads are not used again");
        list.sync_uploads(&[7]);
        assert_eq!(list.items().len(), 2);
        list.sync_uploads(&[]);
        assert_eq!(list.addresses(), ["a"]);
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
        let message = |count, space| overflow_message(&bounded, count, space, "file");
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
