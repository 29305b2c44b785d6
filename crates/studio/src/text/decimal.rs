//! Decimal fractions with exact arithmetic.

use atelier_contract::DecimalText;

/// The exact number `units / 10^scale`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Decimal {
    units: i128,
    scale: u32,
}

impl Decimal {
    /// The maximum number of decimal places, and of digits of `units`. 10^30 fits in i128.
    const MAX_DIGITS: u32 = 30;

    pub const ONE: Self = Self { units: 1, scale: 0 };

    pub fn new(units: i128, scale: u32) -> Self {
        Self { units, scale }
    }

    /// Returns `10^exponent`, with the exponent limited to the supported digits.
    pub fn power_of_ten(exponent: i32) -> Self {
        let digits = exponent.unsigned_abs().min(Self::MAX_DIGITS);
        match exponent < 0 {
            true => Self::new(1, digits),
            false => Self::new(10i128.pow(digits), 0),
        }
    }

    /// Returns the number of digits after the point.
    pub fn scale(self) -> u32 {
        self.scale
    }

    /// Returns the exponent of the first digit: 0 for 7.5, -5 for 0.000075; `None` for 0.
    pub fn magnitude(self) -> Option<i32> {
        let digits = self.units.unsigned_abs().checked_ilog10()?;
        Some(digits as i32 - self.scale as i32)
    }

    /// Whether the number is an integer.
    pub fn is_whole(self) -> bool {
        self.units % 10i128.pow(self.scale) == 0
    }

    /// Parses a decimal number, with or without an exponent; `None` if it is invalid or has too many digits.
    pub fn parse(text: &str) -> Option<Self> {
        let DecimalText {
            is_negative,
            whole,
            fraction,
            exponent,
        } = DecimalText::split(text)?;
        if whole.len() + fraction.len() > Self::MAX_DIGITS as usize {
            return None;
        }
        let exponent = match exponent {
            Some(exponent) => exponent.parse::<i32>().ok()?,
            None => 0,
        };
        let units: i128 = format!("{whole}{fraction}").parse().ok()?;
        let units = if is_negative { -units } else { units };
        let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        match u32::try_from(scale) {
            Ok(scale) => (scale <= Self::MAX_DIGITS).then_some(Self { units, scale }),
            // The exponent is larger than the number of decimal places.
            Err(_) => Some(Self {
                units: Self { units, scale: 0 }.units(scale.unsigned_abs())?,
                scale: 0,
            }),
        }
    }

    /// Returns the value in units of `10^-scale`; `None` if it is too large.
    pub fn units(self, scale: u32) -> Option<i128> {
        let factor = 10i128.checked_pow(scale.checked_sub(self.scale)?)?;
        let units = self.units.checked_mul(factor)?;
        (units.unsigned_abs() < 10u128.pow(Self::MAX_DIGITS + 6)).then_some(units)
    }

    /// Formats the number without an exponent or trailing zeros.
    pub fn to_text(self) -> String {
        let sign = if self.units < 0 { "-" } else { "" };
        let digits = self.units.unsigned_abs().to_string();
        let scale = self.scale as usize;
        let digits = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        match fraction.trim_end_matches('0') {
            "" => format!("{sign}{whole}"),
            fraction => format!("{sign}{whole}.{fraction}"),
        }
    }
}
