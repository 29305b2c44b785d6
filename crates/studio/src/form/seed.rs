//! Finds the seed parameter and draws values for it. With a known seed, a result can be generated again, and results
//! with the same seed can be compared.

use atelier_contract::{Draft, Entry, Input, Parameter, Schema};
use atelier_engine::Task;
use serde_json::{Number, Value};

/// The range of seeds if the schema has no upper bound. Services commonly store seeds in 32 bits, and reject or
/// truncate larger ones.
const DEFAULT_SPAN: i128 = u32::MAX as i128;

/// A limit beyond all values of u64 and i64 that doesn't cause overflows in calculations.
const FAR: i128 = 1 << 100;

/// The name of the seed parameter.
pub const NAME: &str = "seed";

/// Returns the seed parameter: an optional integer called `seed`. Parameters with similar names may have other
/// meanings, and a required seed is entered by the user.
pub fn parameter(schema: &Schema) -> Option<&Parameter> {
    let (parameter, required) = schema.parameter(NAME)?;
    (parameter.is_seed() && !required).then_some(parameter)
}

/// Returns the seed's entry, unless it is blank.
pub fn entry<'a>(draft: &'a Draft, schema: &Schema) -> Option<&'a Entry> {
    let entry = draft.get(&parameter(schema)?.name)?;
    let is_empty = match entry {
        Entry::Text(text) => text.trim().is_empty(),
        Entry::Value(value) => value.is_null(),
    };
    (!is_empty).then_some(entry)
}

/// Returns the seed as text; empty if there is none.
pub fn text(draft: &Draft) -> String {
    draft.get(NAME).map_or_else(String::new, Entry::to_text)
}

/// An input to send, and whether the user has chosen its seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Seeded {
    pub input: Input,
    pub is_chosen: bool,
}

/// Returns the seed parameter, if its values are drawn.
fn drawn_parameter(schema: &Schema) -> Option<&Parameter> {
    parameter(schema).filter(|seed| is_drawn(seed, false))
}

/// Whether values of this parameter are drawn for each result if the user has not entered one. A seed with a default is
/// not drawn.
pub fn is_drawn(parameter: &Parameter, required: bool) -> bool {
    let has_default = parameter.default.as_ref().is_some_and(|it| !it.is_null());
    parameter.name == NAME && parameter.is_seed() && !required && !has_default
}

/// Returns the draft to send. A blank seed is replaced by a drawn one, so that the seed of the result is known.
pub fn with_drawn_seed(draft: &Draft, schema: &Schema, random: u64) -> Draft {
    match drawn_parameter(schema).filter(|_| entry(draft, schema).is_none()) {
        Some(_) => with_new_seed(draft, schema, random),
        None => draft.clone(),
    }
}

/// Returns the seed that the user has set in the draft as text; `None` if a seed will be drawn, or is never drawn.
pub fn fixed_seed(draft: &Draft, schema: &Schema) -> Option<String> {
    drawn_parameter(schema)?;
    entry(draft, schema).map(|entry| entry.to_text().trim().to_owned())
}

/// Returns the message about the common seed of a batch: `Seed 7 for all items.`; empty without one.
pub fn shared_message(seed: &str) -> String {
    match seed.trim() {
        "" => String::new(),
        seed => format!("Seed {seed} for all items."),
    }
}

/// Returns the message about the common seed of a sweep: `Seed 7 for all items, so that only the axes differ.`
pub fn held_message(seed: &str) -> String {
    match seed.trim() {
        "" => String::new(),
        seed => format!("Seed {seed} for all items, so that only the axes differ."),
    }
}

/// Returns the seed of a variation, which distinguishes it from the others.
pub fn variation_label(task: &Task) -> Option<String> {
    let seed = task.input.values().get(NAME)?.as_number()?;
    let is_variation = task.varied.is_some();
    is_variation.then(|| format!("seed {seed}"))
}

/// Removes the seed, so that a new one is drawn. Returns whether there was a seed.
pub fn release(draft: &mut Draft, schema: &Schema) -> bool {
    let is_fixed = fixed_seed(draft, schema).is_some();
    if let Some(seed) = drawn_parameter(schema).filter(|_| is_fixed) {
        draft.reset(&seed.name);
    }
    is_fixed
}

/// Replaces the seed with a new one.
pub fn with_new_seed(draft: &Draft, schema: &Schema, random: u64) -> Draft {
    let mut renewed = draft.clone();
    if let Some(parameter) = parameter(schema) {
        let drawn = Value::Number(seed(parameter, random));
        renewed.set(parameter.name.clone(), Entry::Value(drawn));
    }
    renewed
}

/// Maps 64 random bits to a seed within the parameter's bounds. It is exact for all values of i64 and u64.
///
/// Without a minimum, the range starts at 0. Without a maximum, it spans 2^32 values. If the bounds contain no integer,
/// the result is the minimum rounded up, which validation rejects.
pub fn seed(parameter: &Parameter, random: u64) -> Number {
    let minimum = parameter
        .minimum
        .as_ref()
        .map(|n| rounded_inwards(n, f64::ceil));
    let maximum = parameter
        .maximum
        .as_ref()
        .map(|n| rounded_inwards(n, f64::floor));
    let low = minimum.unwrap_or(match maximum {
        Some(maximum) if maximum < 0 => maximum - DEFAULT_SPAN,
        _ => 0,
    });
    let low = low.max(i128::from(i64::MIN));
    let high = maximum.unwrap_or(DEFAULT_SPAN.max(low + DEFAULT_SPAN));
    let high = high.clamp(low, low.max(i128::from(u64::MAX)));
    let span = (high - low) as u128 + 1;
    // Scale instead of taking a remainder, so that all values have the same probability (with an error of at most span
    // / 2^64).
    let offset = match u64::try_from(span) {
        Ok(span) => (u128::from(random) * u128::from(span)) >> 64,
        Err(_) => u128::from(random),
    };
    let value = low + offset as i128;
    match u64::try_from(value) {
        Ok(value) => value.into(),
        Err(_) => i64::try_from(value).unwrap_or(i64::MIN).into(),
    }
}

/// Returns a bound as an integer. Fractions are rounded inwards.
fn rounded_inwards(number: &Number, inwards: fn(f64) -> f64) -> i128 {
    match (number.as_u64(), number.as_i64()) {
        (Some(n), _) => n.into(),
        (_, Some(n)) => n.into(),
        _ => (inwards(number.as_f64().unwrap_or(0.0)) as i128).clamp(-FAR, FAR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use atelier_contract::check;
    use proptest::prelude::*;
    use serde_json::json;

    fn parameter(bounds: Value) -> Parameter {
        let mut value = json!({"name": "seed", "type": "integer"});
        for (name, bound) in bounds.as_object().unwrap() {
            value[name] = bound.clone();
        }
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_variation_is_distinguished_by_its_seed() {
        let schema: Schema = serde_json::from_value(json!({
            "category": "a", "subcategory": "b", "parameters": {
                "required": [], "optional": [{"name": "seed", "type": "integer"}]
            }
        }))
        .unwrap();
        let mut task = crate::testing::task("1", 0);
        let values = json!({"seed": u64::MAX});
        let draft = Draft::from_values(values.as_object().unwrap());
        task.input = schema.validate(&draft, false).unwrap();
        assert_eq!(variation_label(&task), None);
        task.varied = Some(atelier_engine::TaskKey("0".into()));
        let label = variation_label(&task);
        assert_eq!(label.as_deref(), Some("seed 18446744073709551615"));
        task.input = schema.validate(&Draft::default(), false).unwrap();
        assert_eq!(variation_label(&task), None);
    }

    #[test]
    fn without_bounds_a_seed_has_32_bits() {
        let free = parameter(json!({}));
        assert_eq!(seed(&free, 0), 0.into());
        assert_eq!(seed(&free, u64::MAX), u32::MAX.into());
        let from_one = parameter(json!({"minimum": 1}));
        assert_eq!(seed(&from_one, 0), 1.into());
        let far = parameter(json!({"minimum": 10_000_000_000u64}));
        assert_eq!(seed(&far, 0), 10_000_000_000u64.into());
    }

    #[test]
    fn the_whole_range_is_used() {
        let all = parameter(json!({"minimum": 0, "maximum": u64::MAX}));
        assert_eq!(seed(&all, u64::MAX), u64::MAX.into());
        let signed = parameter(json!({"minimum": i64::MIN, "maximum": i64::MAX}));
        assert_eq!(seed(&signed, 0), i64::MIN.into());
        assert_eq!(seed(&signed, u64::MAX), i64::MAX.into());
        let huge = parameter(json!({"minimum": -1e30, "maximum": 1e30}));
        let _ = seed(&huge, u64::MAX);
        let below_zero = parameter(json!({"maximum": -5}));
        assert!(seed(&below_zero, u64::MAX).as_i64() == Some(-5));
    }

    fn schema(list: &str, seed: Value) -> Schema {
        serde_json::from_value(json!({
            "category": "image", "subcategory": "a", "parameters": {list: [seed]}
        }))
        .unwrap()
    }

    #[test]
    fn a_seed_without_an_entry_or_a_default_is_drawn() {
        let open = schema("optional", json!({"name": "seed", "type": "integer"}));
        let mut draft = Draft::default();
        let drawn = with_drawn_seed(&draft, &open, u64::MAX);
        assert_eq!(entry(&drawn, &open), Some(&Entry::Value(u32::MAX.into())));
        for left in [Entry::Text(" ".into()), Entry::Value(Value::Null)] {
            draft.set("seed", left);
            assert_eq!(with_drawn_seed(&draft, &open, u64::MAX), drawn);
        }
        // The user's entry stays, even if it is invalid.
        draft.set("seed", Entry::Text("7x".into()));
        assert_eq!(with_drawn_seed(&draft, &open, 1), draft);
        assert_eq!(with_new_seed(&draft, &open, u64::MAX), drawn);
        for other in [
            schema(
                "optional",
                json!({"name": "seed", "type": "integer", "default": 0}),
            ),
            schema("optional", json!({"name": "seed", "type": "string"})),
            schema("optional", json!({"name": "noise_seed", "type": "integer"})),
            schema("required", json!({"name": "seed", "type": "integer"})),
        ] {
            assert_eq!(
                with_drawn_seed(&Draft::default(), &other, 1),
                Draft::default()
            );
        }
        let null = schema(
            "optional",
            json!({"name": "seed", "type": "integer", "default": null}),
        );
        assert_ne!(
            with_drawn_seed(&Draft::default(), &null, 1),
            Draft::default()
        );
    }

    #[test]
    fn a_fixed_seed_is_recognized_and_released() {
        let open = schema("optional", json!({"name": "seed", "type": "integer"}));
        let mut draft = Draft::default();
        draft.set("prompt", Entry::Text("cat".into()));
        assert_eq!(fixed_seed(&draft, &open), None);
        assert!(!release(&mut draft, &open));
        draft.set("seed", Entry::Text(" 18446744073709551615 ".into()));
        assert_eq!(
            fixed_seed(&draft, &open).as_deref(),
            Some("18446744073709551615")
        );
        assert!(release(&mut draft, &open));
        assert_eq!(draft.get("seed"), None);
        assert!(draft.get("prompt").is_some());
        // A seed with a default is never drawn.
        let with_default = json!({"name": "seed", "type": "integer", "default": 0});
        let with_default = schema("optional", with_default);
        draft.set("seed", Entry::Value(json!(7)));
        assert_eq!(fixed_seed(&draft, &with_default), None);
        assert!(!release(&mut draft, &with_default));
        assert!(draft.get("seed").is_some());
    }

    #[test]
    fn the_seed_of_all_items_is_named() {
        assert_eq!(shared_message(" 7 "), "Seed 7 for all items.");
        assert_eq!(shared_message(" "), "");
        let held = "Seed 7 for all items, so that only the axes differ.";
        assert_eq!(held_message("7 "), held);
    }

    proptest! {
        #[test]
        fn a_seed_is_valid_by_the_same_schema(a: i64, b: u64, c: i64, random: u64) {
            let bounds = [
                json!({"minimum": a, "maximum": b}),
                json!({"minimum": a.min(c), "maximum": a.max(c)}),
                json!({"minimum": a}), json!({"maximum": c}), json!({"maximum": b}),
                json!({"minimum": 0.5, "maximum": 7.5}),
            ];
            for bounds in bounds {
                if bounds["minimum"].as_i64().unwrap_or(0) > 0 && bounds["maximum"] == json!(b) && (a as i128) > b as i128 {
                    continue;
                }
                let parameter = parameter(bounds);
                let value = Entry::Value(Value::Number(seed(&parameter, random)));
                prop_assert!(check(&parameter, true, Some(&value)).is_ok(), "{:?} {:?}", parameter, value);
            }
        }
    }
}
