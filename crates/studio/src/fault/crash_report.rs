//! Formats a report about a panic in Atelier that the user can send to its authors.

/// The maximum length of a message.
const MAX_CHARS: usize = 200;

/// Returns the report: the static part of `message`, and the end of the source path `place`. Values (texts after `: `
/// or in quotes) are left out, because they may contain a prompt, an address or a token.
pub fn text(message: &str, place: &str) -> String {
    let own = message.split(": ").next().unwrap_or_default();
    let own: String = without_quoted(own).chars().take(MAX_CHARS).collect();
    let parts: Vec<&str> = place.rsplit(['/', '\\']).take(3).collect();
    let place: Vec<&str> = parts.into_iter().rev().collect();
    format!("{}\nat {}", own.trim(), place.join("/"))
}

/// Replaces everything from the first double quote to the last with `…`.
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
    fn reports_the_place_without_values() {
        let report = text(
            r#"called `Result::unwrap()` on an `Err` value: Error { token: "abc" }"#,
            "/home/me/.cargo/registry/src/index/tachys-0.2.1/src/renderer/dom.rs:12:9",
        );
        let expected = "called `Result::unwrap()` on an `Err` value\nat src/renderer/dom.rs:12:9";
        assert_eq!(report, expected);
        assert_eq!(
            text(r#"no entry "my prompt" here"#, r"src\app.rs:1:1"),
            "no entry … here\nat src/app.rs:1:1"
        );
        assert_eq!(text("", ""), "\nat ");
    }

    proptest! {
        /// Quoted texts and values of errors are never reported.
        #[test]
        fn no_secret_is_reported(before in "[a-z ]{0,20}", secret in "[A-Z\"]{1,40}", after in "[a-z ]{0,20}") {
            let quoted = format!("{before}{secret:?}{after}");
            for message in [quoted, format!("{before}: {secret}{after}")] {
                let report = text(&message, "a/b.rs:1:1");
                let is_reported = report.contains(|c: char| c.is_ascii_uppercase());
                prop_assert!(!is_reported, "{}", report);
            }
        }
    }
}
