use serde_json::Number;

use super::{DecimalText, parse};

/// Parses a number as typed by a user or exported from a spreadsheet. A comma may be the decimal separator: `3,5` is
/// 3.5.
///
/// # Errors
///
/// The required format, as the part of a sentence before "not “…”", if the text is not a number, is ambiguous (`1,234`;
/// for a whole number also `1.000`), was rounded by a spreadsheet (`4.29497E+09` for a whole number), or is too large
/// to be exact.
pub fn read_typed(text: &str, is_whole: bool) -> Result<Number, &'static str> {
    let text = text.trim();
    let has_comma = text.contains(',');
    let unclear = match is_whole {
        true => "must be a whole number without thousands separators",
        false => "must be a number without thousands separators and with a point for decimals",
    };
    let with_point = match has_comma {
        true if text.contains('.') || text.matches(',').count() > 1 => return Err(unclear),
        true => &*text.replace(',', "."),
        false => text,
    };
    if let Some(number) = DecimalText::split(with_point) {
        if is_whole && is_rounded(&number) {
            return Err("must be written with all its digits");
        }
        if (has_comma || is_whole) && may_be_thousands(&number) {
            return Err(unclear);
        }
    }
    parse(with_point).ok_or_else(|| match is_digits(text) {
        true => "must be a number that can be stored exactly",
        false => "must be a number",
    })
}

/// Whether the last digits were lost by rounding: Excel shows 4294967295 as `4.29497E+09`, and larger numbers as
/// `1E+12`.
fn is_rounded(number: &DecimalText) -> bool {
    let Some(exponent) = number.exponent else {
        return false;
    };
    let shift = exponent.parse::<usize>().unwrap_or_default();
    shift > number.fraction.len() && (exponent.starts_with('+') || !number.fraction.is_empty())
}

/// Whether the text is ambiguous: one to three digits, a separator and three digits. `1,234` and `1.000` are thousands
/// in some locales and decimals in others. `0,125` is not ambiguous.
fn may_be_thousands(number: &DecimalText) -> bool {
    let is_short = (1..=3).contains(&number.whole.len()) && !number.whole.starts_with('0');
    is_short && number.fraction.len() == 3 && number.exponent.is_none()
}

fn is_digits(text: &str) -> bool {
    let digits = text.trim_start_matches('-');
    text.len() > 1 && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, is_whole: bool) -> Option<String> {
        read_typed(text, is_whole).ok().map(|it| it.to_string())
    }

    /// A phone with German settings types 3.5 as 3,5. The text 1,234 is ambiguous and must not be read as 1.234.
    #[test]
    fn accepts_unambiguous_decimal_commas() {
        for (text, number) in [
            ("3,5", "3.5"),
            ("0,0001", "0.0001"),
            ("-0,125", "-0.125"),
            ("1234,567", "1234.567"),
            ("7,5E-05", "7.5e-05"),
            (" 1.000 ", "1.0"),
        ] {
            let expected = parse(number).map(|it| it.to_string());
            assert_eq!(read(text, false), expected, "{text}");
        }
        for text in [
            "1,234", "12,345", "1.234,5", "1,234.5", "1,2,3", ",", "٣", "1 000",
        ] {
            assert_eq!(read(text, false), None, "{text}");
        }
        assert_eq!(read("2,0", true).as_deref(), Some("2.0"));
        assert_eq!(read("1024.0", true).as_deref(), Some("1024.0"));
        for text in ["1.000", "1,024", "1.234,5"] {
            assert_eq!(read(text, true), None, "{text}");
        }
    }

    /// A rounded seed would differ from the one in the spreadsheet.
    #[test]
    fn refuses_rounded_whole_numbers() {
        for text in ["4.29497E+09", "1.84467E+19", "1E+12", "4,29497E+09"] {
            assert_eq!(read(text, true), None, "{text}");
        }
        for text in ["1e3", "1.5E+01", "4294967295"] {
            assert!(read(text, true).is_some(), "{text}");
        }
        assert!(read("1.5E+10", false).is_some());
    }

    /// For a whole number, the advice must not be about decimals.
    #[test]
    fn advice_matches_the_kind_of_number() {
        for text in ["1,024", "1.000", "1.234,5", "1,2,3"] {
            let advice = read_typed(text, true).unwrap_err();
            assert_eq!(
                advice, "must be a whole number without thousands separators",
                "{text}"
            );
        }
        for text in ["1,234", "1,234.5"] {
            let advice = read_typed(text, false).unwrap_err();
            assert!(advice.ends_with("with a point for decimals"), "{text}");
        }
    }
}
