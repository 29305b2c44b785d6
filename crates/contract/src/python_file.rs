//! The names of the Python files of a model: `{category}_{subcategory}.py` in a form that Python
//! can import. The service gives them to the files, the page says where to put them.

use crate::ModelId;

/// Longest module name; with `_node.py` well below any file system's limit.
const MAX_MODULE: usize = 100;

/// The name of the OpenAI function file.
pub fn function(model: &ModelId) -> String {
    format!("{}.py", module(model))
}

/// The name of the ComfyUI node file.
pub fn node(model: &ModelId) -> String {
    format!("{}_node.py", module(model))
}

/// The name of the file that has a model as an MCP server.
pub fn mcp(model: &ModelId) -> String {
    format!("{}_mcp.py", module(model))
}

/// The name of the file that has all models as functions.
pub const FUNCTIONS: &str = "atelier_functions.py";

/// The name of the file that has all models as one MCP server.
pub const MCP: &str = "atelier_mcp.py";

/// The name of the archive that has all ComfyUI nodes.
pub const NODES: &str = "atelier-nodes.zip";

/// `{category}_{subcategory}` as a module that Python can import: lower case and ASCII only, as file
/// systems and import hooks differ over the rest.
pub fn module(model: &ModelId) -> String {
    let words: Vec<String> = [&model.category, &model.subcategory]
        .into_iter()
        .flat_map(|text| text.split(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .map(ascii)
        .collect();
    let mut name = words.join("_");
    if words.len() < 2 {
        // A single word could be one of Python's keywords, or a device of Windows.
        name.push_str(if name.is_empty() { "model" } else { "_model" });
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert_str(0, "model_");
    }
    let whole = format!("{}/{}", model.category, model.subcategory);
    bounded(&name, &whole, MAX_MODULE)
}

/// A letter without an ASCII form gives its code, so that two models don't get one name.
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

/// Cuts an ASCII name that is too long; a checksum of the whole keeps it different from its like.
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
    fn models_of_all_sorts_give_modules() {
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
    fn what_is_cut_stays_different() {
        let long = |end: &str| module(&ModelId::new("x".repeat(300), end));
        assert_eq!(long("a b").len(), 100);
        assert_ne!(long("a b"), long("c"));
    }

    proptest! {
        /// Words joined by `_` are no keyword of Python's and no device of Windows': none has a `_`
        /// between letters.
        #[test]
        fn any_model_gives_a_name_that_python_imports(category in ".{0,120}|[a-z_-]{0,6}", subcategory in ".{0,120}|[a-z_-]{0,6}") {
            let name = module(&ModelId::new(category, subcategory));
            prop_assert!(name.len() <= 100);
            prop_assert!(name.starts_with(|c: char| c.is_ascii_lowercase()));
            prop_assert!(name.ends_with(|c: char| c != '_'));
            prop_assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'));
            prop_assert!(name == "model" || name.contains('_'));
        }
    }
}
