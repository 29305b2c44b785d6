//! Composing a batch: rows of a table, each an [`atelier_contract::Draft`], from prompts, sweeps and files. A row
//! becomes an [`atelier_contract::Input`] like a single form does; an invalid row shows its problems and is never sent.

use atelier_contract::{Draft, Entry, Kind, Parameter, Schema};

use crate::form::control;

pub mod csv;
pub mod duplicates;
pub mod fill_method;
pub mod import;
pub mod panel_items;
pub mod panel_state;
pub mod plan;
pub mod prompts;
pub mod range;
pub mod revision;
pub mod sweep;
pub mod sync_state;
pub mod table;
pub mod unsaved_rows;

/// The maximum number of rows in a batch. A larger number is usually a mistake in a range.
pub const MAX_ROWS: usize = 10_000;

/// Returns the parameter that the fill method `Lines` sets: the prompt, else the first long text, else the first text
/// that is not an address; `None` for a model without texts.
pub fn prompt_of(schema: &Schema) -> Option<String> {
    let texts = || {
        let parameters = schema.parameters().map(|(parameter, _)| parameter);
        parameters.filter(|parameter| parameter.kind() == Kind::Text && parameter.media().is_none())
    };
    let found = texts()
        .find(|parameter| parameter.name == "prompt")
        .or_else(|| texts().find(|parameter| parameter.is_long_text()))
        .or_else(|| texts().next());
    found.map(|parameter| parameter.name.clone())
}

/// Returns the columns that a table of these rows needs, in the order of the form: required parameters, and those whose
/// value differs from the default. Names that are not in the schema are last.
pub fn columns<'a>(rows: impl Iterator<Item = &'a Draft> + Clone, schema: &Schema) -> Vec<String> {
    let in_use = |parameter: &Parameter| {
        let mut entries = rows.clone().filter_map(|row| row.get(&parameter.name));
        entries.any(|entry| !is_default(entry, parameter))
    };
    let mut columns: Vec<String> = schema
        .parameters()
        .filter(|(parameter, required)| *required || in_use(parameter))
        .map(|(parameter, _)| parameter.name.clone())
        .collect();
    for name in rows.flat_map(|row| row.iter().map(|(name, _)| name)) {
        if schema.parameter(name).is_none() && !columns.iter().any(|column| column == name) {
            columns.push(name.to_owned());
        }
    }
    columns
}

/// Whether sending the entry has the same effect as leaving it out. A cleared text differs from its default.
fn is_default(entry: &Entry, parameter: &Parameter) -> bool {
    let default = parameter.default.as_ref().filter(|it| !it.is_null());
    if let (Entry::Value(value), Some(default)) = (entry, default)
        && value == default
    {
        return true;
    }
    let text = entry.to_text();
    let default = default.map(control::text);
    let is_blank = text.trim().is_empty();
    (is_blank && (default.is_none() || parameter.kind() != Kind::Text))
        || default.is_some_and(|default| default == text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn columns_are_in_the_forms_order() {
        let schema: Schema = serde_json::from_value(json!({
            "category": "image", "subcategory": "a",
            "parameters": {
                "required": [{"name": "prompt", "type": "string"}],
                "optional": [{"name": "steps", "type": "integer"}, {"name": "seed", "type": "integer"}]
            }
        }))
        .unwrap();
        let row = |name: &str, text: &str| {
            let mut row = Draft::default();
            row.set("prompt", Entry::Text("cat".into()));
            row.set(name, Entry::Text(text.into()));
            row
        };
        let rows = [row("lora", "x"), row("seed", "1.5"), row("seed", "7")];
        assert_eq!(columns(rows.iter(), &schema), ["prompt", "seed", "lora"]);
    }

    /// Guards against columns for form values that equal their defaults.
    #[test]
    fn inputs_at_their_defaults_have_no_column() {
        let schema: Schema = serde_json::from_value(json!({
            "category": "image", "subcategory": "a",
            "parameters": {
                "required": [{"name": "prompt", "type": "string", "default": "a lake"}],
                "optional": [
                    {"name": "steps", "type": "integer", "default": 20},
                    {"name": "style", "type": "string", "default": "oil"},
                    {"name": "negative", "type": "string"},
                    {"name": "tiled", "type": "boolean", "default": false}
                ]
            }
        }))
        .unwrap();
        let row = |values: Value| Draft::from_values(values.as_object().unwrap());
        let shown = |rows: &[Draft]| columns(rows.iter(), &schema).join(" ");
        let defaults = json!({"prompt": "a lake", "steps": 20, "style": "oil", "negative": " ", "tiled": false});
        let defaults = row(defaults);
        assert_eq!(shown(std::slice::from_ref(&defaults)), "prompt");
        let other = row(json!({"steps": 21, "tiled": false}));
        assert_eq!(shown(&[defaults.clone(), other]), "prompt steps");
        // Typed entries are compared by their text; a cleared one differs from its default.
        let mut typed = Draft::default();
        typed.set("steps", Entry::Text("20".into()));
        assert_eq!(shown(std::slice::from_ref(&typed)), "prompt");
        typed.set("style", Entry::Text(String::new()));
        assert_eq!(shown(&[defaults, typed]), "prompt style");
        // A parameter that the schema doesn't have is always shown.
        assert_eq!(shown(&[row(json!({"lora": ""}))]), "prompt lora");
    }
}
