use atelier_contract::{Kind, Parameter, Schema};

use crate::compose::{csv, prompt_of};
use crate::form::{control, seed};

/// Returns an example table with up to two parameters of the model. The prompt is first and the seed is last, if the
/// model has them.
pub fn example(schema: &Schema) -> String {
    let (prompt, seed) = (prompt_of(schema), seed::parameter(schema));
    let seed = seed.map(|seed| (seed.name.clone(), "7".to_owned()));
    let others = schema.parameters().filter_map(|(parameter, _)| {
        let is_seed = seed
            .as_ref()
            .is_some_and(|(name, _)| *name == parameter.name);
        let value = value(parameter).filter(|_| !is_seed)?;
        Some((parameter.name.clone(), value))
    });
    let text = prompt.map(|name| (name, "a lighthouse in a storm".to_owned()));
    let most = 2 - usize::from(text.is_some()) - usize::from(seed.is_some());
    let others: Vec<_> = others.take(most).collect();
    let (names, values): (Vec<_>, Vec<_>) = text.into_iter().chain(others).chain(seed).unzip();
    let mut example = String::new();
    csv::write(&mut example, names.iter().map(String::as_str));
    csv::write(&mut example, values.iter().map(String::as_str));
    example.trim_end().replace("\r\n", "\n")
}

/// Returns an example value for a parameter that is neither a text nor structured.
fn value(parameter: &Parameter) -> Option<String> {
    let number = || {
        let number = parameter.default.clone();
        number.or_else(|| parameter.minimum.clone().map(Into::into))
    };
    match parameter.kind() {
        Kind::Enum => parameter.choices().first().map(control::text),
        Kind::Boolean => Some("true".to_owned()),
        Kind::Integer | Kind::Number => {
            Some(number().map_or("1".to_owned(), |it| control::text(&it)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::import::read;
    use serde_json::{Value, json};

    /// Guards against an example with a prompt for a model without a prompt.
    #[test]
    fn the_columns_are_parameters_of_the_model() {
        let text = json!({"name": "words", "type": "string"});
        let shape = json!({"name": "shape", "type": "enum", "allowedValues": ["tall", "wide"]});
        let grain = json!({"name": "grain", "type": "integer", "minimum": 3});
        let seed = json!({"name": "seed", "type": "integer"});
        let of = |parameters: &[&Value]| {
            let schema = json!({
                "category": "image", "subcategory": "a",
                "parameters": {"required": [], "optional": parameters}
            });
            let schema = Schema::from_value(schema).unwrap();
            let example = example(&schema);
            assert_eq!(
                read(&example, &schema, &[]).unwrap().rows.len(),
                1,
                "{example}"
            );
            example
        };
        assert_eq!(
            of(&[&text, &shape, &seed]),
            "words,seed\na lighthouse in a storm,7"
        );
        assert_eq!(
            of(&[&text, &shape]),
            "words,shape\na lighthouse in a storm,tall"
        );
        assert_eq!(of(&[&seed, &shape, &grain]), "shape,seed\ntall,7");
        assert_eq!(of(&[&shape, &grain]), "shape,grain\ntall,3");
        assert_eq!(of(&[&seed]), "seed\n7");
    }
}
