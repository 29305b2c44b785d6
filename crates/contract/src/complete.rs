//! Completion of inputs with defaults and a seed.

use serde_json::{Map, Number, Value};

use crate::{Draft, Parameter, Problem, Schema};

impl Schema {
    /// Validates the values and adds the defaults, and a random seed if the model has a seed parameter. The result
    /// fully determines the output. `random` returns any number.
    ///
    /// # Errors
    ///
    /// All problems, as found by [`Schema::validate`].
    pub fn complete(
        &self,
        values: &Map<String, Value>,
        mut random: impl FnMut() -> u64,
    ) -> Result<Map<String, Value>, Vec<Problem>> {
        let input = self.validate(&Draft::from_values(values), true)?;
        let mut complete = input.values().clone();
        for (parameter, _) in self.parameters() {
            if parameter.is_seed() && !complete.contains_key(&parameter.name) {
                let seed = within_bounds(parameter, random());
                complete.extend(seed.map(|seed| (parameter.name.clone(), seed.into())));
            }
        }
        Ok(complete)
    }
}

/// Reduces a random number to the parameter's bounds. `None` without an upper bound, because the model's real limit is
/// unknown.
fn within_bounds(parameter: &Parameter, random: u64) -> Option<u64> {
    let max = parameter.maximum.as_ref()?.as_u64()?;
    let min = parameter.minimum.as_ref().and_then(Number::as_u64);
    let min = min.unwrap_or(0);
    Some(match max.checked_sub(min)?.checked_add(1) {
        Some(count) => min + random % count,
        None => random,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn chooses_a_seed_within_the_bounds_of_the_schema() {
        let seed = |bounds: Value, random: u64| {
            let mut parameter = json!({"name": "seed", "type": "integer"});
            let object = parameter.as_object_mut().unwrap();
            object.extend(bounds.as_object().unwrap().clone());
            let schema: Schema = serde_json::from_value(json!({
                "category": "a", "subcategory": "b",
                "parameters": {"required": [], "optional": [parameter]}
            }))
            .unwrap();
            let complete = schema.complete(&Map::new(), || random).unwrap();
            complete.get("seed").and_then(Value::as_u64)
        };
        for random in [0, 1, 2, 3, u64::MAX] {
            let chosen = seed(json!({"minimum": 5, "maximum": 7}), random).unwrap();
            assert!((5..=7).contains(&chosen));
        }
        assert_eq!(seed(json!({"maximum": 0}), 9), Some(0));
        assert_eq!(seed(json!({"minimum": 0, "maximum": u64::MAX}), 9), Some(9));
        assert_eq!(
            seed(json!({"minimum": 0}), 9),
            None,
            "the model's limit is unknown"
        );
    }
}
