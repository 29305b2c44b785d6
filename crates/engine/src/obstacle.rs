//! The one thing that keeps a form from being sent, said quietly beside the button before anybody has
//! pressed it. What is wrong with a value in detail stands at its field.

use atelier_contract::{Draft, Entry, Problem, Schema};
use serde_json::Value;

/// Of the first problem; nothing where there is none.
pub fn message(problems: &[Problem], draft: &Draft, schema: &Schema) -> String {
    let Some(Problem {
        parameter: name,
        message,
    }) = problems.first()
    else {
        return String::new();
    };
    let known = schema.parameter(name).filter(|(_, required)| *required);
    match known.filter(|_| is_missing(draft, name)) {
        // A file or an output is chosen, and not written.
        Some((parameter, _)) if parameter.media().is_some() => {
            let vowels = ['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O', 'U'];
            let article = if name.starts_with(vowels) { "an" } else { "a" };
            format!("Choose {article} {name}.")
        }
        Some(_) => format!("{name} is required"),
        None => message.clone(),
    }
}

/// Where the first parameter stands that is still needed, if one is.
pub fn missing(draft: &Draft, schema: &Schema) -> Option<usize> {
    let mut parameters = schema.parameters();
    parameters.position(|(parameter, required)| required && is_missing(draft, &parameter.name))
}

fn is_missing(draft: &Draft, name: &str) -> bool {
    draft.get(name).is_none_or(is_blank)
}

fn is_blank(entry: &Entry) -> bool {
    match entry {
        Entry::Text(text) | Entry::Value(Value::String(text)) => text.trim().is_empty(),
        Entry::Value(value) => value.is_null(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_missing_is_asked_for_and_what_is_wrong_is_named() {
        let schema: Schema = serde_json::from_value(json!({
            "category": "image", "subcategory": "a",
            "parameters": {
                "required": [
                    {"name": "prompt", "type": "string"},
                    {"name": "image_url", "type": "string"}
                ],
                "optional": [{"name": "layers", "type": "integer", "maximum": 12}]
            }
        }))
        .unwrap();
        let mut draft = Draft::default();
        let message = |draft: &Draft| {
            let problems = schema.validate(draft, false).err().unwrap_or_default();
            super::message(&problems, draft, &schema)
        };
        assert_eq!(message(&draft), "prompt is required");
        assert_eq!(missing(&draft, &schema), Some(0));
        draft.set("prompt", Entry::Text("  ".into()));
        assert_eq!(message(&draft), "prompt is required");
        draft.set("prompt", Entry::Text("cat".into()));
        assert_eq!(message(&draft), "Choose an image_url.");
        // Guards against the focus in a prompt that is there, where a picture is missing.
        assert_eq!(missing(&draft, &schema), Some(1));
        draft.set("image_url", Entry::Text("https://a.b/c.png".into()));
        draft.set("layers", Entry::Text("99".into()));
        assert_eq!(message(&draft), "layers must be at most 12, not 99");
        draft.set("layers", Entry::Text("9".into()));
        assert_eq!(message(&draft), "");
        assert_eq!(missing(&draft, &schema), None);
    }
}
