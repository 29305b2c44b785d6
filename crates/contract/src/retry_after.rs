//! The `Retry-After` header.

/// Parses a `Retry-After` header: seconds, or an HTTP date. Returns the wait in milliseconds; 0 for a date in the past,
/// `None` for other texts.
///
/// `now_ms`: the current time in milliseconds since the Unix epoch, from the service's `Date` header if it is readable,
/// so that a wrong local clock does not matter, and otherwise from the local clock. `date`: parses an HTTP date to
/// milliseconds since the Unix epoch. The page passes the browser's parser, which saves code.
pub fn parse(header: &str, now_ms: u64, date: impl Fn(&str) -> Option<u64>) -> Option<u64> {
    let header = header.trim();
    if let Ok(seconds) = header.parse::<u64>() {
        return Some(seconds.saturating_mul(1000));
    }
    // A wait that exceeds the range of an integer becomes the maximum.
    if !header.is_empty() && header.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(u64::MAX);
    }
    if let Some(seconds) = crate::parse_number(header).and_then(|number| number.as_f64()) {
        return (seconds >= 0.0).then(|| (seconds * 1000.0).ceil() as u64);
    }
    // Some date parsers accept any number as a year, but an HTTP date ends with its time zone.
    let names_zone = header.ends_with("GMT");
    names_zone
        .then(|| date(header))
        .flatten()
        .map(|at| at.saturating_sub(now_ms))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::UNIX_EPOCH;

    fn date(header: &str) -> Option<u64> {
        let date = httpdate::parse_http_date(header).ok()?;
        u64::try_from(date.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
    }

    #[test]
    fn parses_seconds_and_dates() {
        assert_eq!(parse("12", 0, date), Some(12_000));
        assert_eq!(parse("0.5", 0, date), Some(500));
        // A very long wait must not be treated as no wait.
        assert_eq!(parse("18446744073709551616", 0, date), Some(u64::MAX));
        let header = "Wed, 21 Oct 2015 07:28:00 GMT";
        let at = date(header).unwrap();
        assert_eq!(parse(header, at - 5_000, date), Some(5_000));
        assert_eq!(parse(header, at + 5_000, date), Some(0));
        for nonsense in ["", "soon", "-1", "NaN", "GMT"] {
            assert_eq!(parse(nonsense, 0, date), None);
        }
    }
}
