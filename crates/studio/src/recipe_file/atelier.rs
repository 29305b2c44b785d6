//! Atelier's own recipe: JSON with the model and the inputs.

use atelier_contract::{ModelId, RESERVED_NAMES, is_secret_name};
use serde_json::{Map, Value};

use super::{Entry, FoundRecipe, Program};

/// The name of the entry.
const NAME: &str = "atelier";

/// The maximum number of names of inputs that were left out of the file.
const MAX_OMITTED: usize = 20;

/// Reads the recipe of an entry.
pub fn read(entry: &Entry<'_>) -> Option<FoundRecipe> {
    let object = entry.object.as_ref()?;
    if entry.name != NAME {
        return None;
    }
    let mut recipe = FoundRecipe::new(Program::Atelier);
    recipe.model = model(object.get("model")?);
    let inputs = ["inputs", "input", "values"];
    let inputs = inputs
        .iter()
        .find_map(|name| object.get(*name)?.as_object());
    for (name, value) in inputs? {
        // The program that wrote the file leaves secrets out; another may not have.
        if !RESERVED_NAMES.contains(&name.as_str()) && !is_secret_name(name) {
            recipe.put(name, value.clone());
        }
    }
    let omitted = object.get("omitted").and_then(Value::as_array);
    let omitted = omitted.into_iter().flatten().filter_map(Value::as_str);
    recipe.others = omitted.take(MAX_OMITTED).map(str::to_owned).collect();
    // The service may have drawn the seed.
    recipe.put_plain("seed", object.get("seed"));
    Some(recipe)
}

/// Reads `{"category": …, "subcategory": …}` or `category/subcategory`.
fn model(value: &Value) -> Option<ModelId> {
    let id = match value {
        Value::String(text) => {
            let (category, subcategory) = text.split_once('/')?;
            ModelId::new(category, subcategory)
        }
        Value::Object(object) => {
            let part =
                |object: &Map<String, Value>, name| Some(object.get(name)?.as_str()?.to_owned());
            ModelId::new(part(object, "category")?, part(object, "subcategory")?)
        }
        _ => return None,
    };
    (id.category.len() + id.subcategory.len() <= 400).then_some(id)
}
