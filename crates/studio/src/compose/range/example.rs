use atelier_contract::{Kind, Parameter};
use serde_json::{Number, Value};

/// The largest span that is divided evenly. Larger ones, such as those of seeds, get a fixed example.
const LARGE: f64 = 100_000.0;

/// Returns an example of the values of a parameter, within its bounds.
pub fn example(parameter: &Parameter) -> String {
    match parameter.kind() {
        Kind::Integer | Kind::Number => of_numbers(parameter),
        Kind::MultiChoice => several(parameter.choices()),
        Kind::Text => "a lighthouse in a storm\na lighthouse at dawn".to_owned(),
        _ => "one, two, three".to_owned(),
    }
}

/// Returns two values: the first choice alone, and the first two choices.
fn several(choices: &[Value]) -> String {
    let first = |count: usize| Value::from(choices.iter().take(count).cloned().collect::<Vec<_>>());
    format!("{}\n{}", first(1), first(2))
}

fn of_numbers(parameter: &Parameter) -> String {
    let bound = |bound: &Option<Number>| bound.as_ref().and_then(Number::as_f64);
    let bounds = bound(&parameter.minimum).zip(bound(&parameter.maximum));
    let Some((least, most)) = bounds.filter(|(least, most)| most - least <= LARGE) else {
        return "1, 2, .., 10".to_owned();
    };
    match parameter.kind() {
        Kind::Integer => of_whole_numbers(least.ceil(), most.floor()),
        _ => {
            let middle = (least + most) / 2.0;
            [least, middle, most].map(rounded).join(", ")
        }
    }
}

fn of_whole_numbers(least: f64, most: f64) -> String {
    const STEPS: f64 = 5.0;
    let span = most - least;
    if span <= 2.0 {
        let all = (0..=span as i64).map(|n| rounded(least + n as f64));
        return all.collect::<Vec<_>>().join(", ");
    }
    let step = even_step(span / STEPS);
    let first = (least / step).ceil() * step;
    let last = (most / step).floor() * step;
    let [first, second, last] = [first, first + step, last].map(rounded);
    format!("{first}, {second}, .., {last}")
}

/// Returns the smallest number of the series 1, 2, 5, 10, 20, 50, … that is at least `least`.
fn even_step(least: f64) -> f64 {
    let mut ten = 1.0;
    loop {
        let found = [1.0, 2.0, 5.0].map(|digit| digit * ten);
        if let Some(step) = found.into_iter().find(|step| *step >= least) {
            return step;
        }
        ten *= 10.0;
    }
}

/// Rounds to four decimals, because the middle of two bounds may have more.
fn rounded(number: f64) -> String {
    const SCALE: f64 = 10_000.0;
    ((number * SCALE).round() / SCALE).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compose::range::values;
    use serde_json::{Value, json};

    /// Guards against values that the parameter rejects.
    #[test]
    fn the_values_are_within_the_bounds() {
        let cases: [(&str, Value, Value, &str); 12] = [
            ("number", json!(0), json!(1), "0, 0.5, 1"),
            ("number", json!(0.1), json!(0.3), "0.1, 0.2, 0.3"),
            ("number", json!(-1.0), json!(1.0), "-1, 0, 1"),
            ("integer", json!(2), json!(12), "2, 4, .., 12"),
            ("integer", json!(1), json!(50), "10, 20, .., 50"),
            ("integer", json!(1), json!(4), "1, 2, .., 4"),
            ("integer", json!(0), json!(2), "0, 1, 2"),
            ("integer", json!(5), json!(5), "5"),
            ("integer", json!(64), json!(2048), "500, 1000, .., 2000"),
            ("integer", json!(-10), json!(10), "-10, -5, .., 10"),
            ("integer", json!(0), json!(u32::MAX), "1, 2, .., 10"),
            ("integer", Value::Null, Value::Null, "1, 2, .., 10"),
        ];
        for (kind, minimum, maximum, expected) in cases {
            let parameter = Parameter::from_value(json!({
                "name": "it", "type": kind, "minimum": minimum, "maximum": maximum
            }));
            let parameter = parameter.unwrap();
            let example = example(&parameter);
            assert_eq!(example, expected);
            assert!(values(&parameter, false, &example).is_ok(), "{example}");
        }
    }
}
