//! Parses and compares numbers exactly: integers in the i64/u64 range are never converted to floats.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use crate::json;

mod typed;

pub use typed::read_typed;

/// Parses a number as users and tables write it. `None` for all other texts, including `NaN` and infinities, and for
/// integers outside i64/u64, which would be rounded.
pub fn parse(text: &str) -> Option<Number> {
    let text = text.trim();
    if let Ok(n) = text.parse::<u64>() {
        return Some(n.into());
    }
    if let Ok(n) = text.parse::<i64>() {
        return Some(n.into());
    }
    match json::read(&as_json(text)?)? {
        Value::Number(number) => Some(number),
        _ => None,
    }
}

/// The parts of a decimal number, including `+1.5`, `.5`, `5.` and `007.5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecimalText<'a> {
    pub is_negative: bool,
    /// The digits before the point; may be empty if the fraction is not.
    pub whole: &'a str,
    /// The digits after the point; may be empty.
    pub fraction: &'a str,
    /// The text after the `e`, not validated.
    pub exponent: Option<&'a str>,
}

impl<'a> DecimalText<'a> {
    /// Splits a decimal number; `None` for other texts. The exponent is not validated.
    pub fn split(text: &'a str) -> Option<Self> {
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let (is_negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (digits, None),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_empty = whole.is_empty() && fraction.is_empty();
        (!is_empty && is_digits(whole) && is_digits(fraction)).then_some(Self {
            is_negative,
            whole,
            fraction,
            exponent,
        })
    }
}

/// Converts a decimal fraction to JSON syntax. `None` for integers, because at this point they are too large to be
/// exact.
fn as_json(text: &str) -> Option<String> {
    let number = DecimalText::split(text).filter(|_| text.contains(['.', 'e', 'E']))?;
    let or_zero = |digits: &'_ str| if digits.is_empty() { "0" } else { digits }.to_owned();
    let sign = if number.is_negative { "-" } else { "" };
    let whole = or_zero(number.whole.trim_start_matches('0'));
    let fraction = or_zero(number.fraction);
    let exponent = number.exponent.map(|exponent| format!("e{exponent}"));
    let exponent = exponent.unwrap_or_default();
    Some(format!("{sign}{whole}.{fraction}{exponent}"))
}

/// Returns the exact value of a whole number; `None` for fractions.
pub fn as_integer(number: &Number) -> Option<i128> {
    if let Some(n) = number.as_u64() {
        return Some(n.into());
    }
    if let Some(n) = number.as_i64() {
        return Some(n.into());
    }
    let float = number.as_f64()?;
    // The limit is 2^53. Beyond it, a float does not represent a single integer.
    (float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0).then_some(float as i128)
}

/// Compares two numbers; exact if both are whole.
pub fn compare(a: &Number, b: &Number) -> Ordering {
    match (as_integer(a), as_integer(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => {
            let (a, b) = (a.as_f64().unwrap_or(0.0), b.as_f64().unwrap_or(0.0));
            a.partial_cmp(&b).unwrap_or(Ordering::Equal)
        }
    }
}

/// Whether two numbers are equal: `2` and `2.0` are, `2^53 + 1` and the nearest float are not.
pub fn equal(a: &Number, b: &Number) -> bool {
    match (a.as_i128(), b.as_i128()) {
        (Some(a), Some(b)) => a == b,
        (Some(whole), None) => is_whole(b, whole),
        (None, Some(whole)) => is_whole(a, whole),
        (None, None) => a.as_f64() == b.as_f64(),
    }
}

fn is_whole(float: &Number, whole: i128) -> bool {
    // Saturation in the cast is harmless, because such a large float is not equal to any integer in a `Number`.
    let float = float.as_f64().filter(|float| float.fract() == 0.0);
    float.is_some_and(|float| float as i128 == whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parses_numbers_only() {
        for text in [
            "",
            " ",
            "-",
            "1,5",
            "0x10",
            "NaN",
            "inf",
            "1e999",
            "12a",
            "18446744073709551616",
            "1_000",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
        for (text, number) in [
            (" 1.5 ", 1.5),
            ("+.5", 0.5),
            ("-.5", -0.5),
            ("5.", 5.0),
            ("007.25", 7.25),
            ("1e3", 1000.0),
            ("1.5E-2", 0.015),
        ] {
            assert_eq!(parse(text), Number::from_f64(number), "{text:?}");
        }
        for text in [".", "1.5.2", "1e", "--1.5", "e5", "1 .5"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
        assert_eq!(parse("+7"), Some(7.into()));
    }

    #[test]
    fn compares_numbers_by_value() {
        let number = |text| serde_json::from_str::<Number>(text).unwrap();
        for (a, b, same) in [
            ("2", "2.0", true),
            ("0", "-0.0", true),
            ("1e2", "100", true),
            ("2.5", "2.5", true),
            ("2", "2.5", false),
            ("2", "3", false),
            ("-1", "1", false),
            ("9007199254740993", "9007199254740992.0", false),
            ("18446744073709551615", "18446744073709551616.0", false),
            ("-9223372036854775808", "-9223372036854775808.0", true),
            ("1e300", "1e300", true),
            ("1e300", "18446744073709551615", false),
        ] {
            assert_eq!(equal(&number(a), &number(b)), same, "{a} {b}");
            assert_eq!(equal(&number(b), &number(a)), same, "{b} {a}");
        }
    }

    proptest! {
        #[test]
        fn every_u64_and_i64_round_trips(n: u64, m: i64) {
            prop_assert_eq!(parse(&n.to_string()).unwrap().as_u64(), Some(n));
            prop_assert_eq!(parse(&m.to_string()).unwrap().as_i64(), Some(m));
        }

        #[test]
        fn compares_adjacent_integers_exactly(n in 0..u64::MAX) {
            prop_assert_eq!(compare(&n.into(), &(n + 1).into()), Ordering::Less);
        }

        #[test]
        fn handles_any_text(text in ".*") {
            let _ = parse(&text);
        }
    }
}
