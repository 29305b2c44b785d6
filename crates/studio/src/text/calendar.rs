//! Days and times in the user's time zone. The platform converts times, because only it has the data of time zones.

/// A day of the Gregorian calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day {
    pub year: i64,
    /// The month, 1 for January to 12.
    pub month: i64,
    /// The day of the month, 1 to 31.
    pub day: i64,
}

/// A local date and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Local {
    pub day: Day,
    /// 0 to 23.
    pub hour: u32,
    /// 0 to 59.
    pub minute: u32,
}

/// The kind of name for a day. The platform provides the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DayName {
    Today,
    Yesterday,
    /// The weekday, which is unambiguous within the last week.
    Weekday,
    Date,
}

impl Day {
    /// Parses a date such as `2026-03-12`; `None` if it doesn't exist.
    pub fn read(text: &str) -> Option<Self> {
        let mut parts = text
            .trim()
            .splitn(3, '-')
            .map(|part| part.parse::<i64>().ok());
        let day = Self {
            year: parts.next()??,
            month: parts.next()??,
            day: parts.next()??,
        };
        let is_sane =
            (1970..10_000).contains(&day.year) && (1..=12).contains(&day.month) && day.day <= 31;
        (is_sane && Self::of_number(day.number()) == day).then_some(day)
    }

    /// Formats the day for file names, in the format of [`Day::read`].
    pub fn iso(self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }

    /// Returns the next day.
    pub fn next(self) -> Self {
        Self::of_number(self.number() + 1)
    }

    /// Returns the kind of name of the day, relative to today.
    pub fn named(self, today: Self) -> DayName {
        match today.number() - self.number() {
            0 => DayName::Today,
            1 => DayName::Yesterday,
            2..=6 => DayName::Weekday,
            _ => DayName::Date,
        }
    }

    /// Returns the day with this number of days since 1970-01-01. In the calculation, years start in March, so that the
    /// leap day is the last day of a year (H. Hinnant, "chrono-compatible low-level date algorithms").
    pub fn of_number(day: i64) -> Self {
        let day = day + 719_468;
        let era = day.div_euclid(146_097);
        let of_era = day.rem_euclid(146_097);
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        Self {
            year: year + era * 400 + i64::from(month <= 2),
            month,
            day,
        }
    }

    /// Returns the number of days since 1970-01-01.
    pub fn number(self) -> i64 {
        let year = self.year - i64::from(self.month <= 2);
        let era = year.div_euclid(400);
        let of_era = year.rem_euclid(400);
        let of_year = (153 * ((self.month + 9) % 12) + 2) / 5 + self.day - 1;
        era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
    }
}

/// Returns a message if the first day of a date filter is after its last day.
pub fn range_problem(from: Option<Day>, to: Option<Day>) -> Option<&'static str> {
    let is_backwards = from.zip(to).is_some_and(|(from, to)| from > to);
    is_backwards.then_some("From is after To: no dates match.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn day(text: &str) -> Day {
        Day::read(text).unwrap()
    }

    #[test]
    fn days_are_named_relative_to_today() {
        let today = day("2026-03-12");
        for (then, name) in [
            ("2026-03-12", DayName::Today),
            ("2026-03-11", DayName::Yesterday),
            ("2026-03-10", DayName::Weekday),
            ("2026-03-06", DayName::Weekday),
            ("2026-03-05", DayName::Date),
            ("2025-12-31", DayName::Date),
            // A day in the future, after the clock was wrong.
            ("2026-03-13", DayName::Date),
        ] {
            assert_eq!(day(then).named(today), name);
        }
        assert_eq!(
            day("2026-02-28").named(day("2026-03-01")),
            DayName::Yesterday
        );
    }

    #[test]
    fn only_existing_days_are_parsed() {
        assert_eq!(Day::read("2024-02-29").unwrap().next(), day("2024-03-01"));
        assert_eq!(day("2026-12-31").next(), day("2027-01-01"));
        for text in [
            "2026-02-30",
            "2026-13-01",
            "2026-00-10",
            "today",
            "",
            "1969-12-31",
        ] {
            assert_eq!(Day::read(text), None, "{text}");
        }
    }

    /// The user must know why the list is empty.
    #[test]
    fn a_first_day_after_the_last_is_reported() {
        let day = |text| Day::read(text);
        let is_reported = |from, to| range_problem(from, to).is_some();
        assert!(is_reported(day("2026-11-02"), day("2026-11-01")));
        assert!(!is_reported(day("2026-11-01"), day("2026-11-01")));
        assert!(!is_reported(day("2026-11-02"), None));
        assert!(!is_reported(None, day("2026-11-01")));
    }

    proptest! {
        #[test]
        fn days_survive_a_round_trip(number in 0..2_900_000i64) {
            let day = Day::of_number(number);
            prop_assert_eq!(day.number(), number);
        }
    }
}
