//! Times and sizes as people say them. All times are in milliseconds; points in time since
//! 1970-01-01 UTC.

use crate::calendar::Day;
use crate::sort;

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Completed tasks of a model that an estimate looks back on.
const RECENT: usize = 20;

/// How long something took or has been going on, rounded down: `0.4 s`, `12 s`, `1 min 05 s`,
/// `2 h 10 min`, `3 d 4 h`.
pub fn text(ms: u64) -> String {
    match ms {
        0..SECOND => format!("0.{} s", ms / 100),
        SECOND..MINUTE => format!("{} s", ms / SECOND),
        MINUTE..HOUR => format!("{} min {:02} s", ms / MINUTE, ms % MINUTE / SECOND),
        HOUR..DAY => format!("{} h {:02} min", ms / HOUR, ms % HOUR / MINUTE),
        _ => format!("{} d {} h", ms / DAY, ms % DAY / HOUR),
    }
}

/// How long something still takes, rounded up to whole seconds, so that it never says 0 before
/// the end: `12 s`.
pub fn remaining(ms: u64) -> String {
    text(ms.max(1).div_ceil(SECOND).saturating_mul(SECOND))
}

/// A rough time for estimates, without false precision: `about 40 s`, `about 3 min`, `about 2 h`.
pub fn about(ms: u64) -> String {
    let rounded = |unit: u64| (ms + unit / 2) / unit;
    match ms {
        0..5_000 => "a few seconds".into(),
        5_000..57_500 => format!("about {} s", rounded(5 * SECOND) * 5),
        57_500..3_570_000 => format!("about {} min", rounded(MINUTE).max(1)),
        _ => format!("about {} h", rounded(HOUR).max(1)),
    }
}

/// A size: `812 B`, `3.4 MB`, `120 MB`; 1 kB is 1000 bytes.
pub fn bytes(count: u64) -> String {
    let (unit, name) = match count {
        0..1_000 => return format!("{count} B"),
        // Just below a unit's end, rounding would give 1000.
        1_000..999_500 => (1_000, "kB"),
        999_500..999_500_000 => (1_000_000, "MB"),
        999_500_000..999_500_000_000 => (1_000_000_000, "GB"),
        _ => (1_000_000_000_000, "TB"),
    };
    let unit: u64 = unit;
    let tenths = count / (unit / 10) + u64::from(count % (unit / 10) >= unit / 20);
    if tenths < 100 {
        format!("{}.{} {name}", tenths / 10, tenths % 10)
    } else {
        format!(
            "{} {name}",
            count / unit + u64::from(count % unit >= unit / 2)
        )
    }
}

/// How long ago `then` was: `just now`, `5 min ago`, `3 h ago`, `2 d ago`. A point ahead of `now`
/// (clocks differ) is just now.
pub fn ago(then: u64, now: u64) -> String {
    match now.saturating_sub(then) {
        0..MINUTE => "just now".into(),
        ms @ MINUTE..HOUR => format!("{} min ago", ms / MINUTE),
        ms @ HOUR..DAY => format!("{} h ago", ms / HOUR),
        ms => format!("{} d ago", ms / DAY),
    }
}

/// `2026-03-12T09:05:07.250Z`, for files.
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

/// How long a task of a model will take, in ms: the median of its most recent completed tasks,
/// `times` being newest first. `None` without any.
pub fn estimate(times: impl IntoIterator<Item = u64>) -> Option<u64> {
    let mut recent: Vec<(u64, u64)> = times.into_iter().take(RECENT).zip(0..).collect();
    sort::pairs(&mut recent);
    let middle = recent.len() / 2;
    let upper = recent.get(middle)?.0;
    if recent.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = recent[middle - 1].0;
    Some(lower + (upper - lower) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations() {
        for (ms, expected) in [
            (0, "0.0 s"),
            (430, "0.4 s"),
            (12_999, "12 s"),
            (65_000, "1 min 05 s"),
            (7_800_000, "2 h 10 min"),
            (273_600_000, "3 d 4 h"),
        ] {
            assert_eq!(text(ms), expected);
        }
        assert_eq!(remaining(0), "1 s");
        assert_eq!(remaining(11_001), "12 s");
        assert_eq!(remaining(59_500), "1 min 00 s");
        assert_eq!(about(42_000), "about 40 s");
        assert_eq!(about(58_000), "about 1 min");
        assert_eq!(about(170_000), "about 3 min");
        assert_eq!(about(3_580_000), "about 1 h");
    }

    #[test]
    fn sizes() {
        for (count, expected) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.0 kB"),
            (3_449_000, "3.4 MB"),
            (9_960_000, "10 MB"),
            (120_400_000, "120 MB"),
            (999_499, "999 kB"),
            (999_500, "1.0 MB"),
            (2_500_000_000_000, "2.5 TB"),
        ] {
            assert_eq!(bytes(count), expected);
        }
    }

    #[test]
    fn times_of_files_and_of_a_while_ago() {
        let now = 1_773_275_407_250;
        assert_eq!(iso(now), "2026-03-12T00:30:07.250Z");
        assert_eq!(ago(now + 5, now), "just now");
        assert_eq!(ago(now - 5 * HOUR, now), "5 h ago");
    }

    #[test]
    fn an_estimate_is_the_median_of_the_recent() {
        assert_eq!(estimate([]), None);
        assert_eq!(estimate([30_000]), Some(30_000));
        assert_eq!(estimate([10, 30]), Some(20));
        let times = std::iter::repeat_n(5, 20).chain(std::iter::repeat_n(9_999, 50));
        assert_eq!(estimate(times), Some(5));
    }

    proptest! {
        #[test]
        fn everything_can_be_said(ms: u64, now: u64) {
            let said = [text(ms), remaining(ms), about(ms), bytes(ms), ago(ms, now), iso(ms)];
            prop_assert!(said.iter().all(|text| !text.is_empty()));
        }
    }
}
