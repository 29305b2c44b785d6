//! Computes the steps of a number field for arrow keys and sliders. Values stay within the bounds and on the grid of
//! the schema's `multipleOf`. Steps are as fine as the value. Calculations are exact.

use atelier_contract::{Kind, Parameter, read_typed};
use serde_json::{Number, Value};

use crate::text::decimal::Decimal;

/// Returns the ends of a slider, if both bounds are known and the slider can select all values with sufficient
/// precision.
pub fn slider(parameter: &Parameter) -> Option<(f64, f64)> {
    const MAX_STEPS: f64 = 512.0;
    let minimum = parameter.minimum.as_ref()?.as_f64()?;
    let maximum = parameter.maximum.as_ref()?.as_f64()?;
    let step: f64 = coarse_step(parameter).to_text().parse().ok()?;
    let default = parameter.default.as_ref().and_then(Value::as_f64);
    // A slider could not select a default that is smaller than a step.
    let is_lost = default.is_some_and(|default| default != 0.0 && default.abs() < step);
    let can_aim = match parameter.kind() {
        Kind::Integer => (maximum - minimum) / step <= MAX_STEPS,
        _ => !is_lost,
    };
    (maximum > minimum && can_aim).then_some((minimum, maximum))
}

/// Returns the number for this slider position, rounded to the grid and within the bounds.
pub fn slider_value(parameter: &Parameter, text: &str) -> Option<String> {
    let place = Decimal::parse(text.trim())?;
    let grid = Grid::new(parameter, place, coarse_step(parameter))?;
    let steps = (2 * grid.value + grid.step).div_euclid(2 * grid.step);
    Some(grid.text(grid.clamped(steps * grid.step)))
}

/// Returns the number one step up or down. From an empty field, the first step goes to the lower bound, or to 0. `None` if
/// the text is not a number.
pub fn stepped(parameter: &Parameter, text: &str, up: bool) -> Option<String> {
    if text.trim().is_empty() {
        let zero = Grid::new(parameter, Decimal::default(), Decimal::ONE)?;
        return Some(zero.text(zero.minimum.unwrap_or(zero.clamped(0))));
    }
    let is_whole = parameter.kind() == Kind::Integer;
    let number = read_typed(text, is_whole).ok()?;
    let value = Decimal::parse(&number.to_string())?;
    if is_whole && !value.is_whole() {
        return None;
    }
    let has_grid = multiple_of(parameter).is_some();
    let grid = Grid::new(parameter, value, fine_step(parameter, value))?;
    let (value, step) = (grid.value, grid.step);
    if grid.clamped(value) != value {
        return Some(grid.text(grid.clamped(value)));
    }
    let next = match (has_grid, up) {
        (false, true) => value + step,
        (false, false) => value - step,
        (true, true) => (value.div_euclid(step) + 1) * step,
        (true, false) => (value + step - 1).div_euclid(step) * step - step,
    };
    let next = match grid.is_within(next) {
        true => next,
        false if has_grid => value,
        false if is_whole => grid.clamped(next),
        // Going to the bound would lose digits of the value, so take a smaller step.
        false => match (grid.clamped(next) - value).checked_abs()?.checked_ilog10() {
            Some(digits) => value + (next - value).signum() * 10i128.pow(digits),
            None => value,
        },
    };
    Some(grid.text(next))
}

/// A value, a step and the bounds, in the same units.
struct Grid {
    value: i128,
    step: i128,
    minimum: Option<i128>,
    maximum: Option<i128>,
    scale: u32,
    has_grid: bool,
}

impl Grid {
    fn new(parameter: &Parameter, value: Decimal, step: Decimal) -> Option<Self> {
        let bound = |bound: &Option<Number>| Decimal::parse(&bound.as_ref()?.to_string());
        let (minimum, maximum) = (bound(&parameter.minimum), bound(&parameter.maximum));
        let all = [Some(value), Some(step), minimum, maximum];
        let scale = all.iter().flatten().map(|it| it.scale()).max()?;
        Some(Self {
            value: value.units(scale)?,
            step: step.units(scale).filter(|step| *step > 0)?,
            minimum: minimum.and_then(|it| it.units(scale)),
            maximum: maximum.and_then(|it| it.units(scale)),
            scale,
            has_grid: parameter.kind() == Kind::Integer || multiple_of(parameter).is_some(),
        })
    }

    fn is_within(&self, value: i128) -> bool {
        self.minimum.is_none_or(|minimum| value >= minimum)
            && self.maximum.is_none_or(|maximum| value <= maximum)
    }

    /// Returns the nearest value within the bounds, and on the grid if there is one.
    fn clamped(&self, value: i128) -> i128 {
        let on_grid = |bound: i128, up: i128| match self.has_grid {
            true => (bound + up * (self.step - 1)).div_euclid(self.step) * self.step,
            false => bound,
        };
        match (self.minimum, self.maximum) {
            (Some(minimum), _) if value < minimum => on_grid(minimum, 1),
            (_, Some(maximum)) if value > maximum => on_grid(maximum, 0),
            _ => value,
        }
    }

    fn text(&self, value: i128) -> String {
        Decimal::new(value, self.scale).to_text()
    }
}

/// Returns JSON Schema's `multipleOf`, which INTERFACE.md does not define.
fn multiple_of(parameter: &Parameter) -> Option<Decimal> {
    let multiple = parameter.extra.get("multipleOf")?.as_number()?;
    let multiple = Decimal::parse(&multiple.to_string())?;
    (multiple.magnitude().is_some() && multiple.units(multiple.scale())? > 0).then_some(multiple)
}

/// Returns the step regardless of the value: that of the schema, or 1 for integers, or a power of ten that divides the
/// range into about a hundred steps, or 0.1 without bounds.
fn coarse_step(parameter: &Parameter) -> Decimal {
    if let Some(multiple) = multiple_of(parameter) {
        return multiple;
    }
    if parameter.kind() == Kind::Integer {
        return Decimal::ONE;
    }
    Decimal::power_of_ten(exponent_of_range(parameter).unwrap_or(-1))
}

fn exponent_of_range(parameter: &Parameter) -> Option<i32> {
    let minimum = parameter.minimum.as_ref()?.as_f64()?;
    let maximum = parameter.maximum.as_ref()?.as_f64()?;
    let exponent = ((maximum - minimum) / 100.0).log10().round();
    (maximum > minimum).then_some(exponent.clamp(-12.0, 6.0) as i32)
}

/// Like [`coarse_step`], but not larger than one unit of the value's second digit.
fn fine_step(parameter: &Parameter, value: Decimal) -> Decimal {
    if multiple_of(parameter).is_some() || parameter.kind() == Kind::Integer {
        return coarse_step(parameter);
    }
    let second_digit = value.magnitude().map(|first| first - 1);
    match (exponent_of_range(parameter), second_digit) {
        (Some(range), Some(own)) if own + 1 >= range => Decimal::power_of_ten(range),
        (_, Some(own)) => Decimal::power_of_ten(own),
        (_, None) => coarse_step(parameter),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn parameter(value: Value) -> Parameter {
        serde_json::from_value(value).unwrap()
    }

    fn number(bounds: &Value) -> Parameter {
        let mut all = json!({"name": "n", "type": "number"});
        let fields = bounds.as_object().unwrap().clone();
        all.as_object_mut().unwrap().extend(fields);
        parameter(all)
    }

    #[test]
    fn steps_are_exact_and_stay_within_the_bounds() {
        let seed = parameter(json!({"name": "n", "type": "integer", "maximum": u64::MAX}));
        assert_eq!(
            stepped(&seed, "9007199254740993", true).unwrap(),
            "9007199254740994"
        );
        assert_eq!(
            stepped(&seed, "18446744073709551615", true).unwrap(),
            "18446744073709551615"
        );
        let unit = parameter(json!({"name": "n", "type": "float", "minimum": 0, "maximum": 1}));
        assert_eq!(stepped(&unit, "0.1", true).unwrap(), "0.11");
        assert_eq!(stepped(&unit, "0.99", true).unwrap(), "1");
        assert_eq!(stepped(&unit, "", true).unwrap(), "0");
        assert_eq!(stepped(&unit, "abc", true), None);
        let ten = parameter(json!({"name": "n", "type": "float", "minimum": 0, "maximum": 1000}));
        assert_eq!(stepped(&ten, "10", true).unwrap(), "20");
    }

    /// Guards against a key press that changes 0.000075 to 0, or 0.9997 to 1.
    #[test]
    fn a_step_is_as_fine_as_the_value() {
        let up = |parameter: &Parameter, text: &str| stepped(parameter, text, true).unwrap();
        let down = |parameter: &Parameter, text: &str| stepped(parameter, text, false).unwrap();
        let rate = number(&json!({"minimum": 1e-7, "maximum": 1}));
        assert_eq!(down(&rate, "7.5e-5"), "0.000074");
        assert_eq!(up(&rate, "0.000074"), "0.000075");
        assert_eq!(down(&rate, "1e-7"), "0.0000001");
        assert_eq!(up(&rate, "0.5"), "0.51");
        let threshold = number(&json!({"minimum": 0.9, "maximum": 1.0}));
        assert_eq!(up(&threshold, "0.9997"), "0.9998");
        assert_eq!(up(&threshold, "1"), "1");
        assert_eq!(down(&threshold, "0.9997"), "0.9987");
        assert_eq!(
            up(&threshold, "7"),
            "1",
            "a value out of bounds goes to the bound"
        );
        let theta = number(&json!({}));
        assert_eq!(up(&theta, "0.0174533"), "0.0184533");
        assert_eq!(up(&theta, "7,5"), "7.6");
        assert_eq!(stepped(&theta, "1,234", true), None);
    }

    #[test]
    fn steps_follow_the_grid_of_the_schema() {
        let eta = number(&json!({"minimum": 0, "maximum": 1, "multipleOf": 0.05}));
        let mut text = "0.35".to_owned();
        for expected in ["0.4", "0.45", "0.5"] {
            text = stepped(&eta, &text, true).unwrap();
            assert_eq!(text, expected);
        }
        assert_eq!(stepped(&eta, "0.37", false).unwrap(), "0.35");
        assert_eq!(stepped(&eta, "1", true).unwrap(), "1");
        let width = parameter(json!({
            "name": "width", "type": "integer", "minimum": 250, "maximum": 2047, "multipleOf": 8
        }));
        assert_eq!(stepped(&width, "1024", true).unwrap(), "1032");
        assert_eq!(stepped(&width, "2040", true).unwrap(), "2040");
        assert_eq!(stepped(&width, "5000", true).unwrap(), "2040");
        assert_eq!(stepped(&width, "9", false).unwrap(), "256");
        assert_eq!(slider_value(&width, "1027.4").unwrap(), "1024");
        assert_eq!(slider_value(&width, "250").unwrap(), "256");
        assert_eq!(slider_value(&eta, "0.3666").unwrap(), "0.35");
    }

    /// Guards against a slider that changes the value as soon as it is touched.
    #[test]
    fn a_slider_requires_a_default_that_can_be_selected() {
        let rate = number(&json!({"minimum": 1e-7, "maximum": 1, "default": 7.5e-5}));
        assert_eq!(slider(&rate), None);
        let unit = number(&json!({"minimum": 0, "maximum": 1, "default": 0.0}));
        assert_eq!(slider(&unit), Some((0.0, 1.0)));
        assert_eq!(slider_value(&unit, "0.123456").unwrap(), "0.12");
        assert_eq!(slider_value(&unit, "1e-7").unwrap(), "0");
    }

    proptest! {
        #[test]
        fn no_step_leaves_the_bounds(value in -10.0..10.0f64, minimum in -5.0..0.0f64, width in 1e-6..5.0f64, up: bool) {
            let bounded = number(&json!({"minimum": minimum, "maximum": minimum + width}));
            let next = stepped(&bounded, &value.to_string(), up).unwrap();
            let next: f64 = next.parse().unwrap();
            prop_assert!((minimum..=minimum + width).contains(&next), "{}", next);
        }

        #[test]
        fn any_text_is_handled(text in ".{0,12}|[-0-9.,eE]{0,12}", up: bool) {
            let _ = stepped(&number(&json!({"minimum": 0})), &text, up);
            let _ = slider_value(&number(&json!({"minimum": 0, "maximum": 1})), &text);
        }
    }
}
