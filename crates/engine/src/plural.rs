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
}
