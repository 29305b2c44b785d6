//! Writes the report about a fault in Atelier itself, which a person may pass on.

/// How much of a message is told.
const MAX_CHARS: usize = 200;

/// What happened and where: `message` as far as it is Atelier's own words, and the last parts of
/// the source's path. What the fault was about (after `: `, or in quotes) is left out: it may be a
/// prompt, an address or a token.
pub fn text(message: &str, place: &str) -> String {
    let own = message.split(": ").next().unwrap_or_default();
    let own: String = without_quoted(own).chars().take(MAX_CHARS).collect();
    let parts: Vec<&str> = place.rsplit(['/', '\\']).take(3).collect();
    let place: Vec<&str> = parts.into_iter().rev().collect();
    format!("{}\nat {}", own.trim(), place.join("/"))
}

/// The text with `…` for all from its first double quote to its last.
fn without_quoted(text: &str) -> String {
    let Some((before, rest)) = text.split_once('"') else {
        return text.to_owned();
    };
    let after = rest.rsplit_once('"').map(|(_, after)| after);
    format!("{before}…{}", after.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tells_where_and_leaves_out_with_what() {
        let told = text(
            r#"called `Result::unwrap()` on an `Err` value: Error { token: "abc" }"#,
            "/home/me/.cargo/registry/src/index/tachys-0.2.1/src/renderer/dom.rs:12:9",
        );
        let expected = "called `Result::unwrap()` on an `Err` value\nat src/renderer/dom.rs:12:9";
        assert_eq!(told, expected);
        assert_eq!(
            text(r#"no entry "my prompt" here"#, r"src\app.rs:1:1"),
            "no entry … here\nat src/app.rs:1:1"
        );
        assert_eq!(text("", ""), "\nat ");
    }

    proptest! {
        /// What stands in quotes, or is the value of an error, is never told.
        #[test]
        fn no_secret_is_told(before in "[a-z ]{0,20}", secret in "[A-Z\"]{1,40}", after in "[a-z ]{0,20}") {
            let quoted = format!("{before}{secret:?}{after}");
            for message in [quoted, format!("{before}: {secret}{after}")] {
                let told = text(&message, "a/b.rs:1:1");
                let is_told = told.contains(|c: char| c.is_ascii_uppercase());
                prop_assert!(!is_told, "{}", told);
            }
        }
    }
}
