//! Composing a batch: rows of a table, each a [`Draft`], from prompts, sweeps and files. A row
//! becomes an [`atelier_contract::Input`] like a single form does, or is shown with what is wrong and never sent.

use atelier_contract::{Draft, Kind, Schema};

pub mod csv;
pub mod import;
pub mod left_behind;
pub mod plan;
pub mod prompts;
pub mod range;
pub mod revision;
pub mod sweep;
pub mod table;
pub mod way;

/// Rows that one batch may have. More is a mistake in a range more often than a wish.
pub const MAX_ROWS: usize = 10_000;

/// The parameter that `Prompts` fills: the prompt, else the first long text, else the first text
/// that is no address; `None` for a model without texts.
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

/// The columns that a table of these rows needs: parameters in use and required ones, in the
/// order of the form, then names that the schema does not know.
pub fn columns<'a>(rows: impl Iterator<Item = &'a Draft> + Clone, schema: &Schema) -> Vec<String> {
    let in_use = |name: &str| rows.clone().any(|row| row.get(name).is_some());
    let mut columns: Vec<String> = schema
        .parameters()
        .filter(|(parameter, required)| *required || in_use(&parameter.name))
        .map(|(parameter, _)| parameter.name.clone())
        .collect();
    for name in rows.flat_map(|row| row.iter().map(|(name, _)| name)) {
        if !columns.iter().any(|column| column == name) {
            columns.push(name.to_owned());
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use atelier_contract::Entry;
    use serde_json::json;

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
}
