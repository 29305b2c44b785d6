//! A seed for the dice button.

use atelier_contract::Parameter;
use serde_json::Number;

/// Where the schema gives no upper bound: services commonly keep seeds in 32 bits, and refuse or
/// wrap larger ones.
const USUAL_SPAN: i128 = u32::MAX as i128;

/// Beyond every u64 and i64, with room to reckon.
const FAR: i128 = 1 << 100;

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
    use atelier_contract::{Entry, check};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn parameter(bounds: Value) -> Parameter {
        let mut value = json!({"name": "seed", "type": "integer"});
        for (name, bound) in bounds.as_object().unwrap() {
            value[name] = bound.clone();
        }
        serde_json::from_value(value).unwrap()
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
