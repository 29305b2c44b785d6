//! Seeds: which parameter is one, and new values for it. A result whose seed is known can be made again,
//! and results of one seed can be compared.

use atelier_contract::{Draft, Entry, Input, Parameter, Schema};
use atelier_engine::Task;
use serde_json::{Number, Value};

/// The span of seeds if the schema gives no upper bound: services commonly keep seeds in 32 bits, and refuse or wrap
/// larger ones.
const USUAL_SPAN: i128 = u32::MAX as i128;

/// Beyond every u64 and i64, with room to reckon.
const FAR: i128 = 1 << 100;

/// The name of the parameter that is a seed.
pub const NAME: &str = "seed";

/// The parameter that tells apart the results which one input may give: an optional integer called
/// `seed`. Others that sound like it may mean anything, and one that is required is asked for.
pub fn parameter(schema: &Schema) -> Option<&Parameter> {
    let (parameter, required) = schema.parameter(NAME)?;
    (parameter.is_seed() && !required).then_some(parameter)
}

/// Gives the seed's entry, if a person has put anything there.
pub fn entry<'a>(draft: &'a Draft, schema: &Schema) -> Option<&'a Entry> {
    let entry = draft.get(&parameter(schema)?.name)?;
    let is_empty = match entry {
        Entry::Text(text) => text.trim().is_empty(),
        Entry::Value(value) => value.is_null(),
    };
    (!is_empty).then_some(entry)
}

/// What stands in the seed's place, as text; empty where nothing was put there.
pub fn text(draft: &Draft) -> String {
    draft.get(NAME).map_or_else(String::new, Entry::to_text)
}

/// An input to be sent, and whether its seed is what a person chose.
#[derive(Debug, Clone, PartialEq)]
pub struct Seeded {
    pub input: Input,
    pub is_chosen: bool,
}

/// The seed that is drawn here where a person leaves it alone.
fn drawn(schema: &Schema) -> Option<&Parameter> {
    parameter(schema).filter(|seed| is_drawn(seed, false))
}

/// Whether another value of this parameter is drawn for each result, where a person leaves it alone. A seed with a
/// default stays untouched, as everything that has one.
pub fn is_drawn(parameter: &Parameter, required: bool) -> bool {
    let has_default = parameter.default.as_ref().is_some_and(|it| !it.is_null());
    parameter.name == NAME && parameter.is_seed() && !required && !has_default
}

/// The draft as it is sent: a seed that was left alone is drawn here, so that it is known.
pub fn settled(draft: &Draft, schema: &Schema, random: u64) -> Draft {
    match drawn(schema).filter(|_| entry(draft, schema).is_none()) {
        Some(_) => renewed(draft, schema, random),
        None => draft.clone(),
    }
}

/// The seed that stands in the draft and keeps it from being drawn, as text.
pub fn fixed(draft: &Draft, schema: &Schema) -> Option<String> {
    drawn(schema)?;
    entry(draft, schema).map(|entry| entry.to_text().trim().to_owned())
}

/// Names the seed that all items of a batch have: `Seed 7 for all items.`; empty without one.
pub fn shared_message(seed: &str) -> String {
    match seed.trim() {
        "" => String::new(),
        seed => format!("Seed {seed} for all items."),
    }
}

/// What a seed for every item of a sweep is for: `Seed 7 for all items, so that only the axes differ.`
pub fn held_message(seed: &str) -> String {
    match seed.trim() {
        "" => String::new(),
        seed => format!("Seed {seed} for all items, so that only the axes differ."),
    }
}

/// What tells a variation from the others, which have all else in common with it.
pub fn of_variation(task: &Task) -> Option<String> {
    let seed = task.input.values().get(NAME)?.as_number()?;
    let is_variation = task.varied.is_some();
    is_variation.then(|| format!("seed {seed}"))
}

/// Lets the seed be drawn again, whatever stands there; whether anything stood there.
pub fn release(draft: &mut Draft, schema: &Schema) -> bool {
    let is_fixed = fixed(draft, schema).is_some();
    if let Some(seed) = drawn(schema).filter(|_| is_fixed) {
        draft.reset(&seed.name);
    }
    is_fixed
}

/// The draft with another seed, whichever stood there.
pub fn renewed(draft: &Draft, schema: &Schema, random: u64) -> Draft {
    let mut renewed = draft.clone();
    if let Some(parameter) = parameter(schema) {
        let drawn = Value::Number(seed(parameter, random));
        renewed.set(parameter.name.clone(), Entry::Value(drawn));
    }
    renewed
}

/// A seed within the parameter's bounds, made from 64 random bits. Exact over the whole i64/u64
/// range.
///
/// Without a minimum it starts at 0, without a maximum it spans 2^32 values. Bounds that contain
/// no integer give the minimum, for validation to object to.
pub fn seed(parameter: &Parameter, random: u64) -> Number {
    let minimum = parameter.minimum.as_ref().map(|n| whole(n, f64::ceil));
    let maximum = parameter.maximum.as_ref().map(|n| whole(n, f64::floor));
    let low = minimum.unwrap_or(match maximum {
        Some(maximum) if maximum < 0 => maximum - USUAL_SPAN,
        _ => 0,
    });
    let low = low.max(i128::from(i64::MIN));
    let high = maximum.unwrap_or(USUAL_SPAN.max(low + USUAL_SPAN));
    let high = high.clamp(low, low.max(i128::from(u64::MAX)));
    let span = (high - low) as u128 + 1;
    // Scaling instead of a remainder: every value is as likely as another to within span / 2^64.
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

/// A bound as an integer; one written as a fraction is rounded inwards.
fn whole(number: &Number, inwards: fn(f64) -> f64) -> i128 {
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
    fn a_variation_is_told_from_the_others_by_its_seed() {
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
        assert_eq!(of_variation(&task), None);
        task.varied = Some(atelier_engine::TaskKey("0".into()));
        let said = of_variation(&task);
        assert_eq!(said.as_deref(), Some("seed 18446744073709551615"));
        task.input = schema.validate(&Draft::default(), false).unwrap();
        assert_eq!(of_variation(&task), None);
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
    fn the_whole_range_is_reached() {
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
    fn a_seed_is_drawn_where_nobody_and_nothing_has_chosen_one() {
        let open = schema("optional", json!({"name": "seed", "type": "integer"}));
        let mut draft = Draft::default();
        let drawn = settled(&draft, &open, u64::MAX);
        assert_eq!(entry(&drawn, &open), Some(&Entry::Value(u32::MAX.into())));
        for left in [Entry::Text(" ".into()), Entry::Value(Value::Null)] {
            draft.set("seed", left);
            assert_eq!(settled(&draft, &open, u64::MAX), drawn);
        }
        // What a person chose stays, even where it is wrong.
        draft.set("seed", Entry::Text("7x".into()));
        assert_eq!(settled(&draft, &open, 1), draft);
        assert_eq!(renewed(&draft, &open, u64::MAX), drawn);
        for other in [
            schema(
                "optional",
                json!({"name": "seed", "type": "integer", "default": 0}),
            ),
            schema("optional", json!({"name": "seed", "type": "string"})),
            schema("optional", json!({"name": "noise_seed", "type": "integer"})),
            schema("required", json!({"name": "seed", "type": "integer"})),
        ] {
            assert_eq!(settled(&Draft::default(), &other, 1), Draft::default());
        }
        let null = schema(
            "optional",
            json!({"name": "seed", "type": "integer", "default": null}),
        );
        assert_ne!(settled(&Draft::default(), &null, 1), Draft::default());
    }

    #[test]
    fn a_fixed_seed_is_known_and_let_go() {
        let open = schema("optional", json!({"name": "seed", "type": "integer"}));
        let mut draft = Draft::default();
        draft.set("prompt", Entry::Text("cat".into()));
        assert_eq!(fixed(&draft, &open), None);
        assert!(!release(&mut draft, &open));
        draft.set("seed", Entry::Text(" 18446744073709551615 ".into()));
        assert_eq!(
            fixed(&draft, &open).as_deref(),
            Some("18446744073709551615")
        );
        assert!(release(&mut draft, &open));
        assert_eq!(draft.get("seed"), None);
        assert!(draft.get("prompt").is_some());
        // Untouched, it would take its default and not be drawn.
        let with_default = json!({"name": "seed", "type": "integer", "default": 0});
        let with_default = schema("optional", with_default);
        draft.set("seed", Entry::Value(json!(7)));
        assert_eq!(fixed(&draft, &with_default), None);
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
