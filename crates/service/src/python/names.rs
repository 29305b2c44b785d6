//! Names made from a model's identity and parameters: reduced to what each place permits.

use std::collections::HashSet;

use atelier_contract::{ModelId, Schema};

/// Longest module name; with `_node.py` well below any file system's limit.
const MOST_OF_MODULE: usize = 100;

/// OpenAI's limit for a function's name and for a property's.
const MOST_OF_OPENAI: usize = 64;

/// `{category}_{subcategory}` as a module that Python can import: lower case, ASCII only.
pub fn module_name(id: &ModelId) -> String {
    let words: Vec<String> = [&id.category, &id.subcategory]
        .into_iter()
        .flat_map(|text| text.split(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .map(ascii_word)
        .collect();
    let mut name = words.join("_");
    if words.len() < 2 {
        // A single word could be one of Python's keywords.
        name.push_str(if name.is_empty() { "model" } else { "_model" });
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert_str(0, "model_");
    }
    let whole = format!("{}/{}", id.category, id.subcategory);
    bounded(&name, &whole, MOST_OF_MODULE)
}

/// A letter without an ASCII form gives its code, so that two models don't get one name.
fn ascii_word(word: &str) -> String {
    let mut ascii = String::new();
    for c in word.chars() {
        if c.is_ascii() {
            ascii.push(c.to_ascii_lowercase());
        } else {
            ascii.push_str(&format!("u{:x}", u32::from(c)));
        }
    }
    ascii
}

/// A name that OpenAI accepts for a function: letters, digits, `_` and `-`, at most 64.
pub fn function_name(id: &ModelId) -> String {
    let joined = format!("{}_{}", id.category, id.subcategory);
    let plain = reduced(&joined, "-");
    let named = if plain.trim_matches('_').is_empty() {
        "generate".to_owned()
    } else {
        plain
    };
    bounded(&named, &joined, MOST_OF_OPENAI)
}

/// For each parameter, the name of its property in the function's schema: its own where OpenAI
/// accepts it, else one made from it. No two are the same.
pub fn argument_names(schema: &Schema) -> Vec<(String, String)> {
    let fits = |name: &str| {
        !name.is_empty() && name.len() <= MOST_OF_OPENAI && reduced(name, "-.") == name
    };
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
            let base = bounded(&reduced(name, "-."), name, MOST_OF_OPENAI - 8);
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

/// Everything but ASCII letters, digits, `_` and what is in `also` becomes `_`.
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

/// Cuts a name that is too long; a checksum of the whole keeps it different from its like.
fn bounded(name: &str, whole: &str, most: usize) -> String {
    if name.len() <= most {
        return name.to_owned();
    }
    let mut hash: u32 = 0x811c_9dc5;
    for byte in whole.bytes() {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    // All are ASCII by now.
    format!("{}_{hash:08x}", &name[..most - 9])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_can_be_imported_and_functions_called() {
        for (category, subcategory, module, function) in [
            ("image", "strata", "image_strata", "image_strata"),
            (
                "text-to-image",
                "a.b",
                "text_to_image_a_b",
                "text-to-image_a_b",
            ),
            ("3d", "mesh", "model_3d_mesh", "3d_mesh"),
            ("", "", "model", "generate"),
            ("画", "", "u753b_model", "generate"),
            ("class", "", "class_model", "class_"),
        ] {
            let id = ModelId::new(category, subcategory);
            assert_eq!(module_name(&id), module);
            assert_eq!(function_name(&id), function);
        }
        let long = ModelId::new("x".repeat(300), "a b");
        assert_eq!(function_name(&long).len(), 64);
        assert_eq!(module_name(&long).len(), 100);
        assert_ne!(
            module_name(&long),
            module_name(&ModelId::new("x".repeat(300), "c"))
        );
    }

    #[test]
    fn no_two_arguments_share_a_name() {
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
