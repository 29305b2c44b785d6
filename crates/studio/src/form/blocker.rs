//! Describes the first problem that prevents sending a form. The message is shown next to the button before the user
//! presses it. Details are shown at the fields.

use atelier_contract::{Draft, Entry, Media, Parameter, Problem, Schema};
use serde_json::Value;

/// Returns the message of the first problem; empty if there is none.
pub fn message(problems: &[Problem], draft: &Draft, schema: &Schema) -> String {
    let Some(Problem {
        parameter: name,
        message,
    }) = problems.first()
    else {
        return String::new();
    };
    let known = schema.parameter(name).filter(|(_, required)| *required);
    // A parameter with an invalid default is not missing.
    let has_none = |parameter: &Parameter| parameter.default.as_ref().is_none_or(Value::is_null);
    let missing = known.filter(|(it, _)| is_missing(draft, name) && has_none(it));
    let media = missing.and_then(|(it, _)| it.media().or_else(|| it.media_list()));
    match (missing, media) {
        // The user chooses a file or an output instead of typing it.
        (_, Some(Media::Image)) => format!("Choose a picture ({name})."),
        (_, Some(Media::Video)) => format!("Choose a video ({name})."),
        (_, Some(Media::Audio)) => format!("Choose a sound ({name})."),
        (Some(_), None) => format!("{name} is required"),
        (None, None) => message.clone(),
    }
}

/// Returns the index of the first required parameter without a value, if there is one.
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

    /// Guards against a message that uses a parameter's name as an ordinary word.
    #[test]
    fn media_to_choose_are_named_by_their_kind() {
        for (name, expected) in [
            ("mask", "Choose a picture (mask)."),
            ("video_url", "Choose a video (video_url)."),
            ("audio_url", "Choose a sound (audio_url)."),
            ("url", "url is required"),
        ] {
            let parameter = json!({"name": name, "type": "string"});
            let schema: Schema = serde_json::from_value(json!({
                "category": "a", "subcategory": "b",
                "parameters": {"required": [parameter], "optional": []}
            }))
            .unwrap();
            let draft = Draft::default();
            let problems = schema.validate(&draft, false).unwrap_err();
            assert_eq!(message(&problems, &draft, &schema), expected);
        }
    }

    #[test]
    fn missing_values_are_requested_and_invalid_ones_explained() {
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
        assert_eq!(message(&draft), "Choose a picture (image_url).");
        // The missing image gets the focus, not the prompt, which has a value.
        assert_eq!(missing(&draft, &schema), Some(1));
        draft.set("image_url", Entry::Text("https://a.b/c.png".into()));
        draft.set("layers", Entry::Text("99".into()));
        assert_eq!(message(&draft), "layers must be at most 12, not 99");
        draft.set("layers", Entry::Text("9".into()));
        assert_eq!(message(&draft), "");
        assert_eq!(missing(&draft, &schema), None);
    }
}
