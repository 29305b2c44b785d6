use std::time::{SystemTime, UNIX_EPOCH};

/// Reads a `Retry-After` header: seconds, or an HTTP date. Returns the wait in milliseconds.
///
/// `now_ms` is the present time since the Unix epoch: the service's own `Date` header where it can
/// be read, so that a wrong local clock does not matter, else the local clock. A date in the past
/// is a wait of 0; text that is neither is `None`.
pub fn parse(header: &str, now_ms: u64) -> Option<u64> {
    let header = header.trim();
    if let Ok(seconds) = header.parse::<u64>() {
        return Some(seconds.saturating_mul(1000));
    }
    if let Some(seconds) = crate::parse_number(header).and_then(|number| number.as_f64()) {
        return (seconds >= 0.0).then(|| (seconds * 1000.0).ceil() as u64);
    }
    Some(date(header)?.saturating_sub(now_ms))
}

/// An HTTP date as milliseconds since the Unix epoch.
pub fn date(header: &str) -> Option<u64> {
    let date: SystemTime = httpdate::parse_http_date(header.trim()).ok()?;
    u64::try_from(date.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_dates_and_nonsense() {
        assert_eq!(parse("12", 0), Some(12_000));
        assert_eq!(parse("0.5", 0), Some(500));
        let date_ms = date("Wed, 21 Oct 2015 07:28:00 GMT").unwrap();
        assert_eq!(
            parse("Wed, 21 Oct 2015 07:28:00 GMT", date_ms - 5_000),
            Some(5_000)
        );
        assert_eq!(
            parse("Wed, 21 Oct 2015 07:28:00 GMT", date_ms + 5_000),
            Some(0)
        );
        for nonsense in ["", "soon", "-1", "NaN"] {
            assert_eq!(parse(nonsense, 0), None);
        }
    }
}
