/// The text between the type and the file name in a reference.
pub const STORED_MARK: &str = ";stored=";

/// Returns the file name in a reference (`data:image/png;stored=NAME,`), which replaces an output that the page
/// received as data and stored. References are never sent. `None` if the URL is not a reference.
pub fn stored_name(url: &str) -> Option<&str> {
    let (start, name) = url.strip_suffix(',')?.rsplit_once(STORED_MARK)?;
    let is_of_name = |c: char| c.is_ascii_hexdigit() || c == '-';
    let is_reference = start.starts_with("data:") && name.chars().all(is_of_name);
    is_reference.then_some(name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Entry, check};

    #[test]
    fn accepts_complete_references_only() {
        assert_eq!(stored_name("data:image/png;stored=1a-50,"), Some("1a-50"));
        for url in [
            "",
            "data:image/png;base64,AAAA",
            "data:image/png;stored=1a-50",
            "data:image/png;stored=../a,",
            "https://example.com/;stored=1a,",
        ] {
            assert_eq!(stored_name(url), None, "{url}");
        }
    }

    /// A model would get the reference in place of an image, and the generation would be billed.
    #[test]
    fn a_reference_cannot_be_sent() {
        let image = json!({"name": "image", "type": "string", "description": "URL of an image."});
        let parameter = serde_json::from_value(image).unwrap();
        let entry = |text: &str| Entry::Text(text.into());
        let refused = check(
            &parameter,
            false,
            Some(&entry("data:image/png;stored=1a-50,")),
        );
        assert!(refused.unwrap_err().message.contains("choose it again"));
        assert!(
            check(
                &parameter,
                false,
                Some(&entry("data:image/png;base64,AA=="))
            )
            .is_ok()
        );
    }
}
