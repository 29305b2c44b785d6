//! Formats counts and lists for users.

/// Formats a count with a word whose plural ends in `s`: `1 item`, `2 items`.
pub fn counted(count: usize, word: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {word}{ending}")
}

/// Formats a number with thousands separators: `11,242`.
pub fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Like [`counted`], for large numbers: `11,242 outputs`.
pub fn counted_many(count: usize, word: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {word}{ending}", grouped(count))
}

/// Returns the form of a verb for this number of things.
pub fn agreeing(count: usize, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

/// Formats a list of names: `prompt, mist and seed`.
pub fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// Formats a list of ascending numbers. Three or more consecutive numbers become a range: `2 to 5, 9 and 12`. Long
/// lists are shortened: `1, 3, 5 and 4 more`.
pub fn listed_numbers(numbers: &[usize]) -> String {
    const MOST: usize = 3;
    let runs = numbers.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    let mut parts: Vec<(String, usize)> = Vec::new();
    for run in runs {
        match run {
            [first, _, .., last] => parts.push((format!("{first} to {last}"), run.len())),
            few => parts.extend(few.iter().map(|number| (number.to_string(), 1))),
        }
    }
    let rest: usize = parts.iter().skip(MOST).map(|(_, count)| count).sum();
    let few = parts.len() <= MOST + 1;
    let mut names: Vec<String> = parts.into_iter().map(|(name, _)| name).collect();
    if !few {
        names.truncate(MOST);
        names.push(format!("{rest} more"));
    }
    listed(&names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_zero_is_plural() {
        let counts = [0, 1, 2].map(|count| counted(count, "call"));
        assert_eq!(counts, ["0 calls", "1 call", "2 calls"]);
        let verbs = [0, 1, 2].map(|count| agreeing(count, "is", "are"));
        assert_eq!(verbs, ["are", "is", "are"]);
    }

    #[test]
    fn thousands_are_grouped() {
        let counts = [0, 999, 1_000, 11_242, 1_000_001].map(grouped);
        assert_eq!(counts, ["0", "999", "1,000", "11,242", "1,000,001"]);
        let counts = [1, 11_242].map(|count| counted_many(count, "output"));
        assert_eq!(counts, ["1 output", "11,242 outputs"]);
    }

    /// Four consecutive rows are a range, and not `Rows 2, 3, 4 and 1 more`.
    #[test]
    fn consecutive_numbers_are_a_range() {
        for (numbers, expected) in [
            (&[][..], ""),
            (&[7], "7"),
            (&[2, 3], "2 and 3"),
            (&[2, 3, 4, 5], "2 to 5"),
            (&[2, 3, 4, 5, 9, 12], "2 to 5, 9 and 12"),
            (&[2, 3, 9, 12], "2, 3, 9 and 12"),
            (&[1, 3, 5, 7, 8, 9, 11], "1, 3, 5 and 4 more"),
            (&[usize::MAX], "18446744073709551615"),
        ] {
            assert_eq!(listed_numbers(numbers), expected);
        }
    }

    #[test]
    fn names_are_listed() {
        let names = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(listed(&[]), "");
        assert_eq!(listed(&names[..1]), "a");
        assert_eq!(listed(&names[..2]), "a and b");
        assert_eq!(listed(&names), "a, b and c");
    }
}
