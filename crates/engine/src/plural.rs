//! A number of things, for a person.

/// `1 item`, `2 items`; of words whose plural ends in `s`.
pub fn counted(count: usize, word: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {word}{ending}")
}

/// Of a verb, the form that goes with this number of things.
pub fn agreeing(count: usize, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

/// `prompt, mist and seed`.
pub fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_none_is_not() {
        let counts = [0, 1, 2].map(|count| counted(count, "call"));
        assert_eq!(counts, ["0 calls", "1 call", "2 calls"]);
        let verbs = [0, 1, 2].map(|count| agreeing(count, "is", "are"));
        assert_eq!(verbs, ["are", "is", "are"]);
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
