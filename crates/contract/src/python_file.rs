//! The names of a model's Python files: `{category}_{subcategory}.py` in a form that Python can import. The service and
//! the page use the same names.

use crate::ModelId;

/// The maximum length of a module name. With `_node.py`, it is well below the limits of file systems.
const MAX_MODULE: usize = 100;

/// Returns the name of the OpenAI function file.
pub fn function(model: &ModelId) -> String {
    format!("{}.py", module(model))
}

/// Returns the name of the ComfyUI node file.
pub fn node(model: &ModelId) -> String {
    format!("{}_node.py", module(model))
}

/// Returns the name of the MCP server file.
pub fn mcp(model: &ModelId) -> String {
    format!("{}_mcp.py", module(model))
}

/// The name of the file with all models as functions.
pub const FUNCTIONS: &str = "atelier_functions.py";

/// The name of the file with all models as one MCP server.
pub const MCP: &str = "atelier_mcp.py";

/// The name of the archive with all ComfyUI nodes.
pub const NODES: &str = "atelier-nodes.zip";

/// Returns `{category}_{subcategory}` as a Python module name: lower-case ASCII only, because file systems and import
/// hooks treat other characters differently.
pub fn module(model: &ModelId) -> String {
    let words: Vec<String> = [&model.category, &model.subcategory]
        .into_iter()
        .flat_map(|text| text.split(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .map(ascii)
        .collect();
    let mut name = words.join("_");
    if words.len() < 2 {
        // A single word could be a Python keyword or a Windows device name.
        name.push_str(if name.is_empty() { "model" } else { "_model" });
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert_str(0, "model_");
    }
    let whole = format!("{}/{}", model.category, model.subcategory);
    bounded(&name, &whole, MAX_MODULE)
}

/// Converts a word to ASCII. Other letters become their code points, so that names stay different.
fn ascii(word: &str) -> String {
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

/// Truncates an ASCII name that is too long, and appends a checksum of the whole text to keep it unique.
pub fn bounded(name: &str, whole: &str, most: usize) -> String {
    if name.len() <= most {
        return name.to_owned();
    }
    let mut hash: u32 = 0x811c_9dc5;
    for byte in whole.bytes() {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    format!("{}_{hash:08x}", &name[..most - 9])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn module_names_are_valid() {
        for (category, subcategory, name) in [
            ("image", "strata", "image_strata"),
            ("text-to-image", "flux/dev", "text_to_image_flux_dev"),
            ("3d", "mesh", "model_3d_mesh"),
            ("", "", "model"),
            ("", "!", "model"),
            ("class", "", "class_model"),
            ("", "None", "none_model"),
            ("con", "", "con_model"),
            ("画", "é", "u753b_ue9"),
            ("画", "", "u753b_model"),
            ("٣", "x", "u663_x"),
            ("_a_", "__", "a_model"),
        ] {
            assert_eq!(module(&ModelId::new(category, subcategory)), name);
        }
        let model = ModelId::new("a", "b");
        assert_eq!(
            (function(&model), node(&model)),
            ("a_b.py".into(), "a_b_node.py".into())
        );
    }

    #[test]
    fn truncated_names_stay_unique() {
        let long = |end: &str| module(&ModelId::new("x".repeat(300), end));
        assert_eq!(long("a b").len(), 100);
        assert_ne!(long("a b"), long("c"));
    }

    proptest! {
        /// Words joined by `_` are never Python keywords or Windows device names, because none of these contains a `_`
        /// between letters.
        #[test]
        fn any_model_has_an_importable_module_name(category in ".{0,120}|[a-z_-]{0,6}", subcategory in ".{0,120}|[a-z_-]{0,6}") {
            let name = module(&ModelId::new(category, subcategory));
            prop_assert!(name.len() <= 100);
            prop_assert!(name.starts_with(|c: char| c.is_ascii_lowercase()));
            prop_assert!(name.ends_with(|c: char| c != '_'));
            prop_assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'));
            prop_assert!(name == "model" || name.contains('_'));
        }
    }
}
