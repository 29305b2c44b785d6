//! Files that only the user can give to others: uploads, pictures inside a request, and files stored in this browser. Links
//! leave them out.

use std::collections::HashSet;

use atelier_contract::output::OutputAddress;
use atelier_contract::stored_name;
use serde_json::{Map, Value};

use super::recipe::SharedInputs;

/// The path of the files of a service.
const FILES: &str = "/outputs/";

/// What is known about the files of the user.
#[derive(Debug, Clone, Default)]
pub struct PrivateFiles {
    /// The addresses of services, such as `https://service.example`. An empty one stands for addresses that are paths.
    pub services: Vec<String>,
    /// The addresses of uploaded files.
    pub uploads: HashSet<String>,
    /// The addresses of outputs. An upload and an output can have addresses in the same folder of a service.
    pub outputs: HashSet<String>,
}

impl PrivateFiles {
    /// Whether a text is the address of a private file. A file of a service that is not known to be an output is private.
    pub fn contains(&self, text: &str) -> bool {
        let address = text.trim();
        if stored_name(address).is_some() || self.uploads.contains(address) {
            return true;
        }
        match OutputAddress::of(address) {
            OutputAddress::Data(mime) => ["image/", "video/", "audio/"]
                .iter()
                .any(|kind| mime.starts_with(kind)),
            OutputAddress::Blob => true,
            OutputAddress::Web | OutputAddress::Path => {
                self.is_of_service(address) && !self.outputs.contains(address)
            }
            OutputAddress::Other | OutputAddress::Text => false,
        }
    }

    fn is_of_service(&self, address: &str) -> bool {
        let path_at = |service: &String| address.strip_prefix(service.trim_end_matches('/'));
        let mut paths = self.services.iter().filter_map(path_at);
        paths.any(|path| path.starts_with(FILES))
    }

    /// Returns the inputs without private files.
    pub fn leave_out(&self, values: &Map<String, Value>) -> SharedInputs {
        let mut shared = SharedInputs::default();
        for (name, value) in values {
            let mut value = value.clone();
            let is_changed = self.remove_from(&mut value);
            if is_changed {
                shared.missing_files.push(name.clone());
            }
            if !is_changed || !is_empty(&value) {
                shared.values.insert(name.clone(), value);
            }
        }
        shared
    }

    /// Removes private files at all levels of a value; a removed text becomes null. Returns whether there was one.
    fn remove_from(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => {
                let is_private = self.contains(text);
                if is_private {
                    *value = Value::Null;
                }
                is_private
            }
            Value::Array(items) => {
                let count = items.len();
                let mut is_changed = false;
                items.retain_mut(|item| {
                    let is_item_changed = self.remove_from(item);
                    is_changed |= is_item_changed;
                    !is_item_changed || !is_empty(item)
                });
                is_changed || items.len() != count
            }
            Value::Object(entries) => {
                let mut is_changed = false;
                entries.retain(|_, entry| {
                    let is_entry_changed = self.remove_from(entry);
                    is_changed |= is_entry_changed;
                    !is_entry_changed || !is_empty(entry)
                });
                is_changed
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
}

/// Whether nothing remains of a value.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        value => value.is_null(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn files() -> PrivateFiles {
        PrivateFiles {
            services: vec![
                "https://s.example/".into(),
                "https://h.example/api".into(),
                String::new(),
            ],
            uploads: HashSet::from(["https://cdn.example/me.png".into()]),
            outputs: HashSet::from(["https://s.example/outputs/o/0.png".into()]),
        }
    }

    #[test]
    fn uploads_and_files_without_an_address_are_private() {
        for address in [
            "https://s.example/outputs/u/0.png",
            " https://s.example/outputs/u/0.png ",
            "https://h.example/api/outputs/u/0.png",
            "/outputs/u/0.png",
            "https://cdn.example/me.png",
            "data:image/png;base64,AAAA",
            "data:image/png;stored=1-2,",
            "blob:https://s.example/1",
        ] {
            assert!(files().contains(address), "{address}");
        }
        for address in [
            "https://s.example/outputs/o/0.png",
            "https://s.example/models",
            "https://s.example.org/outputs/u/0.png",
            "https://cdn.example/other.png",
            "https://other.example/outputs/1.png",
            "data:text/plain,word",
            "a picture at /outputs/",
            "",
        ] {
            assert!(!files().contains(address), "{address}");
        }
    }

    #[test]
    fn private_files_are_left_out_at_all_levels() {
        let upload = "https://s.example/outputs/u/0.png";
        let values = json!({
            "prompt": "a fox", "seed": null, "image": upload,
            "images": ["https://other.example/1.png", upload], "mask": [upload],
            "scene": {"sky": {"url": upload}, "ground": "grass"}, "empty": [],
        });
        let shared = files().leave_out(values.as_object().unwrap());
        assert_eq!(shared.missing_files, ["image", "images", "mask", "scene"]);
        let left = json!({
            "prompt": "a fox", "seed": null, "images": ["https://other.example/1.png"],
            "scene": {"ground": "grass"}, "empty": [],
        });
        assert_eq!(Value::Object(shared.values), left);
    }
}
