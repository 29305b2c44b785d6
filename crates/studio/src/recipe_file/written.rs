//! Writes the inputs of a task into the files that were generated from them.

use atelier_contract::{compare_numbers, is_secret_name};
use atelier_engine::Task;
use atelier_metadata::recipe::{Recipe, rfc3339};
use atelier_metadata::{ATELIER, Format, read, write};
use serde_json::{Map, Value};

use super::{Program, find};
use crate::share::private_files::PrivateFiles;

/// The maximum size of a file that is changed, in bytes.
pub const MAX_FILE: u64 = 64 << 20;

/// Whether inputs can be written into a file of this size. `head`: its first bytes.
pub fn is_possible(head: &[u8], size: u64) -> bool {
    let format = Format::of(head);
    size <= MAX_FILE && format.is_some_and(|format| format != Format::Mp4)
}

/// Returns a file of a task with its inputs; `None` if the file must stay as it is: it carries Content Credentials, contains
/// the same inputs already, is damaged, or is of a type that can't be written. `service`: the address of the service.
pub fn with_inputs(bytes: &[u8], task: &Task, service: &str) -> Option<Vec<u8>> {
    let metadata = read(bytes);
    if metadata.has_content_credentials {
        return None;
    }
    let (inputs, model) = (public_inputs(task), task.model.to_string());
    let recipe = Recipe {
        model: &model,
        inputs: &inputs,
        service: if service.contains('@') { "" } else { service },
        created_at: Some(&rfc3339(task.created)),
        // Not the id of the service: it is part of the addresses of all outputs of the task.
        task: &task.key.0,
    };
    // The page does not know whether the model was trained, so it says nothing about the digital source type.
    let entries = recipe.entries(None);
    let known = metadata.entries.iter();
    let known = find(known.map(|entry| (entry.name.as_str(), entry.text.as_str())));
    let own = find([(ATELIER, entries.atelier.as_str())]);
    let is_known = known.zip(own).is_some_and(|(known, own)| {
        let mut values = own.values.iter();
        known.program == Program::Atelier
            && known.model == own.model
            && values.all(|(name, value)| is_same(known.values.get(name), value))
    });
    match is_known {
        true => None,
        false => write(bytes, &entries).ok(),
    }
}

/// Whether two values are the same for a service, which may store the number 2 as 2.0.
fn is_same(known: Option<&Value>, own: &Value) -> bool {
    match (known, own) {
        (Some(Value::Number(known)), Value::Number(own)) => compare_numbers(known, own).is_eq(),
        (known, own) => known == Some(own),
    }
}

/// Returns the inputs without those that may be secret, and without files of the user and references that only this browser
/// knows. Values that the schema marks as secrets are not part of a task.
fn public_inputs(task: &Task) -> Map<String, Value> {
    let private = PrivateFiles {
        uploads: task.uploads.iter().map(|file| file.url.clone()).collect(),
        ..PrivateFiles::default()
    };
    let inputs = without_secrets(task.input.values());
    private.leave_out(&inputs).values
}

/// Returns the entries whose names don't sound like those of secrets, at all levels.
fn without_secrets(values: &Map<String, Value>) -> Map<String, Value> {
    let public = values.iter().filter(|(name, _)| !is_secret_name(name));
    public
        .map(|(name, value)| (name.clone(), without_nested_secrets(value)))
        .collect()
}

fn without_nested_secrets(value: &Value) -> Value {
    match value {
        Value::Object(values) => Value::Object(without_secrets(values)),
        Value::Array(values) => values.iter().map(without_nested_secrets).collect(),
        value => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe_file::find_in_file;
    use crate::testing::task;
    use atelier_contract::ModelId;
    use atelier_engine::UploadedFile;
    use serde_json::json;

    /// A PNG of one pixel, with additional chunks before its data.
    fn png(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
        let mut push = |kind: &[u8; 4], data: &[u8]| {
            png.extend((data.len() as u32).to_be_bytes());
            let content = [&kind[..], data].concat();
            png.extend(&content);
            let sum = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(&content);
            png.extend(sum.to_be_bytes());
        };
        push(b"IHDR", &[0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0]);
        for (kind, data) in chunks {
            push(kind, data);
        }
        push(b"IDAT", b"\x78\x9c\x63\x60\x00\x00\x00\x02\x00\x01");
        push(b"IEND", b"");
        png
    }

    fn with_values(values: Value) -> Task {
        let mut task = task("k1", 1_773_324_309_000);
        let model = json!({"category": "image", "subcategory": "tessera"});
        task.input = serde_json::from_value(json!({"model": model, "values": values})).unwrap();
        task.model = ModelId::new("image", "tessera");
        task
    }

    #[test]
    fn written_inputs_are_found_again() {
        let task = with_values(json!({"prompt": "a fox, red", "seed": 7, "mist": 0.5}));
        let written = with_inputs(&png(&[]), &task, "https://s.example").unwrap();
        let found = find_in_file(&written, &read(&written)).unwrap();
        assert_eq!(found.program, Program::Atelier);
        assert_eq!(found.model, Some(task.model.clone()));
        assert_eq!(found.values, *task.input.values());
        let text = read(&written).text("atelier").unwrap().to_owned();
        assert!(text.contains("2026-03-12T14:05:09Z"), "{text}");
        // The same inputs are not written twice.
        assert_eq!(with_inputs(&written, &task, "https://s.example"), None);
        let other = with_values(json!({"prompt": "a fox, blue"}));
        let replaced = with_inputs(&written, &other, "https://s.example").unwrap();
        let found = find_in_file(&replaced, &read(&replaced)).unwrap();
        assert_eq!(found.values["prompt"], json!("a fox, blue"));
    }

    /// Guards against Content Credentials that a change would invalidate.
    #[test]
    fn files_with_content_credentials_are_not_changed() {
        let signed = png(&[(b"caBX", b"\0\0\0\x10jumb\0\0\0\x08jumd")]);
        assert!(read(&signed).has_content_credentials);
        assert_eq!(
            with_inputs(&signed, &with_values(json!({"prompt": "a"})), ""),
            None
        );
    }

    /// The address of an upload is not in the recipe that the service writes.
    #[test]
    fn a_file_of_the_service_is_not_changed() {
        let task = with_values(
            json!({"prompt": "a", "mist": 1, "image_url": "https://s.example/outputs/u/1.png"}),
        );
        let mut inputs = task.input.values().clone();
        inputs["mist"] = json!(1.0);
        let recipe = Recipe {
            model: "image/tessera",
            inputs: &inputs,
            service: "atelier-service",
            created_at: None,
            task: "t1",
        };
        let written = write(&png(&[]), &recipe.entries(None)).unwrap();
        assert_eq!(with_inputs(&written, &task, ""), None);
    }

    #[test]
    fn secrets_are_not_written() {
        let task = with_values(
            json!({"prompt": "a fox", "api_key": "sk-12345", "hf_token": "hf_67890",
            "tools": [{"name": "search", "auth": {"password": "pw-13579"}}]}),
        );
        let written = with_inputs(&png(&[]), &task, "https://me:pw-24680@s.example").unwrap();
        let text = String::from_utf8_lossy(&written);
        assert!(text.contains("a fox"));
        assert!(
            !text.contains("sk-12345") && !text.contains("hf_67890"),
            "{text}"
        );
    }

    /// The recipient of the file must not be able to fetch the picture from which it was made.
    #[test]
    fn files_of_the_user_are_not_written() {
        let (own, other) = (
            "https://s.example/outputs/u/0.png",
            "https://o.example/1.png",
        );
        let mut task = with_values(
            json!({"prompt": "a fox", "image": own, "images": [other, own], "mask": "data:image/png;base64,AAAA"}),
        );
        let file = |parameter: &str| UploadedFile {
            parameter: parameter.into(),
            url: own.into(),
            name: "me.png".into(),
        };
        task.uploads = vec![file("image"), file("images")];
        let written = with_inputs(&png(&[]), &task, "https://s.example").unwrap();
        let found = find_in_file(&written, &read(&written)).unwrap();
        let expected = json!({"prompt": "a fox", "images": [other]});
        assert_eq!(Value::Object(found.values), expected);
        let text = String::from_utf8_lossy(&written);
        assert!(
            !text.contains("outputs/u") && !text.contains("AAAA"),
            "{text}"
        );
    }

    #[test]
    fn damaged_large_and_other_files_stay_as_they_are() {
        let task = with_values(json!({"prompt": "a"}));
        assert_eq!(with_inputs(b"", &task, ""), None);
        assert_eq!(with_inputs(b"GIF89a", &task, ""), None);
        assert_eq!(with_inputs(&png(&[])[..40], &task, ""), None);
        assert!(is_possible(b"\x89PNG\r\n\x1a\n", MAX_FILE));
        assert!(!is_possible(b"\x89PNG\r\n\x1a\n", MAX_FILE + 1));
        assert!(!is_possible(b"\0\0\0\x20ftypisom", 1));
        assert!(!is_possible(b"GIF89a", 1));
    }
}
