//! Formats and estimates durations. All values are in milliseconds.

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// The number of recent completed tasks of a model that an estimate uses.
const RECENT: usize = 20;

/// Formats a duration, rounded down: `0.4 s`, `12 s`, `1 min 05 s`, `2 h 10 min`, `3 d 4 h`.
pub fn text(ms: u64) -> String {
    match ms {
        0..SECOND => format!("0.{} s", ms / 100),
        SECOND..MINUTE => format!("{} s", ms / SECOND),
        MINUTE..HOUR => format!("{} min {:02} s", ms / MINUTE, ms % MINUTE / SECOND),
        HOUR..DAY => format!("{} h {:02} min", ms / HOUR, ms % HOUR / MINUTE),
        _ => format!("{} d {} h", ms / DAY, ms % DAY / HOUR),
    }
}

/// Formats a rough duration for estimates: `about 40 s`, `about 3 min`, `about 2 h`.
pub fn about(ms: u64) -> String {
    let rounded = |unit: u64| (ms + unit / 2) / unit;
    match ms {
        0..5_000 => "a few seconds".into(),
        5_000..57_500 => format!("about {} s", rounded(5 * SECOND) * 5),
        57_500..3_570_000 => format!("about {} min", rounded(MINUTE).max(1)),
        _ => format!("about {} h", rounded(HOUR).max(1)),
    }
}

/// Estimates how long a task of a model will take, in ms: the median of its most recent completed tasks. `times`: the
/// durations of completed tasks, newest first. `None` without any.
pub fn estimate(times: impl IntoIterator<Item = u64>) -> Option<u64> {
    let mut recent: Vec<u64> = times.into_iter().take(RECENT).collect();
    recent.sort_unstable();
    let middle = recent.len() / 2;
    let upper = *recent.get(middle)?;
    if recent.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = recent[middle - 1];
    Some(lower + (upper - lower) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn formats_exact_and_rough_durations() {
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
        assert_eq!(about(42_000), "about 40 s");
        assert_eq!(about(58_000), "about 1 min");
        assert_eq!(about(170_000), "about 3 min");
        assert_eq!(about(3_580_000), "about 1 h");
    }

    #[test]
    fn estimate_is_the_median_of_recent_times() {
        assert_eq!(estimate([]), None);
        assert_eq!(estimate([30_000]), Some(30_000));
        assert_eq!(estimate([10, 30]), Some(20));
        let times = std::iter::repeat_n(5, 20).chain(std::iter::repeat_n(9_999, 50));
        assert_eq!(estimate(times), Some(5));
    }

    proptest! {
        #[test]
        fn any_duration_has_a_text(ms: u64) {
            let texts = [text(ms), about(ms)];
            prop_assert!(texts.iter().all(|text| !text.is_empty()));
        }
    }
}
