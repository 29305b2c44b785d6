//! Decides where webhooks may be sent to (`--webhooks`).

use std::net::IpAddr;
use std::sync::Arc;

use thiserror::Error;
use ureq::http::Uri;

use crate::runner::addresses::{FetchPolicy, Origin};

/// The maximum length of a URL, in bytes.
pub const MAX_URL: usize = 2048;

/// An entry of `--webhooks`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Allowed {
    /// This scheme, host and port. A private address is allowed for `http://…`, an IP address, and `localhost`.
    Origin { origin: Origin, is_private: bool },
    /// https to all names below a domain, at this port. `.example.com`.
    Below { suffix: String, port: u16 },
}

/// Why a URL is not allowed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UrlError {
    #[error("webhook is longer than {MAX_URL} bytes.")]
    TooLong,
    #[error("webhook must be an absolute https URL.")]
    NotAUrl,
    #[error("webhook must not contain a user name or a password.")]
    User,
    #[error("This service does not send webhooks to {0}; its operator names the hosts.")]
    Host(String),
}

/// Parses an entry of `--webhooks`: `hooks.example.com`, `hooks.example.com:8443`, `*.example.com`, or `http://app:3000`.
///
/// # Errors
///
/// A message if the text has another form.
pub fn parse_allowed(text: &str) -> Result<Allowed, String> {
    let text = text.trim();
    let refused = || {
        format!(
            "{text:?} is not a host, such as hooks.example.com, *.example.com or http://app:3000"
        )
    };
    let (is_below, host) = match text.strip_prefix("*.") {
        Some(domain) => (true, domain),
        None => (false, text),
    };
    let url = match host.contains("://") {
        true if is_below => return Err(refused()),
        true => host.to_owned(),
        false => format!("https://{host}"),
    };
    let uri: Uri = url.parse().map_err(|_| refused())?;
    let origin = checked_origin(&uri).map_err(|_| refused())?;
    let ip = ip_of(origin.host());
    let is_plain = matches!(uri.path(), "" | "/") && uri.query().is_none();
    if !is_plain || origin.host().contains('*') || url.contains('#') {
        return Err(refused());
    }
    if is_below {
        // `*.com` would allow everything.
        let is_domain = ip.is_none() && origin.host().contains('.');
        return match is_domain {
            true => Ok(Allowed::Below {
                suffix: format!(".{}", origin.host()),
                port: origin.port(),
            }),
            false => Err(refused()),
        };
    }
    let is_private = origin.scheme() == "http" || ip.is_some() || origin.host() == "localhost";
    Ok(Allowed::Origin { origin, is_private })
}

/// The hosts that webhooks may be sent to.
#[derive(Debug, Clone)]
pub struct Hosts(Vec<Allowed>);

impl Hosts {
    pub fn new(allowed: Vec<Allowed>) -> Self {
        Self(allowed)
    }

    /// Checks the URL of a webhook. Returns it with the host whose deliveries are limited: its origin, or the entry for all
    /// names below a domain.
    ///
    /// # Errors
    ///
    /// It is not an http(s) URL, or its host is not allowed.
    pub fn check(&self, url: &str) -> Result<(Uri, String), UrlError> {
        if url.len() > MAX_URL {
            return Err(UrlError::TooLong);
        }
        if !url.is_ascii() {
            return Err(UrlError::NotAUrl);
        }
        let uri: Uri = url.parse().map_err(|_| UrlError::NotAUrl)?;
        let origin = checked_origin(&uri)?;
        let allowed = self.0.iter().find(|allowed| allowed.contains(&origin));
        let host = match allowed.ok_or_else(|| UrlError::Host(origin.to_string()))? {
            Allowed::Origin { origin, .. } => origin.to_string(),
            Allowed::Below { suffix, port } => format!("https://*{suffix}:{port}"),
        };
        // A path was added if there was none.
        match uri.to_string().len() > MAX_URL {
            true => Err(UrlError::TooLong),
            false => Ok((uri, host)),
        }
    }

    /// Returns the policy for connections: only public addresses, except to the hosts that may have private ones.
    pub fn policy(&self) -> Arc<FetchPolicy> {
        let private = self.0.iter().filter_map(|allowed| match allowed {
            Allowed::Origin { origin, is_private } => is_private.then(|| origin.clone()),
            Allowed::Below { .. } => None,
        });
        let private: Vec<Origin> = private.collect();
        Arc::new(FetchPolicy::new("", &private))
    }
}

impl Allowed {
    fn contains(&self, target: &Origin) -> bool {
        match self {
            Self::Origin { origin, .. } => origin == target,
            Self::Below { suffix, port } => {
                target.scheme() == "https"
                    && target.port() == *port
                    && target.host().len() > suffix.len()
                    && target.host().ends_with(suffix)
            }
        }
    }
}

/// Returns the origin of an absolute http(s) URL.
fn checked_origin(uri: &Uri) -> Result<Origin, UrlError> {
    let authority = uri.authority().ok_or(UrlError::NotAUrl)?;
    if authority.as_str().contains('@') {
        return Err(UrlError::User);
    }
    // A port above 65535 would be ignored.
    let is_valid = authority.port_u16().is_some() || authority.as_str() == authority.host();
    let origin = Origin::of(uri).filter(|origin| is_valid && !origin.host().is_empty());
    origin.ok_or(UrlError::NotAUrl)
}

fn ip_of(host: &str) -> Option<IpAddr> {
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    bare.unwrap_or(host).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(list: &str) -> Hosts {
        let allowed = list.split(',').map(|text| parse_allowed(text).unwrap());
        Hosts::new(allowed.collect())
    }

    fn error(list: &str, url: &str) -> Option<UrlError> {
        hosts(list).check(url).err()
    }

    #[test]
    fn only_urls_of_named_hosts_are_allowed() {
        let list = "hooks.example.com,a.example:8443,*.example.org,http://app:3000,10.0.0.7";
        for url in [
            "https://hooks.example.com/a?b=c",
            "HTTPS://HOOKS.example.com:443/",
            "https://a.example:8443",
            "https://x.example.org/",
            "https://x.y.example.org/",
            "http://app:3000/hook",
            "https://10.0.0.7/",
        ] {
            assert_eq!(error(list, url), None, "{url}");
        }
        for url in [
            "http://hooks.example.com/",
            "https://hooks.example.com:8443/",
            "https://hooks.example.com.evil.example/",
            "https://evilhooks.example.com/",
            "https://a.example/",
            "https://example.org/",
            "https://evilexample.org/",
            "https://.example.org/",
            "http://x.example.org/",
            "https://x.example.org:444/",
            "https://app:3000/",
            "http://app/",
            "http://10.0.0.7/",
            "https://0xa.0.0.7/",
        ] {
            let found = error(list, url);
            assert!(matches!(found, Some(UrlError::Host(_))), "{url}: {found:?}");
        }
        for url in [
            "",
            "hooks.example.com",
            "/a",
            "ftp://hooks.example.com/",
            "file:///etc/passwd",
            "https://",
            "https://hooks.example.com:99999/",
            "https://hooks.example.com:/",
            "https://hooks.example.com/ a",
            "https://hooks.example.com/ä",
            "javascript:alert(1)",
        ] {
            assert_eq!(error(list, url), Some(UrlError::NotAUrl), "{url}");
        }
        for url in [
            "https://me@hooks.example.com/",
            "https://hooks.example.com@evil.example/",
        ] {
            assert_eq!(error(list, url), Some(UrlError::User), "{url}");
        }
        let long = format!("https://hooks.example.com/{}", "a".repeat(MAX_URL));
        assert_eq!(error(list, &long), Some(UrlError::TooLong));
        // It gets a path, and would be too long when it is sent.
        let name = format!("https://{}example.org", "a.".repeat(MAX_URL));
        let (scheme, rest) = name.split_at(8);
        let longest = format!("{scheme}{}", &rest[rest.len() - (MAX_URL - 8)..]);
        assert_eq!(longest.len(), MAX_URL);
        assert_eq!(error(list, &longest), Some(UrlError::TooLong));
    }

    /// Guards against users who take all capacity with names below a domain.
    #[test]
    fn all_names_below_a_domain_are_limited_as_one_host() {
        let host = |url: &str| hosts("*.example.org,a.example").check(url).unwrap().1;
        assert_eq!(host("https://x.example.org/"), "https://*.example.org:443");
        assert_eq!(
            host("https://y.example.org/"),
            host("https://x.example.org/")
        );
        assert_eq!(host("https://a.example/b"), "https://a.example:443");
    }

    #[test]
    fn private_addresses_are_only_for_hosts_that_are_named_as_such() {
        let private = |list: &str, url: &str| {
            let ip = "10.0.0.7".parse().unwrap();
            hosts(list).policy().permits(&url.parse().unwrap(), ip)
        };
        assert!(private("http://app:3000", "http://app:3000/"));
        assert!(private("10.0.0.7:8443", "https://10.0.0.7:8443/"));
        assert!(private("localhost", "https://localhost/"));
        assert!(!private("app.example", "https://app.example/"));
        assert!(!private("https://app.example", "https://app.example/"));
        assert!(!private("*.example.com", "https://a.example.com/"));
    }

    #[test]
    fn entries_of_other_forms_are_refused() {
        for text in [
            "",
            "*",
            "*.com",
            "*.10.0.0.7",
            "a.*.example",
            "*.*.example.com",
            "https://*.example.com",
            "*.http://example.com",
            "ftp://a.example",
            "a.example/path",
            "a.example?query",
            "a.example#part",
            "me@a.example",
            "a.example:99999",
            "a b",
        ] {
            assert!(parse_allowed(text).is_err(), "{text}");
        }
        assert_eq!(
            parse_allowed("https://a.example"),
            parse_allowed("a.example")
        );
    }
}
