//! The address of the service.

use std::fmt;

/// The address of a service: empty for the origin that served the page, otherwise an http(s) URL, possibly with a path,
/// without a trailing slash (INTERFACE: `{base_url}`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ServiceAddress(String);

impl ServiceAddress {
    /// Parses an address as typed by the user.
    ///
    /// # Errors
    ///
    /// A message for the user if the scheme is not `http` or `https`, the host is missing, or the text contains
    /// characters that an address can't have.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim().trim_end_matches('/');
        if text.is_empty() {
            return Ok(Self::default());
        }
        let lower = text.to_ascii_lowercase();
        let rest = lower
            .strip_prefix("https://")
            .or_else(|| lower.strip_prefix("http://"))
            .ok_or("The service address must begin with https:// or http://.")?;
        let host = rest.split('/').next().unwrap_or_default();
        if host.contains('@') {
            return Err("The service address must not contain a user name or password.".into());
        }
        if text.contains(['?', '#']) {
            return Err("The service address must not contain ? or #.".into());
        }
        let is_host =
            |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']' | '_');
        if host.trim_matches(['.', ':']).is_empty()
            || !host.chars().all(is_host)
            || text.contains(char::is_whitespace)
        {
            return Err("The service address has no valid host name.".into());
        }
        // Users may paste the URL of an endpoint. The prefixes of the interface are not part of the address.
        let end = ["/v2", "/api"]
            .iter()
            .filter_map(|prefix| {
                lower
                    .find(&format!("{prefix}/"))
                    .or_else(|| lower.ends_with(prefix).then(|| text.len() - prefix.len()))
            })
            .filter(|end| *end >= text.len() - rest.len() + host.len())
            .min()
            .unwrap_or(text.len());
        let scheme_and_host = text.len() - rest.len() + host.len();
        let (origin, path) = text[..end].split_at(scheme_and_host.min(end));
        Ok(Self(format!("{}{path}", origin.to_ascii_lowercase())))
    }

    /// Whether the service is at the page's own origin.
    pub fn is_same_origin(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the address has this origin (`https://studio.example`), so that calls from a page there need no CORS.
    pub fn is_of_origin(&self, page_origin: &str) -> bool {
        let rest = self.0.strip_prefix(page_origin);
        self.is_same_origin() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the URL of a path of the interface.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }
}

impl fmt::Display for ServiceAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Option<String> {
        ServiceAddress::parse(text).ok().map(|address| address.0)
    }

    #[test]
    fn parses_addresses_as_typed() {
        for (typed, expected) in [
            ("", Some("")),
            (
                " https://Api.Example.com/ ",
                Some("https://api.example.com"),
            ),
            ("http://127.0.0.1:8787", Some("http://127.0.0.1:8787")),
            ("http://[::1]:8787", Some("http://[::1]:8787")),
            (
                "https://example.com/Gate/",
                Some("https://example.com/Gate"),
            ),
            (
                "https://example.com/v2/generate",
                Some("https://example.com"),
            ),
            ("https://example.com/api", Some("https://example.com")),
            (
                "https://example.com/apiary",
                Some("https://example.com/apiary"),
            ),
            ("https://api/v2", Some("https://api")),
            ("example.com", None),
            ("ftp://example.com", None),
            ("javascript:alert(1)", None),
            ("https://", None),
            ("https://me:pass@example.com", None),
            ("https://example.com?x=1", None),
            ("https://exa mple.com", None),
        ] {
            assert_eq!(parsed(typed).as_deref(), expected, "{typed}");
        }
    }

    #[test]
    fn is_of_origin_compares_whole_origins() {
        let page = "https://studio.example";
        for (address, is_own) in [
            ("", true),
            ("https://studio.example", true),
            ("https://studio.example/base", true),
            ("https://studio.example.org", false),
            ("https://studio.example:8443", false),
            ("http://studio.example", false),
            ("https://service.example", false),
        ] {
            let address = ServiceAddress::parse(address).unwrap();
            assert_eq!(address.is_of_origin(page), is_own, "{address}");
        }
    }

    proptest! {
        #[test]
        fn handles_any_text_and_parses_its_own_output(text in "(https?://)?.{0,30}") {
            if let Some(address) = parsed(&text) {
                prop_assert_eq!(parsed(&address), Some(address));
            }
        }
    }
}
