//! Formats timestamps for files.

use crate::text::calendar::Day;

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Formats a time in ms since 1970-01-01 UTC: `2026-03-12T09:05:07.250Z`.
pub fn iso(then: u64) -> String {
    let Day { year, month, day } = Day::of_number((then / DAY) as i64);
    let of_day = then % DAY;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
        of_day / HOUR,
        of_day % HOUR / MINUTE,
        of_day % MINUTE / SECOND,
        of_day % SECOND
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_a_timestamp() {
        assert_eq!(iso(1_773_275_407_250), "2026-03-12T00:30:07.250Z");
    }
}
