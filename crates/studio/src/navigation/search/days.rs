//! Recognizes days in a search: `yesterday`, `Monday`, `2026-11-28`, `2026-11`, `28 November`, `28 Nov 2025`, `Nov 28,
//! 2025`, and, without other words, `November` or `November 2026`.

use std::ops::RangeInclusive;

use crate::text::calendar::Day;
use crate::text::fold;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// The weekdays, starting with that of 1 January 1970.
const WEEKDAYS: [&str; 7] = [
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "monday",
    "tuesday",
    "wednesday",
];
/// The minimum length of an abbreviated month.
const LEAST_OF_MONTH: usize = 3;

/// The days named in a search, and the rest of the query.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedDays {
    pub days: RangeInclusive<Day>,
    pub rest: String,
}

impl NamedDays {
    /// Finds the first days named in a text; `None` if there are none. A weekday means the last week, and a day without
    /// a year means the most recent one.
    pub fn read(text: &str, today: Day) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        if let Some(days) = month_alone(&words, today) {
            let rest = String::new();
            return Some(Self { days, rest });
        }
        let found = (0..words.len()).find_map(|at| {
            let (count, days) = named(&words[at..], today)?;
            Some((at, count, days))
        });
        let (at, count, days) = found?;
        let rest = [&words[..at], &words[at + count..]].concat().join(" ");
        Some(Self { days, rest })
    }
}

/// Parses a query that consists of a full month name and an optional year. Without a year, it is the most recent such
/// month. `may` without a year is an ordinary word.
fn month_alone(words: &[&str], today: Day) -> Option<RangeInclusive<Day>> {
    let (name, year) = match words {
        [name] if !name.eq_ignore_ascii_case("may") => (name, None),
        [name, year] if year.len() == 4 => (name, Some(year.parse().ok()?)),
        _ => return None,
    };
    let name = fold::fold(name.trim_end_matches(','));
    let month = 1 + MONTHS.iter().position(|month| *month == name)? as i64;
    let year: i64 = year.unwrap_or(today.year - i64::from(month > today.month));
    whole_month(&format!("{year}-{month:02}"))
}

/// Parses a month such as `2026-11`.
fn whole_month(month: &str) -> Option<RangeInclusive<Day>> {
    let first = Day::read(&format!("{month}-01"))?;
    let next = Day::of_number(first.number() + 31);
    Some(first..=Day::of_number(next.number() - next.day))
}

/// Parses the days at the start of the words. Returns how many words were used, and the days.
fn named(words: &[&str], today: Day) -> Option<(usize, RangeInclusive<Day>)> {
    let word = fold::fold(words.first()?);
    let one = |day: Day| day..=day;
    let back = |days: i64| Day::of_number(today.number() - days);
    match word.as_str() {
        "today" => return Some((1, one(today))),
        "yesterday" => return Some((1, one(back(1)))),
        _ => {}
    }
    if let Some(weekday) = WEEKDAYS.iter().position(|name| *name == word) {
        let ago = (today.number() - weekday as i64).rem_euclid(7);
        return Some((1, one(back(if ago == 0 { 7 } else { ago }))));
    }
    if let Some(day) = Day::read(&word) {
        return Some((1, one(day)));
    }
    let is_month = word.len() == 7 && word.as_bytes()[4] == b'-';
    if let Some(days) = whole_month(&word).filter(|_| is_month) {
        return Some((1, days));
    }
    // The day is before or after its month.
    let second = fold::fold(words.get(1)?.trim_end_matches(','));
    let (day, name) = match word.parse::<i64>() {
        Ok(day) => (day, second),
        Err(_) => (second.parse().ok()?, word),
    };
    let is_name_of = |month: &&str| name.len() >= LEAST_OF_MONTH && month.starts_with(&name);
    let month = 1 + MONTHS.iter().position(is_name_of)? as i64;
    let of_year = |year: i64| Day::read(&Day { year, month, day }.iso());
    let year: Option<i64> = words.get(2).and_then(|year| year.parse().ok());
    if let Some(day) = year.and_then(of_year) {
        return Some((3, one(day)));
    }
    let mut latest = (0..=8).filter_map(|ago| of_year(today.year - ago));
    let day = latest.find(|day| day.number() <= today.number())?;
    Some((2, one(day)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        Day::read(text).unwrap()
    }

    #[test]
    fn common_notations_of_days_are_recognized() {
        // A Saturday.
        let today = day("2026-11-28");
        for (text, from, to, rest) in [
            ("yesterday", "2026-11-27", "2026-11-27", ""),
            ("lake Today mist", "2026-11-28", "2026-11-28", "lake mist"),
            ("friday", "2026-11-27", "2026-11-27", ""),
            ("saturday", "2026-11-21", "2026-11-21", ""),
            ("2026-11-03 lake", "2026-11-03", "2026-11-03", "lake"),
            ("2026-02", "2026-02-01", "2026-02-28", ""),
            ("2026-12", "2026-12-01", "2026-12-31", ""),
            ("12 March", "2026-03-12", "2026-03-12", ""),
            ("March 12, 2024 lake", "2024-03-12", "2024-03-12", "lake"),
            ("nov 3", "2026-11-03", "2026-11-03", ""),
            ("31 Dec", "2025-12-31", "2025-12-31", ""),
            ("29 February", "2024-02-29", "2024-02-29", ""),
            ("12 mar 2024 lake", "2024-03-12", "2024-03-12", "lake"),
            ("march", "2026-03-01", "2026-03-31", ""),
            ("November", "2026-11-01", "2026-11-30", ""),
            ("december", "2025-12-01", "2025-12-31", ""),
            ("february 2024", "2024-02-01", "2024-02-29", ""),
            ("May, 2026", "2026-05-01", "2026-05-31", ""),
        ] {
            let found = NamedDays::read(text, today).unwrap();
            assert_eq!(found.days, day(from)..=day(to), "{text}");
            assert_eq!(found.rest, rest, "{text}");
        }
    }

    #[test]
    fn other_words_and_numbers_are_not_days() {
        let today = day("2026-11-28");
        for text in [
            "",
            "lake",
            "1020",
            "12",
            "12 ma",
            "31 june",
            "2026-13-01",
            "3 marbles",
            "may",
            "mar",
            "march hare",
            "a march",
            "nov 20261",
        ] {
            assert_eq!(NamedDays::read(text, today), None, "{text}");
        }
    }
}
