//! Names derived from a model's identity and parameters, limited to the permitted characters.

use std::collections::HashSet;

use crate::python_file::bounded;
use crate::{ModelId, Schema};

/// OpenAI's maximum length of a function or property name, in characters.
const MAX_OPENAI: usize = 64;

/// Returns a valid OpenAI function name: letters, digits, `_` and `-`, at most 64 characters.
pub fn function_name(id: &ModelId) -> String {
    let joined = format!("{}_{}", id.category, id.subcategory);
    let plain = reduced(&joined, "-");
    let named = if plain.trim_matches('_').is_empty() {
        "generate".to_owned()
    } else {
        plain
    };
    bounded(&named, &joined, MAX_OPENAI)
}

/// Returns each parameter's name and its property name in the function's schema: its own name if OpenAI accepts it,
/// otherwise one derived from it. Property names are unique.
pub fn argument_names(schema: &Schema) -> Vec<(String, String)> {
    let fits =
        |name: &str| !name.is_empty() && name.len() <= MAX_OPENAI && reduced(name, "-.") == name;
    let mut taken: HashSet<String> = schema
        .parameters()
        .filter(|(parameter, _)| fits(&parameter.name))
        .map(|(parameter, _)| parameter.name.clone())
        .collect();
    schema
        .parameters()
        .map(|(parameter, _)| {
            let name = &parameter.name;
            if fits(name) {
                return (name.clone(), name.clone());
            }
            let base = bounded(&reduced(name, "-."), name, MAX_OPENAI - 8);
            let base = if base.is_empty() {
                "parameter".to_owned()
            } else {
                base
            };
            let free = std::iter::once(base.clone())
                .chain((2u32..).map(|n| format!("{base}_{n}")))
                .find(|candidate| !taken.contains(candidate))
                .unwrap_or(base);
            taken.insert(free.clone());
            (name.clone(), free)
        })
        .collect()
}

/// Replaces all characters except ASCII letters, digits, `_` and those in `also` by `_`.
fn reduced(text: &str, also: &str) -> String {
    text.chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '_' || also.contains(c) {
                c
            } else {
                '_'
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_names_are_valid_for_openai() {
        for (category, subcategory, function) in [
            ("image", "strata", "image_strata"),
            ("text-to-image", "a.b", "text-to-image_a_b"),
            ("3d", "mesh", "3d_mesh"),
            ("", "", "generate"),
            ("画", "", "generate"),
            ("class", "", "class_"),
        ] {
            assert_eq!(
                function_name(&ModelId::new(category, subcategory)),
                function
            );
        }
        let long = ModelId::new("x".repeat(300), "a b");
        assert_eq!(function_name(&long).len(), 64);
    }

    #[test]
    fn argument_names_are_unique() {
        let optional = ["a b", "a_b", "a%b", "", "a_b_2", "é"]
            .map(|name| serde_json::json!({"name": name, "type": "string"}));
        let schema: Schema = serde_json::from_value(serde_json::json!({
            "category": "a", "subcategory": "b",
            "parameters": {"required": [], "optional": optional}
        }))
        .unwrap();
        let names: Vec<String> = argument_names(&schema)
            .into_iter()
            .map(|(_, n)| n)
            .collect();
        assert_eq!(names, ["a_b_3", "a_b", "a_b_4", "parameter", "a_b_2", "_"]);
    }
}
